// Processor-specific operations. The folder of each architecture implements them, and CMake builds
// that of the target (cmake/architecture.cmake).
#pragma once

#include <cstdint>
#include <string>

#if defined(__x86_64__)
#include "base/arch/x86_64/processor.h"
#elif defined(__aarch64__)
#include "base/arch/aarch64/processor.h"
#else
#error "Kernelmill has no folder for this architecture in src/base/arch"
#endif

namespace km::arch {

/// Hints to the processor that this thread spins. The name is not pause(), because an unqualified
/// call would then find pause(2), which waits for a signal.
void spin_hint();

/// Reads a cheap counter for rough measurements, which runs at 2 to 5 ticks per nanosecond.
uint64_t cycle_counter();

/// The ticks of cycle_counter() in a time, by the rate that the architecture gives for it.
constexpr uint64_t ticks_of_ns(uint64_t ns) { return ns * kTicksPerNs; }
constexpr float ns_of_ticks(uint64_t ticks) {
  return static_cast<float>(ticks) / static_cast<float>(kTicksPerNs);
}

/// Makes non-temporal stores visible to other threads, for which a release store is not enough.
void store_fence();

/// Ends vector code that was interrupted, whose dirty upper register halves would slow down the
/// code after it.
void end_vector_code();

/// The processor's own name, with its padding; empty if it reports none.
std::string processor_name();

}  // namespace km::arch
