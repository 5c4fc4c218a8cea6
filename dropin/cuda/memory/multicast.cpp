// Multicast objects. Only one device takes part, so an access of the object reaches just the memory
// that is bound, and mapping the object maps that memory.
#include "base/assert.h"
#include "dropin/cuda/memory/virtual_memory.h"

namespace km::dropin {

MemoryHandle::MemoryHandle(const CUmemAllocationProp& properties) : properties_(properties) {}

void MemoryHandle::make_multicast(uint64_t size_bytes) {
  KM_ASSERT(multicast_ == nullptr && backing_.size_bytes() == 0,
            "a multicast object has no memory of its own");
  multicast_ = std::make_unique<Multicast>(size_bytes);
}

CUresult Multicast::add_device(int device) {
  const std::lock_guard lock(mutex_);
  if (device_ >= 0) {
    return fail(CUDA_ERROR_INVALID_VALUE, "device %d takes part in the multicast object already",
                device_);
  }
  device_ = device;
  return CUDA_SUCCESS;
}

CUresult Multicast::bind(MemoryHandle& memory, uint64_t size_bytes) {
  const std::lock_guard lock(mutex_);
  if (device_ < 0) {
    return fail(CUDA_ERROR_INVALID_VALUE,
                "no device takes part in the multicast object: call cuMulticastAddDevice first");
  }
  if (memory.multicast() != nullptr || memory.properties().location.id != device_) {
    return fail(CUDA_ERROR_INVALID_VALUE, "the memory does not belong to device %d", device_);
  }
  if (bound_) return fail(CUDA_ERROR_INVALID_VALUE, "memory is bound already");
  if (size_bytes == 0 || size_bytes > size_bytes_ || size_bytes > memory.size_bytes()) {
    return fail(CUDA_ERROR_INVALID_VALUE,
                "%llu bytes are to be bound, of an object of %llu and memory of %llu bytes",
                static_cast<unsigned long long>(size_bytes),
                static_cast<unsigned long long>(size_bytes_),
                static_cast<unsigned long long>(memory.size_bytes()));
  }
  bound_ = Ref<MemoryHandle>::share(memory);
  return CUDA_SUCCESS;
}

CUresult Multicast::unbind(int device) {
  const std::lock_guard lock(mutex_);
  if (!bound_ || device != device_) {
    return fail(CUDA_ERROR_INVALID_VALUE, "no memory of device %d is bound", device);
  }
  bound_ = {};
  return CUDA_SUCCESS;
}

Ref<MemoryHandle> Multicast::bound() {
  const std::lock_guard lock(mutex_);
  KM_ASSERT(!bound_ || device_ >= 0, "memory is bound for a device");
  return bound_ ? Ref<MemoryHandle>::share(*bound_) : Ref<MemoryHandle>();
}

}  // namespace km::dropin
