// The hand-written context switches of the architecture's stack_switch.S.
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
void* fiber_prepare(void* stack_top, void (*function)(void*), void* argument);

}  // namespace km::cpu
