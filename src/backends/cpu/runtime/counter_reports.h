// The functions by which code for counters reports what warps do (simt::CounterRuntime).
#pragma once

#include "simt/runtime/check/counter_runtime.h"

namespace km::cpu {

void count_access(simt::BlockState* state, const uint64_t* addresses, uint32_t lanes,
                  const simt::CountedAccess* access);
void count_block(simt::BlockState* state, uint32_t lanes, uint32_t way,
                 const simt::CountedBlock* block);

}  // namespace km::cpu
