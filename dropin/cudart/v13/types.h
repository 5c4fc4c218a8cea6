// Functions that only CUDA 13 has, or that have other parameters in CUDA 12.
#pragma once

#include "dropin/cudart/frame/types.h"

namespace km::cudart {

extern KM_CUDART_LINKAGE {
#include "dropin/cudart/generated/prototypes_13.h"
#if defined(KM_CUDART_OWN_NAMES) && !defined(KM_CUDART_EXPORTS)
#include "dropin/cudart/generated/calls_13.def"
#endif
}

}  // namespace km::cudart
