// Products with a scale for each block of 16 or 32 elements of k (tcgen05.mma with .block_scale).
#pragma once

#include "simt/runtime/tensors/tensor_operands.h"

namespace km::simt {

/// Multiplies; B is staged. The sums of a block are exact, are scaled and added in f64, and rounded
/// toward zero once.
TensorProblem multiply_scaled(const TensorCoreForm& form, const TensorProductPlan& plan,
                              const TensorCoreOperands& operands, const TensorBlock* blocks,
                              TensorCoreScratch* scratch);

}  // namespace km::simt
