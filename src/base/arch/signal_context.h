// The registers of a thread that a signal handler interrupted.
#pragma once

#include <ucontext.h>

#include <cstdint>

#include "base/no_sanitize.h"

#if defined(__x86_64__)
#include "base/arch/x86_64/signal_context.h"
#endif

namespace km::arch {

/// The address of the instruction at which the thread was interrupted.
uint64_t program_counter(const ucontext_t& context);

/// Lets the thread go on at another instruction.
void set_program_counter(ucontext_t& context, uint64_t address);

/// Lets the thread go on at the beginning of a function with two arguments, on the stack at
/// `stack`.
void set_call(ucontext_t& context, uint64_t function, uint64_t first, uint64_t second,
              uint64_t stack);

}  // namespace km::arch
