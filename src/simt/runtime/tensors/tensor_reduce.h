// Reductions of single elements of tensors.
#pragma once

#include "base/cuda/tensor_map.h"
#include "simt/runtime/tensors/tensor_copy.h"

namespace km::simt {

/// True if cp.reduce.async.bulk.tensor supports the operation for elements of this type.
bool reduces(TensorOperation operation, TensorElement element);

/// Atomically performs *to = operation(*to, value), where `value` has the element's bits.
void reduce_element(TensorOperation operation, TensorElement element, void* to, uint64_t value);

}  // namespace km::simt
