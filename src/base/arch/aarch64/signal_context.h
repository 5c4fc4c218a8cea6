// base/arch/signal_context.h for AArch64.
#pragma once

#include <ucontext.h>

#include <cstdint>

#include "base/no_sanitize.h"

namespace km::arch {

KM_NO_SANITIZE inline uint64_t program_counter(const ucontext_t& context) {
  return context.uc_mcontext.pc;
}

KM_NO_SANITIZE inline void set_program_counter(ucontext_t& context, uint64_t address) {
  context.uc_mcontext.pc = address;
}

KM_NO_SANITIZE inline void set_call(ucontext_t& context, uint64_t function, uint64_t first,
                                    uint64_t second, uint64_t stack) {
  context.uc_mcontext.pc = function;
  context.uc_mcontext.regs[0] = first;
  context.uc_mcontext.regs[1] = second;
  context.uc_mcontext.sp = stack;
}

}  // namespace km::arch
