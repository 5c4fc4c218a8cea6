// The number of registers in the fragments of wmma, and in the vectors of tcgen05.
#pragma once

#include <cstdint>

#include "ptx/ir.h"

namespace km::ptx {

/// The number of elements that vector operand `index` of a wmma must have; 0: it is not a fragment.
uint32_t wmma_count(const Instruction& instruction, unsigned index);

/// True if addresses in brackets are those of tensor memory, which have 32 bits.
bool has_tensor_addresses(const Instruction& instruction);

/// The number of elements of the vector that tcgen05.ld or tcgen05.st moves; 0: another
/// instruction.
uint32_t tensor_count(const Instruction& instruction);

}  // namespace km::ptx
