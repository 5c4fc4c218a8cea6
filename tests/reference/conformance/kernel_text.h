// Kernels of many variants of instructions: their PTX, their operands, and what they should give.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "reference/variants.h"

namespace km::reference {

/// Two kernels, (in, out, count): "varying" has an element a thread, "uniform" one a block of two.
/// Columns of 8 bytes an element: one per source in `in`, result_columns() per variant in `out`.
std::string module_text(std::span<const Variant* const> variants);

size_t result_columns(const Variant& variant);

/// What the reference gives for element `i`, a value a column. The carry flag is bit 0 of `i`.
std::vector<uint64_t> expected(const Variant& variant,
                               const std::vector<std::vector<uint64_t>>& columns, uint64_t i,
                               bool carry);

/// The sources of a variant as types; variants of equal ones share their inputs.
std::vector<Type> signature_of(const Variant& variant);

}  // namespace km::reference
