// The instructions of AArch64 that LLVM IR cannot express.
#pragma once

#include "simt/machine/instruction_set.h"

namespace km::simt::aarch64 {

const InstructionSet& instruction_set();

}  // namespace km::simt::aarch64
