// What is known about an address; advice on managed memory.
#include <cstring>

#include "dropin/cuda/place.h"
#include "dropin/cuda/stream.h"
#include "dropin/cuda/virtual_memory.h"

namespace km::cu {

using namespace km::dropin;  // NOLINT

namespace {

template <class T>
CUresult give(void* to, T value) {
  std::memcpy(to, &value, sizeof value);
  return CUDA_SUCCESS;
}

bool is_host(const Allocation& found) {
  return found.kind == AllocationKind::kHost || found.kind == AllocationKind::kRegistered;
}

CUresult attribute_of(const Allocation& found, uint64_t begin, CUdeviceptr address,
                      CUpointer_attribute attribute, void* to) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return give(to, found.context_id);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return give(to, int{is_host(found) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE});
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return give(to, found.memory->address() + (address - begin));
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (!is_host(found) && found.kind != AllocationKind::kManaged) {
        return fail(CUDA_ERROR_INVALID_VALUE, "the host has no pointer to device memory");
      }
      return give(to, address);
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
      return give(to, 0);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
      return give(to, found.buffer_id);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return give(to, int{found.kind == AllocationKind::kManaged});
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return give(to, found.device);
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
      return give(to, 0);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
      return give(to, begin);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
      return give(to, found.size_bytes);
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return give(to, 1);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      return give(to, uint64_t{0});
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      return give(to, int{CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE});
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return give(to, found.pool_id);
    default:
      return fail(CUDA_ERROR_INVALID_VALUE, "there is no pointer attribute %d", attribute);
  }
}

/// The same for reserved addresses, and for what is mapped there.
CUresult attribute_of_mapped(const MappedPlace& place, CUdeviceptr address,
                             CUpointer_attribute attribute, void* to) {
  const bool is_mapped = place.size_bytes != 0;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return give(to, int{is_mapped});
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      return give(to, place.range_begin);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      return give(to, place.range_bytes);
    default:
      break;
  }
  if (!is_mapped) return fail(CUDA_ERROR_INVALID_VALUE, "nothing is mapped at 0x%llx", address);
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
      return give(to, place.begin);
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
      return give(to, place.size_bytes);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return give(to, address);
    case CU_POINTER_ATTRIBUTE_CONTEXT:  // it belongs to none
      return give(to, uint64_t{0});
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
      return give(to, place.begin);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      return give(to, uint64_t{static_cast<unsigned>(place.properties.requestedHandleTypes)});
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      return give(to, place.access);
    default: {
      Allocation like;
      like.kind = AllocationKind::kMapped;
      like.device = place.properties.location.id;
      return attribute_of(like, place.begin, address, attribute, to);
    }
  }
}

/// What is known about an address: the one or the other.
struct Pointer {
  uint64_t begin = 0;
  Allocation found;
  MappedPlace mapped;
  bool is_known = false, is_in_range = false;

  explicit Pointer(CUdeviceptr address) {
    const dropin::Context* const context = current_context_or_null();
    const int device = context != nullptr ? context->device().ordinal : 0;
    is_in_range = VirtualMemory::instance().find(address, device, &mapped);
    is_known = is_in_range || Driver::instance().find(address, &begin, &found);
  }
  CUresult get(CUdeviceptr address, CUpointer_attribute attribute, void* to) const {
    return is_in_range ? attribute_of_mapped(mapped, address, attribute, to)
                       : attribute_of(found, begin, address, attribute, to);
  }
};

/// The range must be of managed memory, as far as it is any that was asked for.
CUresult require_managed(CUdeviceptr address, size_t size_bytes) {
  uint64_t begin = 0;
  Allocation found;
  if (!Driver::instance().find(address, &begin, &found) || found.kind != AllocationKind::kManaged ||
      size_bytes > found.size_bytes - (address - begin)) {
    return fail(CUDA_ERROR_INVALID_VALUE, "the %zu bytes at 0x%llx are no managed memory",
                size_bytes, address);
  }
  return CUDA_SUCCESS;
}

