// Twins for the default stream of each thread, of functions of CUDA 13.
#include "dropin/cudart/v13/types.h"

namespace km::cudart {

extern "C" {
#include "dropin/cudart/generated/per_thread_13.inc"
}

}  // namespace km::cudart
