// The instructions of x86-64 that LLVM IR cannot express.
#pragma once

#include "simt/machine/instruction_set.h"

namespace km::simt::x86_64 {

const InstructionSet& instruction_set();

}  // namespace km::simt::x86_64
