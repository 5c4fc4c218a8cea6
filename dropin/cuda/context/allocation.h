// Memory that programs allocate.
#pragma once

#include "dropin/cuda/context/context.h"

namespace km::dropin {

/// Notes memory as the program's, which has to free it.
void keep_allocation(const Context& context, Ref<km::Memory> memory, AllocationKind kind,
                     unsigned flags, uint64_t address);

/// Device memory that counts as memory of the context's device: unreserve() takes it back.
CUresult create_counted_memory(Context& context, uint64_t size_bytes, Ref<km::Memory>* out);

}  // namespace km::dropin
