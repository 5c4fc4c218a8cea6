// Twins of functions for programs built with one default stream for each thread (_ptsz), which only
// say what a null stream means.
#include "dropin/cudart/frame/types.h"

namespace km::cudart {

extern "C" {
#include "dropin/cudart/generated/per_thread.inc"
}

}  // namespace km::cudart
