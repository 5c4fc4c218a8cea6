#include "dropin/cuda/context/allocation.h"

#include "base/assert.h"
#include "core/memory/slice.h"

namespace km::dropin {

void keep_allocation(const Context& context, Ref<km::Memory> memory, AllocationKind kind,
                     unsigned flags, uint64_t address) {
  KM_ASSERT(memory, "an allocation owns memory");
  Allocation made;
  made.size_bytes = memory->size_bytes();
  made.memory = std::move(memory);
  made.kind = kind;
  made.flags = flags;
  made.device = context.device().ordinal;
  made.context_id = context.id();
  Driver::instance().add(address, std::move(made));
}

CUresult create_counted_memory(Context& context, uint64_t size_bytes, Ref<km::Memory>* out) {
  CU_TRY(context.device().reserve(size_bytes));
  auto memory = km::Memory::create(*context.core(), nullptr, size_bytes, KM_SLICE_DEFAULT, 1,
                                   KM_ALLOCATION_DEVICE);
  if (!memory) {
    context.device().unreserve(size_bytes);
    return result_of(memory.error());
  }
  KM_ASSERT((*memory)->size_bytes() == size_bytes, "the device counts the bytes of the memory");
  *out = std::move(*memory);
  return CUDA_SUCCESS;
}

}  // namespace km::dropin
