// Functions that only CUDA 12 has, or that have other parameters in CUDA 13.
#pragma once

#include "dropin/cudart/frame/types.h"

namespace km::cudart {

extern KM_CUDART_LINKAGE {
#include "dropin/cudart/generated/prototypes_12.h"
#if defined(KM_CUDART_OWN_NAMES) && !defined(KM_CUDART_EXPORTS)
#include "dropin/cudart/generated/calls_12.def"
#endif
}

}  // namespace km::cudart
