// Functions of CUDA 12 that the other version has not, or with other parameters.
#pragma once

#include "dropin/cudart/frame/types.h"

namespace km::cudart {

extern KM_CUDART_LINKAGE {
#include "dropin/cudart/generated/prototypes_12.h"
}

}  // namespace km::cudart
