// The number of registers in the fragments of wmma.
#pragma once

#include <cstdint>

#include "ptx/ir.h"

namespace km::ptx {

/// The number of elements that vector operand `index` of a wmma must have; 0: it is not a fragment.
uint32_t wmma_count(const Instruction& instruction, unsigned index);

}  // namespace km::ptx
