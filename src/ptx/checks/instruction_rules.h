// Rules of instructions that instructions.def cannot express: combinations of modifiers, modifiers
// newer than their form, ranges of constants.
#pragma once

#include <string>

#include "ptx/ir.h"

namespace km::ptx {

/// The message for the rule that the instruction breaks; empty if it breaks none.
std::string broken_rule(const Module& module, const Function& function,
                        const Instruction& instruction);

}  // namespace km::ptx
