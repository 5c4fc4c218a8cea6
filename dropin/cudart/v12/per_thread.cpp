// Twins for the default stream of each thread, of functions of CUDA 12.
#include "dropin/cudart/v12/types.h"

namespace km::cudart {

extern "C" {
#include "dropin/cudart/generated/per_thread_12.inc"
}

}  // namespace km::cudart
