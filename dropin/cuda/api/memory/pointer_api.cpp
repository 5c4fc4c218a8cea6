// Pointer attributes.
#include <cstring>

#include "dropin/cuda/memory/place.h"
#include "dropin/cuda/memory/virtual_memory.h"
#include "dropin/cuda/stream/stream.h"

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
      if (!is_host(found) && !is_managed(found.kind)) {
        return fail(CUDA_ERROR_INVALID_VALUE, "the host has no pointer to device memory");
      }
      return give(to, address);
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
      return give(to, 0);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
      return give(to, found.buffer_id);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return give(to, int{is_managed(found.kind)});
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return give(to, found.device);
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
      return give(to, int{found.kind == AllocationKind::kDevice && found.pool_id == 0});
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

/// An attribute of a reserved address and its mapping.
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
    case CU_POINTER_ATTRIBUTE_CONTEXT:  // mappings belong to no context
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

/// An address's place: in an allocation or in a reserved range.
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

}  // namespace

extern "C" {

CUresult cuPointerGetAttribute(void* to, CUpointer_attribute attribute, CUdeviceptr address) {
  return guard_light(__func__, [&]() -> CUresult {
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
      // Outside of allocations each attribute has CUDA's value for "none".
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
    if (attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS) {
      return fail(CUDA_ERROR_INVALID_VALUE, "pointer attribute %d cannot be set", attribute);
    }
    if (!Driver::instance().find(address, &begin, &found)) {
      return fail(CUDA_ERROR_INVALID_VALUE, "0x%llx lies in no allocation", address);
    }
    return CUDA_SUCCESS;  // copies of pageable memory are always synchronous
  });
}

}  // extern "C"

}  // namespace km::cu
