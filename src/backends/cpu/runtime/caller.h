// The executor and the place of the generated code that calls a function of the runtime table.
#pragma once

#include <cstdint>

#include "backends/cpu/execution/executor.h"

// The return address of the current function, which lies in generated code only in the function
// that generated code calls; a helper would get its own.
#define KM_CALLER_PC (reinterpret_cast<uint64_t>(__builtin_return_address(0)) - 1)

namespace km::cpu {

/// The executor whose thread runs the generated code that the state is handed to.
inline Executor& executor_of(const simt::BlockState* state) {
  return *static_cast<Executor*>(state->host);
}

}  // namespace km::cpu
