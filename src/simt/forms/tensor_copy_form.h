// The instructions of tensor maps as data.
#pragma once

#include <optional>

#include "ptx/ptx.h"
#include "simt/runtime/tensors/tensor_copy.h"

namespace km::simt::arithmetic {

/// cp.async.bulk.tensor and cp.reduce.async.bulk.tensor; none: a form that compute capability 9.0
/// lacks, or a prefetch.
std::optional<TensorCopyForm> tensor_copy_form(const ptx::Instruction& instruction);

/// The part of the map that a tensormap.replace writes.
TensorMapField tensor_map_field(const ptx::Instruction& instruction);

/// True if TensorCopies lowers the instruction.
bool tensor_copy_is_supported(const ptx::Instruction& instruction);

}  // namespace km::simt::arithmetic
