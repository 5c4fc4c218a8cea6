// Liveness across calls: the values that a function still needs after a call have to be saved if
// the call may be recursive.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ptx/ir.h"

namespace km::simt {

struct LiveValues {
  std::vector<ptx::RegisterId> registers;
  // Variables in .param space: arguments, parameters, results.
  std::vector<ptx::SymbolId> variables;
};

/// For each call instruction of the function, in order: the values that are read after it and not
/// written by it or in between. Nothing if the function has too many registers and labels.
std::optional<std::vector<LiveValues>> live_across_calls(const ptx::Function& function);

}  // namespace km::simt
