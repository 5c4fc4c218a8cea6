// The resources that a module's functions need: the figures that ptxas prints on request.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ptx/ir.h"

namespace km::toolchain {

struct FunctionUsage {
  std::string name;
  bool is_entry = false;
  uint32_t registers = 0;  // an estimate of a GPU's; values beyond them stay in memory of a CPU
  uint32_t barriers = 0;
  uint64_t stack_bytes = 0;      // variables in .local
  uint64_t shared_bytes = 0;     // static shared memory
  uint64_t parameter_bytes = 0;  // of a kernel
};

struct ModuleUsage {
  uint64_t global_bytes = 0, constant_bytes = 0;
  std::vector<FunctionUsage> functions;  // those that have bodies
};

ModuleUsage measure(const ptx::Module& module);

/// Names of functions and variables that the module uses but that neither it nor every device
/// defines.
struct Unresolved {
  std::vector<std::string> functions, variables;
};
Unresolved find_unresolved(const ptx::Module& module);

}  // namespace km::toolchain
