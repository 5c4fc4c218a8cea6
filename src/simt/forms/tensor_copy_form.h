// Decodes the instructions of tensor maps to data.
#pragma once

#include <optional>

#include "ptx/ptx.h"
#include "simt/runtime/tensors/tensor_copy.h"

namespace km::simt::arithmetic {

/// Decodes cp.async.bulk.tensor and cp.reduce.async.bulk.tensor; none for prefetches and forms that
/// compute capability 9.0 lacks.
std::optional<TensorCopyForm> tensor_copy_form(const ptx::Instruction& instruction);

/// The field of the map that a tensormap.replace writes.
TensorMapField tensor_map_field(const ptx::Instruction& instruction);

/// True if TensorCopies lowers the instruction.
bool tensor_copy_is_supported(const ptx::Instruction& instruction);

}  // namespace km::simt::arithmetic
