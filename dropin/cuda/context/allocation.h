// Bookkeeping of memory that programs allocate.
#pragma once

#include "dropin/cuda/context/context.h"

namespace km::dropin {

/// Records memory as the program's, which must free it.
void keep_allocation(const Context& context, Ref<km::Memory> memory, AllocationKind kind,
                     unsigned flags, uint64_t address);

/// Creates device memory that counts against its device's limit until unreserve().
CUresult create_counted_memory(Context& context, uint64_t size_bytes, Ref<km::Memory>* out);

}  // namespace km::dropin
