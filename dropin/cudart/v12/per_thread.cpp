// Variants of CUDA 12's functions for per-thread default streams.
#include "dropin/cudart/v12/types.h"

namespace km::cudart {

extern "C" {
#include "dropin/cudart/generated/per_thread_12.inc"
}

}  // namespace km::cudart
