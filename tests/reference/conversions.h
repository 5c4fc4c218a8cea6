// Conversions of 32-bit operands, many at a time and in 64-bit integers: what a sweep over all
// inputs is compared with, some ten times as fast as the plain reference. Each of them is compared
// with that one in tests/unit/reference.
#pragma once

#include <span>

#include "reference/evaluate.h"

namespace km::reference {

/// `cvt` with one operand of type f32, s32 or u32: a result for each source, as a register of
/// `register_bits` holds it. False, and nothing written, for any other instruction.
bool convert_all(const Instruction& in, unsigned register_bits, std::span<const uint64_t> sources,
                 std::span<uint64_t> results);

}  // namespace km::reference
