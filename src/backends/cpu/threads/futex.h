// Futex waits and clocks.
#pragma once

#include <cstdint>

#include "base/arch/processor.h"
#include "base/thread/futex.h"

namespace km::cpu {

/// Reads a cheap counter for rough measurements, which runs at 2 to 5 ticks per nanosecond.
inline uint64_t now_ticks() { return arch::cycle_counter(); }
using arch::ns_of_ticks, arch::ticks_of_ns;

}  // namespace km::cpu
