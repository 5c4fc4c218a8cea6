// How many registers the fragments of wmma have.
#pragma once

#include <cstdint>

#include "ptx/ir.h"

namespace km::ptx {

/// Elements of the vector that operand `index` of a wmma must be; 0: it is no fragment.
uint32_t wmma_count(const Instruction& instruction, unsigned index);

}  // namespace km::ptx
