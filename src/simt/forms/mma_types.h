// Types and shapes of matrix instructions.
#pragma once

#include <optional>

#include "ptx/ptx.h"
#include "simt/runtime/mma_form.h"

namespace km::simt::arithmetic {

/// The element type of matrices for a PTX type; `none` if there is none.
MmaType mma_type(ptx::Type type);

/// The numbers in m16n8k16.
struct MmaShape {
  unsigned m = 0, n = 0, k = 0;
};
std::optional<MmaShape> mma_shape(const ptx::Instruction& instruction);

}  // namespace km::simt::arithmetic
