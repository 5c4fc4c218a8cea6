// base/arch/processor.h for x86-64: functions of one instruction.
#pragma once

#include <cstdint>

namespace km::arch {

inline void spin_hint() { __builtin_ia32_pause(); }
/// The rate of the slowest counter: with others, spans of time end sooner, and estimates are high.
constexpr uint64_t kTicksPerNs = 2;

inline uint64_t cycle_counter() { return __builtin_ia32_rdtsc(); }
inline void store_fence() { __builtin_ia32_sfence(); }

inline void end_vector_code() {
  if (__builtin_cpu_supports("avx")) asm volatile("vzeroupper" ::: "memory");
}

}  // namespace km::arch
