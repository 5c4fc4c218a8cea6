// base/arch/processor.h for AArch64: functions of a few instructions.
#pragma once

#include <cstdint>

namespace km::arch {

// The barrier lasts as long as the hint of other architectures; `yield` does nothing on most
// processors.
inline void spin_hint() { asm volatile("isb" ::: "memory"); }

constexpr uint64_t kTicksPerNs = 3;

/// The counter of the system runs at its own frequency, from 24 MHz to 1 GHz, and is scaled.
inline uint64_t cycle_counter() {
  constexpr uint64_t kTicksPerSecond = kTicksPerNs * 1'000'000'000;
  uint64_t count, frequency;
  asm volatile("mrs %0, cntvct_el0" : "=r"(count));
  asm("mrs %0, cntfrq_el0" : "=r"(frequency));
  return count * (frequency == 0 ? 1 : kTicksPerSecond / frequency);
}

inline void store_fence() { asm volatile("dmb ishst" ::: "memory"); }
inline void end_vector_code() {}

}  // namespace km::arch
