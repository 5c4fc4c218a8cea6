// Decodes the instructions of tcgen05 to data.
#pragma once

#include "ptx/ptx.h"
#include "simt/runtime/tensors/tensor_core_form.h"

namespace km::simt::arithmetic {

/// Decodes tcgen05.ld and st; the offset of the second half is `half_offset`'s constant.
TensorMoveForm tensor_move_form(const ptx::Instruction& instruction);
/// Decodes tcgen05.alloc, dealloc and relinquish_alloc_permit.
TensorManagementForm tensor_management_form(const ptx::Instruction& instruction);
/// Decodes tcgen05.mma, cp and shift.
TensorCoreForm tensor_core_form(const ptx::Instruction& instruction);

/// The operand indices of tcgen05.mma; 0: the form does not have the operand.
struct TensorCoreOperandPlaces {
  unsigned instruction = 0, scale_a = 0, scale_b = 0, disabled = 0, adds = 0, scale_d = 0;
  unsigned zero_columns = 0;
};
TensorCoreOperandPlaces tensor_core_operands(const ptx::Instruction& instruction);

/// True if TensorCores can lower the instruction.
bool tensor_core_is_supported(const ptx::Instruction& instruction);

}  // namespace km::simt::arithmetic
