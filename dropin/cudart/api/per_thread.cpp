// Variants for programs that are built with per-thread default streams (_ptsz). They differ only in
// the stream that a null handle selects.
#include "dropin/cudart/frame/types.h"

namespace km::cudart {

extern "C" {
#include "dropin/cudart/generated/per_thread.inc"
}

}  // namespace km::cudart
