// Multicast objects, each with one device.
#include "cuda/tensor_types.h"
#include "dropin/cuda/memory/virtual_memory.h"

namespace km::cu {

using namespace km::dropin;  // NOLINT

namespace {

CUresult check_properties(const CUmulticastObjectProp* properties) {
  CU_REQUIRE(properties);
  if (properties->numDevices != 1) {
    return fail(properties->numDevices == 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_SUPPORTED,
                "multicast objects have one device here, not %u", properties->numDevices);
  }
  if (properties->handleTypes != CU_MEM_HANDLE_TYPE_NONE) {
    return fail(CUDA_ERROR_NOT_SUPPORTED, "multicast objects are not shared between processes");
  }
  if (properties->flags != 0) {
    return fail(CUDA_ERROR_INVALID_VALUE, "flags is %llu", properties->flags);
  }
  return CUDA_SUCCESS;
}

CUresult find_multicast(const Pin<MemoryHandle>& handle, Multicast** out) {
  if (!handle || handle->multicast() == nullptr) {
    return fail(CUDA_ERROR_INVALID_VALUE, "the multicast object is not a live handle of one");
  }
  *out = handle->multicast();
  return CUDA_SUCCESS;
}

CUresult bind(CUmemGenericAllocationHandle object, size_t object_offset,
              CUmemGenericAllocationHandle memory, size_t memory_offset, size_t size_bytes,
              unsigned long long flags) {
  const Pin<MemoryHandle> multicast_handle(object), memory_handle(memory);
  Multicast* multicast = nullptr;
  CU_TRY(find_multicast(multicast_handle, &multicast));
  if (!memory_handle) return fail(CUDA_ERROR_INVALID_VALUE, "the memory is not a live handle");
  if (size_bytes % kMappingBytes != 0 || flags != 0) {
    return fail(CUDA_ERROR_INVALID_VALUE, "size is %zu, flags is %llu", size_bytes, flags);
  }
  if (object_offset != 0 || memory_offset != 0) {
    return fail(CUDA_ERROR_NOT_SUPPORTED, "memory is bound from its beginning on, not from %zu",
                object_offset != 0 ? object_offset : memory_offset);
  }
  return multicast->bind(*memory_handle, size_bytes);
}

CUresult bind_address(CUmemGenericAllocationHandle object, size_t object_offset,
                      CUdeviceptr address, size_t size_bytes, unsigned long long flags) {
  CUmemGenericAllocationHandle memory = 0;
  CU_TRY(VirtualMemory::instance().retain(address, &memory));
  const CUresult bound = bind(object, object_offset, memory, 0, size_bytes, flags);
  CU_TRY(VirtualMemory::instance().release(memory));
  return bound;
}

}  // namespace

extern "C" {

CUresult cuMulticastCreate(CUmemGenericAllocationHandle* out,
                           const CUmulticastObjectProp* properties) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    CU_TRY(check_properties(properties));
    if (properties->size == 0 || properties->size % kMappingBytes != 0) {
      return fail(CUDA_ERROR_INVALID_VALUE, "size %zu is not a multiple of the granularity",
                  properties->size);
    }
    CUmemAllocationProp allocation{};
    allocation.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    allocation.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    auto handle = make_ref<MemoryHandle>(allocation);
    handle->make_multicast(properties->size);
    *out = publish(std::move(handle));
    return CUDA_SUCCESS;
  });
}

CUresult cuMulticastGetGranularity(size_t* granularity, const CUmulticastObjectProp* properties,
                                   CUmulticastGranularity_flags option) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(granularity);
    CU_TRY(check_properties(properties));
    if (option != CU_MULTICAST_GRANULARITY_MINIMUM &&
        option != CU_MULTICAST_GRANULARITY_RECOMMENDED) {
      return fail(CUDA_ERROR_INVALID_VALUE, "there is no granularity %d", option);
    }
    *granularity = kMappingBytes;
    return CUDA_SUCCESS;
  });
}

CUresult cuMulticastAddDevice(CUmemGenericAllocationHandle object, CUdevice ordinal) {
  return guard(__func__, [&]() -> CUresult {
    CU_DEVICE(device, ordinal);
    const Pin<MemoryHandle> handle(object);
    Multicast* multicast = nullptr;
    CU_TRY(find_multicast(handle, &multicast));
    return multicast->add_device(device->ordinal);
  });
}

CUresult cuMulticastBindMem(CUmemGenericAllocationHandle object, size_t object_offset,
                            CUmemGenericAllocationHandle memory, size_t memory_offset,
                            size_t size_bytes, unsigned long long flags) {
  return guard(__func__, [&] {
    return bind(object, object_offset, memory, memory_offset, size_bytes, flags);
  });
}

CUresult cuMulticastBindMem_v2(CUmemGenericAllocationHandle object, CUdevice ordinal,
                               size_t object_offset, CUmemGenericAllocationHandle memory,
                               size_t memory_offset, size_t size_bytes, unsigned long long flags) {
  return guard(__func__, [&]() -> CUresult {
    CU_DEVICE(device, ordinal);
    static_cast<void>(device);
    return bind(object, object_offset, memory, memory_offset, size_bytes, flags);
  });
}

CUresult cuMulticastBindAddr(CUmemGenericAllocationHandle object, size_t object_offset,
                             CUdeviceptr address, size_t size_bytes, unsigned long long flags) {
  return guard(__func__,
               [&] { return bind_address(object, object_offset, address, size_bytes, flags); });
}

CUresult cuMulticastBindAddr_v2(CUmemGenericAllocationHandle object, CUdevice ordinal,
                                size_t object_offset, CUdeviceptr address, size_t size_bytes,
                                unsigned long long flags) {
  return guard(__func__, [&]() -> CUresult {
    CU_DEVICE(device, ordinal);
    static_cast<void>(device);
    return bind_address(object, object_offset, address, size_bytes, flags);
  });
}

CUresult cuMulticastUnbind(CUmemGenericAllocationHandle object, CUdevice ordinal,
                           size_t object_offset, size_t size_bytes) {
  return guard(__func__, [&]() -> CUresult {
    CU_DEVICE(device, ordinal);
    const Pin<MemoryHandle> handle(object);
    Multicast* multicast = nullptr;
    CU_TRY(find_multicast(handle, &multicast));
    if (object_offset != 0 || size_bytes == 0 || size_bytes % kMappingBytes != 0) {
      return fail(CUDA_ERROR_INVALID_VALUE, "offset %zu, size %zu", object_offset, size_bytes);
    }
    return multicast->unbind(device->ordinal);
  });
}

}  // extern "C"

}  // namespace km::cu
