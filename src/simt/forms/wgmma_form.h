// Decodes the instruction wgmma to data.
#pragma once

#include <optional>

#include "ptx/ptx.h"
#include "simt/runtime/tensors/warpgroup.h"

namespace km::simt::arithmetic {

/// The operand indices of wgmma.mma_async; 0: the form does not have the operand.
struct WgmmaOperands {
  unsigned metadata = 0, selector = 0, scale_d = 0, scale_a = 0, scale_b = 0;
  unsigned transpose_a = 0, transpose_b = 0;
};
WgmmaOperands wgmma_operands(const ptx::Instruction& instruction);

/// Decodes wgmma.mma_async; none for a form that is not supported.
std::optional<WgmmaForm> wgmma_form(const ptx::Instruction& instruction);

/// True if WarpgroupMatrices can lower the instruction.
bool wgmma_is_supported(const ptx::Instruction& instruction);

}  // namespace km::simt::arithmetic
