// The hand-written context switches of stack_switch.S.
#pragma once

#include <cstdint>

namespace km::cpu {
struct CodeGuard;
}

extern "C" {
uint64_t km_cpu_enter(km::cpu::CodeGuard* guard, void* stack_top, void (*function)(void*),
                      void* argument);
[[noreturn]] void km_cpu_leave(km::cpu::CodeGuard* guard, uint64_t code);
void km_cpu_switch(void** save, void* to);
void km_cpu_fiber_start();
}

namespace km::cpu {

/// Makes a stack whose first km_cpu_switch calls function(argument); gives its position. The
/// function must never return.
inline void* fiber_prepare(void* stack_top, void (*function)(void*), void* argument) {
  auto* top = reinterpret_cast<uint64_t*>(reinterpret_cast<uint64_t>(stack_top) & ~uint64_t{15});
  // r15 r14 r13 r12 rbx rbp, and the return address: behind it the stack is aligned for a call.
  uint64_t* at = top - 7;
  for (int i = 0; i < 7; ++i) at[i] = 0;
  at[3] = reinterpret_cast<uint64_t>(argument);  // r12
  at[4] = reinterpret_cast<uint64_t>(function);  // rbx
  at[6] = reinterpret_cast<uint64_t>(&km_cpu_fiber_start);
  return at;
}

}  // namespace km::cpu
