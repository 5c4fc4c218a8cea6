#include "dropin/cuda/memory/place.h"

#include "base/assert.h"
#include "dropin/cuda/memory/bad_address.h"
#include "dropin/cuda/memory/virtual_memory.h"

namespace km::dropin {

bool Place::try_find(Context& context, CUdeviceptr address, uint64_t size_bytes) {
  MappedPlace mapped;
  const int device = context.device().ordinal;
  if (VirtualMemory::instance().find(address, device, &mapped)) [[unlikely]] {
    // The place stays a device's even if nothing is mapped there, so that no caller treats the
    // address as the host's.
    found_ = find_device_memory(*context.core(), address);
    place_ = {found_ ? &*found_ : nullptr, address};
    return size_bytes == 0 ||
           (found_ && VirtualMemory::instance().is_accessible(address, size_bytes, device));
  }
  found_ = find_device_memory(*context.core(), address);
  if (found_) {
    KM_ASSERT(found_->address() <= address, "memory is found by an address in it");
    place_ = {&*found_, address};
    return size_bytes <= found_->bytes_from(address - found_->address());
  }
  uint64_t begin = 0;
  Allocation allocation;
  if (!Driver::instance().find(address, &begin, &allocation)) return false;
  KM_ASSERT(begin <= address && address - begin < allocation.size_bytes,
            "an allocation is found by an address in it");
  kept_ = std::move(allocation.memory);
  place_ = {kept_.get(), address};
  return size_bytes <= allocation.size_bytes - (address - begin);
}

CUresult Place::find(Context& context, CUdeviceptr address, uint64_t size_bytes, const char* what) {
  if (try_find(context, address, size_bytes)) return CUDA_SUCCESS;
  note_bad_range(context, address, size_bytes, what);
  return fail(CUDA_ERROR_INVALID_VALUE,
              "%s: the %llu bytes at 0x%llx do not lie in one allocation that may be used", what,
              static_cast<unsigned long long>(size_bytes), address);
}

}  // namespace km::dropin
