// The functions that CUDA 12's library exports.
#include "dropin/cudart/frame/exported_calls.h"
#include "dropin/cudart/v12/types.h"

namespace km::cudart {

extern "C" {
#include "dropin/cudart/generated/calls.def"
#include "dropin/cudart/generated/calls_12.def"
}

}  // namespace km::cudart
