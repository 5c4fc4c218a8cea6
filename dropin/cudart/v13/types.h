// Functions that only CUDA 13 has, or that have other parameters in CUDA 12.
#pragma once

#include "dropin/cudart/frame/types.h"

namespace km::cudart {

extern KM_CUDART_LINKAGE {
#include "dropin/cudart/generated/prototypes_13.h"
}

}  // namespace km::cudart
