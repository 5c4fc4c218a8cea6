// base/arch/signal_context.h for x86-64.
#pragma once

#include <ucontext.h>

#include <cstdint>

#include "base/no_sanitize.h"

namespace km::arch {

KM_NO_SANITIZE inline uint64_t program_counter(const ucontext_t& context) {
  return static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP]);
}

KM_NO_SANITIZE inline void set_program_counter(ucontext_t& context, uint64_t address) {
  context.uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(address);
}

KM_NO_SANITIZE inline void set_call(ucontext_t& context, uint64_t function, uint64_t first,
                                    uint64_t second, uint64_t stack) {
  greg_t* const registers = context.uc_mcontext.gregs;
  registers[REG_RIP] = static_cast<greg_t>(function);
  registers[REG_RDI] = static_cast<greg_t>(first);
  registers[REG_RSI] = static_cast<greg_t>(second);
  registers[REG_RSP] = static_cast<greg_t>(stack);
}

}  // namespace km::arch
