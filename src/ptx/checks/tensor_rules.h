// Rules of wgmma, tensor maps and multimem that instructions.def cannot express.
#pragma once

#include <string>

#include "ptx/ir.h"

namespace km::ptx {

/// The message for the first rule that the instruction breaks; empty if it breaks none. ptxas has
/// the same rules.
std::string broken_tensor_rule(const Function& function, const Instruction& instruction);

}  // namespace km::ptx
