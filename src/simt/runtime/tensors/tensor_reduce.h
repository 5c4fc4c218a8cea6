// Reductions of single elements of tensors.
#pragma once

#include "base/cuda/tensor_map.h"
#include "simt/runtime/tensors/tensor_copy.h"

namespace km::simt {

/// True if cp.reduce.async.bulk.tensor has this operation for elements of this type.
bool reduces(TensorOperation operation, TensorElement element);

/// *to = operation(*to, value) as one atomic operation, where `value` has the element's bytes.
void reduce_element(TensorOperation operation, TensorElement element, void* to, uint64_t value);

}  // namespace km::simt
