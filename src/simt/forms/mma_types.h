// Types and shapes of matrix instructions.
#pragma once

#include <optional>

#include "ptx/ptx.h"
#include "simt/runtime/mma_form.h"

namespace km::simt::arithmetic {

/// none: no type of matrix elements.
MmaType mma_type(ptx::Type type);

/// The numbers of m16n8k16.
struct MmaShape {
  unsigned m = 0, n = 0, k = 0;
};
std::optional<MmaShape> mma_shape(const ptx::Instruction& instruction);

}  // namespace km::simt::arithmetic
