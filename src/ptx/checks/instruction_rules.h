// Rules of instructions that the table does not tell: which modifiers go together, what came later
// than its form, ranges of constants.
#pragma once

#include <string>

#include "ptx/ir.h"

namespace km::ptx {

/// The rule that the instruction breaks, as a message; empty if there is none.
std::string broken_rule(const Module& module, const Function& function,
                        const Instruction& instruction);

}  // namespace km::ptx
