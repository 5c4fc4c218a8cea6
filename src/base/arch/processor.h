// Requests to the processor. A folder beside this file has it for each architecture; CMake
// builds the one of this machine (cmake/architecture.cmake).
#pragma once

#include <cstdint>
#include <string>

#if defined(__x86_64__)
#include "base/arch/x86_64/processor.h"
#else
#error "Kernelmill has no folder for this architecture in src/base/arch"
#endif

namespace km::arch {

/// Tells the processor that this thread spins. Its name differs from that of pause(2), which waits
/// for a signal and which an unqualified call would find.
void spin_hint();

/// Ticks of a counter that is cheap to read, for rough measures: 2 to 5 a nanosecond.
uint64_t cycle_counter();

/// Makes stores past the caches visible to other threads, which a release alone does not.
void store_fence();

/// Ends a piece of vector code that was left in the middle, so that other code is not slowed down.
void end_vector_code();

/// The processor's name as it gives it, with blanks; empty: it gives none.
std::string processor_name();

}  // namespace km::arch
