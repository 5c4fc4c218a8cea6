// Runtime functions for instructions of compute capability 9.0: products of matrices in shared
// memory, and copies by tensor maps.
#pragma once

#include "simt/runtime/tensors/tensor_copy.h"
#include "simt/runtime/tensors/tensor_runtime.h"

namespace km::cpu {

/// Implements TensorRuntime::wgmma.
void wgmma(simt::BlockState* state, const simt::WgmmaForm* form, uint32_t* registers,
           uint64_t a_descriptor, uint64_t b_descriptor, uint32_t adds);

/// Implements TensorRuntime::copy_tensor.
void copy_tensor(simt::BlockState* state, const simt::TensorCopyForm* form, uint32_t lanes,
                 simt::TensorCopySlots* slots);

/// Implements TensorRuntime::replace_tensor_field.
void replace_tensor_field(simt::BlockState* state, uint32_t field, uint32_t ordinal, uint32_t lanes,
                          uint32_t line, const uint64_t* addresses, const uint64_t* values);

}  // namespace km::cpu
