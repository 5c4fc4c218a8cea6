// The multiplicands of tcgen05.mma, from shared or tensor memory to rows of plain elements.
#pragma once

#include "simt/runtime/tensors/tensor_core.h"
#include "simt/runtime/tensors/tensor_core_scratch.h"
#include "simt/runtime/tensors/tensor_product_plan.h"

namespace km::simt {

/// The type of the elements after narrow ones have become e4m3.
MmaType widened_type(FactorElement element);
/// The bytes of `k` such elements.
uint32_t widened_bytes(uint32_t k, FactorElement element);

/// Brings the rows of A of one block into scratch.a, with their signs as the plan wants them.
TensorProblem stage_a(const TensorCoreForm& form, const TensorProductPlan& plan,
                      const TensorCoreOperands& operands, const TensorBlock& block,
                      TensorCoreScratch* scratch);
/// Brings the columns of B of all blocks into scratch.b.
TensorProblem stage_b(const TensorCoreForm& form, const TensorProductPlan& plan,
                      const TensorCoreOperands& operands, const TensorBlock* blocks,
                      TensorCoreScratch* scratch);

/// The row of B that stored element `index` of a row of a sparse A is multiplied with.
uint32_t sparse_column(const TensorProductPlan& plan, TensorStorage& storage, uint32_t address,
                       uint32_t row, uint32_t index);

}  // namespace km::simt
