// The instruction wgmma as data.
#pragma once

#include <optional>

#include "ptx/ptx.h"
#include "simt/runtime/tensors/warpgroup.h"

namespace km::simt::arithmetic {

/// The operands of wgmma.mma_async by their indices; 0: the form has none of this kind.
struct WgmmaOperands {
  unsigned metadata = 0, selector = 0, scale_d = 0, scale_a = 0, scale_b = 0;
  unsigned transpose_a = 0, transpose_b = 0;
};
WgmmaOperands wgmma_operands(const ptx::Instruction& instruction);

/// wgmma.mma_async; none: a form that this engine does not run.
std::optional<WgmmaForm> wgmma_form(const ptx::Instruction& instruction);

/// True if WarpgroupMatrices lowers the instruction.
bool wgmma_is_supported(const ptx::Instruction& instruction);

}  // namespace km::simt::arithmetic
