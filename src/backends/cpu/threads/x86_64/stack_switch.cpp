#include "backends/cpu/threads/stack_switch.h"

namespace km::cpu {

void* fiber_prepare(void* stack_top, void (*function)(void*), void* argument) {
  auto* top = reinterpret_cast<uint64_t*>(reinterpret_cast<uint64_t>(stack_top) & ~uint64_t{15});
  // The values that km_cpu_switch pops: r15 r14 r13 r12 rbx rbp and the return address. Above them
  // the stack is aligned for a call.
  uint64_t* at = top - 7;
  for (int i = 0; i < 7; ++i) at[i] = 0;
  at[3] = reinterpret_cast<uint64_t>(argument);  // r12
  at[4] = reinterpret_cast<uint64_t>(function);  // rbx
  at[6] = reinterpret_cast<uint64_t>(&km_cpu_fiber_start);
  return at;
}

}  // namespace km::cpu
