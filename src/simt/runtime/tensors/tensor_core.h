// The products of tensor cores, tcgen05.mma. A product is complete when its instruction is, which
// is one of the orders that PTX allows.
#pragma once

#include "simt/runtime/mma.h"
#include "simt/runtime/tensors/tensor_core_form.h"

namespace km::simt {

/// A block whose memories a product uses.
struct TensorBlock {
  const uint8_t* shared = nullptr;  // start of shared memory
  TensorStorage* storage = nullptr;
};

/// The operands of one thread.
struct TensorCoreOperands {
  uint32_t d = 0;  // tensor address
  uint64_t a = 0, b = 0;
  uint32_t instruction = 0;
  uint32_t metadata = 0;  // tensor address
  uint32_t scale_a = 0, scale_b = 0;
  bool adds = true;
  uint64_t zero_columns = 0;
  uint32_t disabled[kTensorMaskWords] = {};

  TensorCoreOperands(const TensorCoreForm& form, const TensorCoreSlots& slots, uint32_t lane);
};

/// Multiplies; `blocks` are the block, or the even and the odd block of its pair. Memory faults are
/// left to the signal handler.
TensorProblem multiply_tensors(const TensorCoreForm& form, const MmaRule& rule,
                               const TensorCoreOperands& operands, const TensorBlock* blocks);

/// The rule of sums on compute capability 10.0 (docs/reference/accuracy.md).
MmaRule tensor_core_rule();

}  // namespace km::simt
