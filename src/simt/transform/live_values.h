// The values that a function still needs after a call: they are put aside if the call may come back
// to the function itself.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ptx/ir.h"

namespace km::simt {

struct LiveValues {
  std::vector<ptx::RegisterId> registers;
  std::vector<ptx::SymbolId> variables;  // in .param space: arguments, parameters, results
};

/// For each instruction of the function that is a call, in order: what is read after it and not
/// written by it or in between. Nothing: the function has too many registers and labels.
std::optional<std::vector<LiveValues>> live_across_calls(const ptx::Function& function);

}  // namespace km::simt
