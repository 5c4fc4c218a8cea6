// Virtual memory management: address ranges, physical memory and mappings.
#include <cstring>

#include "base/arch/constants.h"
#include "dropin/cuda/memory/virtual_memory.h"

namespace km::cu {

using namespace km::dropin;  // NOLINT

namespace {

CUresult check_properties(const CUmemAllocationProp* properties) {
  CU_REQUIRE(properties);
  if (properties->type != CU_MEM_ALLOCATION_TYPE_PINNED) {
    return fail(CUDA_ERROR_INVALID_VALUE, "allocations are of type pinned, not %d",
                properties->type);
  }
  if (properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE) {
    return fail(CUDA_ERROR_NOT_SUPPORTED, "memory is created on devices, not at location type %d",
                properties->location.type);
  }
  CU_DEVICE(device, properties->location.id);
  static_cast<void>(device);
  if (properties->requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE &&
      properties->requestedHandleTypes != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {
    return fail(CUDA_ERROR_NOT_SUPPORTED, "memory is shared by POSIX file descriptors only");
  }
  return CUDA_SUCCESS;
}

/// The requested properties without those that are not supported.
CUmemAllocationProp kept_properties(const CUmemAllocationProp& asked) {
  CUmemAllocationProp kept = asked;
  kept.win32HandleMetaData = nullptr;
  kept.allocFlags = {};
  return kept;
}

CUresult check_part(CUdeviceptr address, size_t size_bytes) {
  if (size_bytes != 0 && size_bytes % kMappingBytes == 0 && address % kMappingBytes == 0) {
    return CUDA_SUCCESS;
  }
  return fail(CUDA_ERROR_INVALID_VALUE,
              "%zu bytes at 0x%llx: both must be multiples of the granularity", size_bytes,
              address);
}

CUresult create(CUmemGenericAllocationHandle* out, size_t size_bytes,
                const CUmemAllocationProp* properties, unsigned long long flags) {
  CU_REQUIRE(out);
  CU_TRY(check_properties(properties));
  if (size_bytes == 0 || size_bytes % kMappingBytes != 0 || flags != 0) {
    return fail(CUDA_ERROR_INVALID_VALUE, "size is %zu, flags is %llu", size_bytes, flags);
  }
  DeviceState& device = *Driver::instance().device(properties->location.id);
  auto memory = make_ref<MemoryHandle>(kept_properties(*properties));
  CU_TRY(device.reserve(size_bytes));
  const CUresult made = memory->backing().create(size_bytes, memory->can_be_shared());
  if (made != CUDA_SUCCESS) {
    device.unreserve(size_bytes);
    return made;
  }
  memory->charge(device);
  *out = publish(std::move(memory));
  return CUDA_SUCCESS;
}

CUresult check_access(const CUmemAccessDesc* access, size_t count) {
  CU_REQUIRE(access);
  if (count == 0) return fail(CUDA_ERROR_INVALID_VALUE, "count is 0");
  for (size_t i = 0; i < count; ++i) {
    if (access[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE) {
      return fail(CUDA_ERROR_NOT_SUPPORTED, "access is granted to devices, not to location type %d",
                  access[i].location.type);
    }
    CU_DEVICE(device, access[i].location.id);
    static_cast<void>(device);
    switch (access[i].flags) {
      case CU_MEM_ACCESS_FLAGS_PROT_NONE:
      case CU_MEM_ACCESS_FLAGS_PROT_READ:
      case CU_MEM_ACCESS_FLAGS_PROT_READWRITE:
        break;
      default:
        return fail(CUDA_ERROR_INVALID_VALUE, "there is no access 0x%x", access[i].flags);
    }
  }
  return CUDA_SUCCESS;
}

/// Maps the memory that is bound to a multicast object.
CUresult map_multicast(CUdeviceptr address, size_t size_bytes, size_t offset_bytes,
                       Multicast& object) {
  const Ref<MemoryHandle> memory = object.bound();
  if (!memory) {
    return fail(CUDA_ERROR_NOT_SUPPORTED,
                "the multicast object is mapped before memory is bound to it: call "
                "cuMulticastBindMem first");
  }
  if (offset_bytes != 0 || size_bytes > memory->size_bytes()) {
    return fail(CUDA_ERROR_INVALID_VALUE, "size %zu, offset %zu, of %llu bytes that are bound",
                size_bytes, offset_bytes, static_cast<unsigned long long>(memory->size_bytes()));
  }
  return VirtualMemory::instance().map(address, size_bytes, *memory);
}

CUresult require_descriptor(CUmemAllocationHandleType type) {
  if (type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_SUCCESS;
  return fail(CUDA_ERROR_NOT_SUPPORTED, "memory is shared by POSIX file descriptors only");
}

}  // namespace

extern "C" {

CUresult cuMemAddressReserve(CUdeviceptr* out, size_t size_bytes, size_t alignment,
                             CUdeviceptr hint, unsigned long long flags) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    constexpr uint64_t kPage = arch::kLeastPageBytes;
    const bool power_of_two = (alignment & (alignment - 1)) == 0;
    if (size_bytes == 0 || size_bytes % kPage != 0 || hint % kPage != 0 || !power_of_two ||
        flags != 0) {
      return fail(CUDA_ERROR_INVALID_VALUE, "size %zu, alignment %zu, address 0x%llx, flags %llu",
                  size_bytes, alignment, hint, flags);
    }
    return VirtualMemory::instance().reserve(size_bytes, alignment, hint, out);
  });
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t size_bytes) {
  return guard(__func__, [&] { return VirtualMemory::instance().free(address, size_bytes); });
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* out, size_t size_bytes,
                     const CUmemAllocationProp* properties, unsigned long long flags) {
  return guard(__func__, [&] { return create(out, size_bytes, properties, flags); });
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  return guard(__func__, [&] { return VirtualMemory::instance().release(handle); });
}

CUresult cuMemMap(CUdeviceptr address, size_t size_bytes, size_t offset_bytes,
                  CUmemGenericAllocationHandle handle, unsigned long long flags) {
  return guard(__func__, [&]() -> CUresult {
    CU_TRY(check_part(address, size_bytes));
    const Pin<MemoryHandle> memory(handle);
    if (!memory) return fail(CUDA_ERROR_INVALID_VALUE, "the memory is not a live handle");
    if (memory->multicast() != nullptr) {
      return map_multicast(address, size_bytes, offset_bytes, *memory->multicast());
    }
    if (offset_bytes != 0 || flags != 0 || size_bytes > memory->size_bytes()) {
      return fail(CUDA_ERROR_INVALID_VALUE, "size %zu, offset %zu, flags %llu", size_bytes,
                  offset_bytes, flags);
    }
    return VirtualMemory::instance().map(address, size_bytes, *memory);
  });
}

CUresult cuMemUnmap(CUdeviceptr address, size_t size_bytes) {
  return guard(__func__, [&]() -> CUresult {
    CU_TRY(check_part(address, size_bytes));
    return VirtualMemory::instance().unmap(address, size_bytes);
  });
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t size_bytes, const CUmemAccessDesc* access,
                        size_t count) {
  return guard(__func__, [&]() -> CUresult {
    CU_TRY(check_access(access, count));
    CU_TRY(check_part(address, size_bytes));
    return VirtualMemory::instance().set_access(address, size_bytes, access, count);
  });
}

CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location,
                        CUdeviceptr address) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(flags);
    CU_REQUIRE(location);
    if (location->type != CU_MEM_LOCATION_TYPE_DEVICE) {
      return fail(CUDA_ERROR_INVALID_VALUE, "there is no access from location type %d",
                  location->type);
    }
    CU_DEVICE(device, location->id);
    MappedPlace place;
    if (!VirtualMemory::instance().find(address, device->ordinal, &place) ||
        place.size_bytes == 0) {
      return fail(CUDA_ERROR_INVALID_VALUE, "no memory is mapped at 0x%llx", address);
    }
    *flags = static_cast<unsigned long long>(place.access);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemGetAllocationGranularity(size_t* granularity, const CUmemAllocationProp* properties,
                                       CUmemAllocationGranularity_flags option) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(granularity);
    CU_TRY(check_properties(properties));
    if (option != CU_MEM_ALLOC_GRANULARITY_MINIMUM &&
        option != CU_MEM_ALLOC_GRANULARITY_RECOMMENDED) {
      return fail(CUDA_ERROR_INVALID_VALUE, "there is no granularity %d", option);
    }
    *granularity = kMappingBytes;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* properties,
                                                CUmemGenericAllocationHandle handle) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(properties);
    const Pin<MemoryHandle> memory(handle);
    if (!memory) return fail(CUDA_ERROR_INVALID_VALUE, "the memory is not a live handle");
    *properties = memory->properties();
    return CUDA_SUCCESS;
  });
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* out, void* address) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    return VirtualMemory::instance().retain(reinterpret_cast<CUdeviceptr>(address), out);
  });
}

CUresult cuMemExportToShareableHandle(void* out, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType type, unsigned long long flags) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    CU_TRY(require_descriptor(type));
    const Pin<MemoryHandle> memory(handle);
    if (!memory || flags != 0 || !memory->can_be_shared()) {
      return fail(CUDA_ERROR_INVALID_VALUE,
                  "the memory is not a live handle, or was not made to be shared, or flags is %llu",
                  flags);
    }
    int file = -1;
    CU_TRY(memory->backing().share(&file));
    std::memcpy(out, &file, sizeof file);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* out, void* os_handle,
                                        CUmemAllocationHandleType type) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    CU_TRY(require_descriptor(type));
    CU_CURRENT(context);
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, context->device().ordinal};
    properties.requestedHandleTypes = type;
    auto memory = make_ref<MemoryHandle>(properties);
    CU_TRY(memory->backing().import(static_cast<int>(reinterpret_cast<intptr_t>(os_handle))));
    *out = publish(std::move(memory));
    return CUDA_SUCCESS;
  });
}

}  // extern "C"

}  // namespace km::cu
