// Loads and stores of tensor memory by warps, copies from shared memory, shifts.
#pragma once

#include "simt/runtime/tensors/tensor_core_form.h"

namespace km::simt {

/// Moves the registers of a warp, which has place `quarter` in its warpgroup. `registers` has
/// kTensorRegisters registers of 32 lanes each.
TensorProblem move_tensor(const TensorMoveForm& form, TensorStorage& storage, uint32_t quarter,
                          uint32_t address, uint32_t* registers);

/// Copies a matrix of shared memory to tensor memory (tcgen05.cp).
TensorProblem copy_to_tensor(const TensorCoreForm& form, TensorStorage& storage,
                             const uint8_t* shared, uint32_t address, uint64_t descriptor);

/// Moves 32 bytes of each of 32 lanes but the last to the next lane (tcgen05.shift.down).
TensorProblem shift_tensor(TensorStorage& storage, uint32_t address);

/// Gives each of 16 narrow elements, which lie side by side in the first bytes of 16, a byte of its
/// own, as tensor memory has them: 6 bits in the low bits, 4 bits from bit 2 on.
void widen_piece(TensorCopyFormat format, const uint8_t* packed, uint8_t* out);

}  // namespace km::simt
