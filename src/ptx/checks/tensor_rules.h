// The rules of wgmma, tensor maps and multimem that the table of instructions does not tell.
#pragma once

#include <string>

#include "ptx/ir.h"

namespace km::ptx {

/// The first rule that the instruction breaks, as a message; empty: none. ptxas refuses the same.
std::string broken_tensor_rule(const Function& function, const Instruction& instruction);

}  // namespace km::ptx
