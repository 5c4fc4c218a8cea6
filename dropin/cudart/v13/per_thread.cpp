// Variants of CUDA 13's functions for per-thread default streams.
#include "dropin/cudart/v13/types.h"

namespace km::cudart {

extern "C" {
#include "dropin/cudart/generated/per_thread_13.inc"
}

}  // namespace km::cudart
