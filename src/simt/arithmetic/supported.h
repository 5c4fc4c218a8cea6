// Which instructions simt/arithmetic lowers, without the types of the values that it makes.
#pragma once

#include "ptx/ir.h"

namespace km::simt {

/// True if Arithmetic::lower() can handle this instruction with its modifiers and types.
bool lowers_arithmetic(const ptx::Instruction& instruction);

}  // namespace km::simt
