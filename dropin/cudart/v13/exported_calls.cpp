// The functions that CUDA 13's library exports.
#include "dropin/cudart/frame/exported_calls.h"
#include "dropin/cudart/v13/types.h"

namespace km::cudart {

extern "C" {
#include "dropin/cudart/generated/calls.def"
#include "dropin/cudart/generated/calls_13.def"
}

}  // namespace km::cudart