CUresult require_location(CUmemLocation location) {
  if (location.type == CU_MEM_LOCATION_TYPE_DEVICE) {
    CU_DEVICE(device, location.id);
    return CUDA_SUCCESS;
  }
  const bool host = location.type == CU_MEM_LOCATION_TYPE_HOST ||
                    location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA ||
                    location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
  return host ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

/// CU_DEVICE_CPU, -1, is the host.
CUmemLocation location_of(CUdevice device) {
  if (device == -1) return {CU_MEM_LOCATION_TYPE_HOST, 0};
  return {CU_MEM_LOCATION_TYPE_DEVICE, device};
}

CUresult prefetch(CUdeviceptr address, size_t size_bytes, CUmemLocation location, CUstream handle) {
  StreamUse stream;
  CU_TRY(stream.get(handle));
  CU_TRY(require_location(location));
  return require_managed(address, size_bytes);  // it is where it is wanted
}

CUresult advise(CUdeviceptr address, size_t size_bytes, CUmem_advise advice,
                CUmemLocation location) {
  if (advice < CU_MEM_ADVISE_SET_READ_MOSTLY || advice > CU_MEM_ADVISE_UNSET_ACCESSED_BY) {
    return fail(CUDA_ERROR_INVALID_VALUE, "there is no advice %d", advice);
  }
  const bool needs_location = advice != CU_MEM_ADVISE_SET_READ_MOSTLY &&
                              advice != CU_MEM_ADVISE_UNSET_READ_MOSTLY &&
                              advice != CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION;
  if (needs_location) CU_TRY(require_location(location));
  return require_managed(address, size_bytes);  // advice is free to be ignored
}

}  // namespace

extern "C" {

CUresult cuPointerGetAttribute(void* to, CUpointer_attribute attribute, CUdeviceptr address) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(to);
    const Pointer pointer(address);
    if (!pointer.is_known) {
      return fail(CUDA_ERROR_INVALID_VALUE, "0x%llx lies in no allocation", address);
    }
    return pointer.get(address, attribute, to);
  });
}

CUresult cuPointerGetAttributes(unsigned int count, CUpointer_attribute* attributes, void** to,
                                CUdeviceptr address) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(attributes);
    CU_REQUIRE(to);
    const Pointer pointer(address);
    for (unsigned i = 0; i < count; ++i) {
      CU_REQUIRE(to[i]);
      const bool given =
          pointer.is_known && pointer.get(address, attributes[i], to[i]) == CUDA_SUCCESS;
      if (given) continue;
      // Without an allocation each attribute has its value for "none".
      const bool wide = attributes[i] == CU_POINTER_ATTRIBUTE_CONTEXT ||
                        attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_POINTER ||
                        attributes[i] == CU_POINTER_ATTRIBUTE_HOST_POINTER ||
                        attributes[i] == CU_POINTER_ATTRIBUTE_RANGE_START_ADDR ||
                        attributes[i] == CU_POINTER_ATTRIBUTE_RANGE_SIZE;
      if (wide) {
        give(to[i], uint64_t{0});
      } else {
        give(to[i], attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL ? -2 : 0);
      }
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute attribute,
                               CUdeviceptr address) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(value);
    uint64_t begin = 0;
    Allocation found;
    if (attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS) return CUDA_ERROR_INVALID_VALUE;
    if (!Driver::instance().find(address, &begin, &found)) return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;  // copies of pageable memory are synchronous as it is
  });
}

CUresult cuMemPrefetchAsync_v2(CUdeviceptr address, size_t size_bytes, CUmemLocation location,
                               unsigned int flags, CUstream stream) {
  return guard(__func__, [&]() -> CUresult {
    if (flags != 0) return fail(CUDA_ERROR_INVALID_VALUE, "flags is %u; it must be 0", flags);
    return prefetch(address, size_bytes, location, stream);
  });
}

CUresult cuMemPrefetchAsync_v2_ptsz(CUdeviceptr address, size_t size_bytes, CUmemLocation location,
                                    unsigned int flags, CUstream stream) {
  return cuMemPrefetchAsync_v2(address, size_bytes, location, flags, per_thread(stream));
}

CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t size_bytes, CUdevice device,
                            CUstream stream) {
  return guard(__func__,
               [&] { return prefetch(address, size_bytes, location_of(device), stream); });
}

CUresult cuMemPrefetchAsync_ptsz(CUdeviceptr address, size_t size_bytes, CUdevice device,
                                 CUstream stream) {
  return cuMemPrefetchAsync(address, size_bytes, device, per_thread(stream));
}

CUresult cuMemAdvise_v2(CUdeviceptr address, size_t size_bytes, CUmem_advise advice,
                        CUmemLocation location) {
  return guard(__func__, [&] { return advise(address, size_bytes, advice, location); });
}

CUresult cuMemAdvise(CUdeviceptr address, size_t size_bytes, CUmem_advise advice, CUdevice device) {
  return guard(__func__, [&] { return advise(address, size_bytes, advice, location_of(device)); });
}

}  // extern "C"

}  // namespace km::cu
