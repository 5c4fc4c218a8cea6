// The context switches in the architecture's stack_switch.S, which documents them.
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

/// Prepares a stack on which the first km_cpu_switch() calls function(argument), and returns the
/// position to switch to. The function must not return.
void* fiber_prepare(void* stack_top, void (*function)(void*), void* argument);

}  // namespace km::cpu
