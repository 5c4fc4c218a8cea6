// The functions of the runtime table for tensor memory and its products (tcgen05).
#pragma once

#include "simt/runtime/tensors/tensor_runtime.h"

namespace km::cpu {

void manage_tensors(simt::BlockState* state, const simt::TensorManagementForm* form, uint32_t lanes,
                    uint32_t columns, uint32_t address, uint64_t out);
void move_tensor(simt::BlockState* state, const simt::TensorMoveForm* form, uint32_t lanes,
                 uint32_t address, uint32_t* registers);
void run_tensor_core(simt::BlockState* state, const simt::TensorCoreForm* form, uint32_t lanes,
                     const simt::TensorCoreSlots* slots);

}  // namespace km::cpu
