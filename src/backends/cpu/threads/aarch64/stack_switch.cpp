#include "backends/cpu/threads/stack_switch.h"

namespace km::cpu {

void* fiber_prepare(void* stack_top, void (*function)(void*), void* argument) {
  constexpr int kWords = 20;  // the frame of km_cpu_switch
  auto* top = reinterpret_cast<uint64_t*>(reinterpret_cast<uint64_t>(stack_top) & ~uint64_t{15});
  uint64_t* at = top - kWords;
  for (int i = 0; i < kWords; ++i) at[i] = 0;
  at[1] = reinterpret_cast<uint64_t>(&km_cpu_fiber_start);  // x30
  at[2] = reinterpret_cast<uint64_t>(function);             // x19
  at[3] = reinterpret_cast<uint64_t>(argument);             // x20
  return at;
}

}  // namespace km::cpu
