// The saved registers of a thread that a signal interrupted.
#pragma once

#include <ucontext.h>

#include <cstdint>

#include "base/no_sanitize.h"

#if defined(__x86_64__)
#include "base/arch/x86_64/signal_context.h"
#elif defined(__aarch64__)
#include "base/arch/aarch64/signal_context.h"
#endif

namespace km::arch {

/// The address of the interrupted instruction.
uint64_t program_counter(const ucontext_t& context);

/// Makes the thread resume at `address`.
void set_program_counter(ucontext_t& context, uint64_t address);

/// Makes the thread resume at the start of `function` with two arguments and its stack pointer at
/// `stack`.
void set_call(ucontext_t& context, uint64_t function, uint64_t first, uint64_t second,
              uint64_t stack);

}  // namespace km::arch
