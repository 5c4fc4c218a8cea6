// Managed memory: advice, prefetches and attributes of ranges. Managed memory is host memory, so
// nothing migrates; advice on a range is stored for its whole allocation.
#include <algorithm>
#include <cstring>

#include "dropin/cuda/stream/stream.h"

namespace km::cu {

using namespace km::dropin;  // NOLINT

namespace {

/// Fails unless the range is inside one allocation of managed memory.
CUresult require_managed(CUdeviceptr address, size_t size_bytes) {
  uint64_t begin = 0;
  Allocation found;
  if (!Driver::instance().find(address, &begin, &found) || !is_managed(found.kind) ||
      size_bytes > found.size_bytes - (address - begin)) {
    return fail(CUDA_ERROR_INVALID_VALUE, "the %zu bytes at 0x%llx are not managed memory",
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
  return host ? CUresult{CUDA_SUCCESS}
              : fail(CUDA_ERROR_INVALID_DEVICE, "there are no locations of type %d", location.type);
}

/// Converts a device ordinal; CU_DEVICE_CPU (-1) is the host.
CUmemLocation location_of(CUdevice device) {
  if (device == -1) return {CU_MEM_LOCATION_TYPE_HOST, 0};
  return {CU_MEM_LOCATION_TYPE_DEVICE, device};
}

/// Converts a location to a device ordinal; CU_DEVICE_INVALID (-2) means none.
int id_of(CUmemLocation location) {
  if (location.type == CU_MEM_LOCATION_TYPE_DEVICE) return location.id;
  return location.type == CU_MEM_LOCATION_TYPE_INVALID ? -2 : -1;
}

CUresult prefetch(CUdeviceptr address, size_t size_bytes, CUmemLocation location, CUstream handle) {
  StreamUse stream;
  CU_TRY(stream.get(handle));
  CU_TRY(require_location(location));
  CU_TRY(require_managed(address, size_bytes));
  Driver::instance().advise(address, [&](ManagedAdvice& known) { known.last_prefetch = location; });
  return CUDA_SUCCESS;  // the memory is in place already
}

void note_advice(ManagedAdvice* known, CUmem_advise advice, CUmemLocation location) {
  switch (advice) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY:
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY:
      known->is_read_mostly = advice == CU_MEM_ADVISE_SET_READ_MOSTLY;
      break;
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
      known->preferred = location;
      break;
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
      known->preferred = {CU_MEM_LOCATION_TYPE_INVALID, 0};
      break;
    default:
      std::erase(known->accessed_by, id_of(location));
      if (advice == CU_MEM_ADVISE_SET_ACCESSED_BY) known->accessed_by.push_back(id_of(location));
  }
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
  CU_TRY(require_managed(address, size_bytes));
  Driver::instance().advise(address,
                            [&](ManagedAdvice& known) { note_advice(&known, advice, location); });
  return CUDA_SUCCESS;
}

CUresult give_word(void* to, size_t size_bytes, int value) {
  if (size_bytes != sizeof value) {
    return fail(CUDA_ERROR_INVALID_VALUE, "the attribute has 4 bytes, not %zu", size_bytes);
  }
  std::memcpy(to, &value, sizeof value);
  return CUDA_SUCCESS;
}

CUresult give_devices(void* to, size_t size_bytes, const std::vector<int>& devices) {
  if (size_bytes == 0 || size_bytes % sizeof(int) != 0) {
    return fail(CUDA_ERROR_INVALID_VALUE, "%zu bytes are not a list of devices", size_bytes);
  }
  std::vector<int> list(size_bytes / sizeof(int), -2);
  std::copy_n(devices.begin(), std::min(devices.size(), list.size()), list.begin());
  std::memcpy(to, list.data(), size_bytes);
  return CUDA_SUCCESS;
}

CUresult range_attribute(void* to, size_t size_bytes, CUmem_range_attribute attribute,
                         CUdeviceptr address, size_t count_bytes) {
  CU_REQUIRE(to);
  CU_TRY(require_managed(address, count_bytes));
  ManagedAdvice known;
  Driver::instance().advise(address, [&](const ManagedAdvice& advice) { known = advice; });
  switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
      return give_word(to, size_bytes, known.is_read_mostly ? 1 : 0);
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
      return give_word(to, size_bytes, id_of(known.preferred));
    case CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY:
      return give_devices(to, size_bytes, known.accessed_by);
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
      return give_word(to, size_bytes, id_of(known.last_prefetch));
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
      return give_word(to, size_bytes, known.preferred.type);
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
      return give_word(to, size_bytes, known.preferred.id);
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
      return give_word(to, size_bytes, known.last_prefetch.type);
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
      return give_word(to, size_bytes, known.last_prefetch.id);
    default:
      return fail(CUDA_ERROR_INVALID_VALUE, "there is no range attribute %d", attribute);
  }
}

/// A batch of prefetches: each location applies to the ranges from its index on.
struct Batch {
  const CUdeviceptr* addresses;
  const size_t* sizes;
  size_t count;
  const CUmemLocation* locations;
  const size_t* first_of_location;
  size_t location_count;
};

CUresult prefetch_batch(const Batch& batch, unsigned long long flags, CUstream stream) {
  if (flags != 0) return fail(CUDA_ERROR_INVALID_VALUE, "flags is %llu; it must be 0", flags);
  CU_REQUIRE(batch.addresses);
  CU_REQUIRE(batch.sizes);
  CU_REQUIRE(batch.locations);
  CU_REQUIRE(batch.first_of_location);
  if (batch.count == 0 || batch.location_count == 0 || batch.location_count > batch.count ||
      batch.first_of_location[0] != 0) {
    return fail(CUDA_ERROR_INVALID_VALUE, "%zu ranges, %zu locations", batch.count,
                batch.location_count);
  }
  size_t location = 0;
  for (size_t i = 0; i < batch.count; ++i) {
    if (location + 1 < batch.location_count && batch.first_of_location[location + 1] <= i) {
      ++location;
    }
    CU_TRY(prefetch(batch.addresses[i], batch.sizes[i], batch.locations[location], stream));
  }
  return CUDA_SUCCESS;
}

/// Checks the ranges only: discarded memory has undefined content, so it may stay as it is.
CUresult discard_batch(const CUdeviceptr* addresses, const size_t* sizes, size_t count,
                       unsigned long long flags, CUstream handle) {
  if (flags != 0) return fail(CUDA_ERROR_INVALID_VALUE, "flags is %llu; it must be 0", flags);
  CU_REQUIRE(addresses);
  CU_REQUIRE(sizes);
  if (count == 0) return fail(CUDA_ERROR_INVALID_VALUE, "count is 0");
  StreamUse stream;
  CU_TRY(stream.get(handle));
  for (size_t i = 0; i < count; ++i) CU_TRY(require_managed(addresses[i], sizes[i]));
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

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

CUresult cuMemRangeGetAttribute(void* to, size_t size_bytes, CUmem_range_attribute attribute,
                                CUdeviceptr address, size_t count_bytes) {
  return guard(__func__,
               [&] { return range_attribute(to, size_bytes, attribute, address, count_bytes); });
}

CUresult cuMemRangeGetAttributes(void** to, size_t* sizes, CUmem_range_attribute* attributes,
                                 size_t count, CUdeviceptr address, size_t count_bytes) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(to);
    CU_REQUIRE(sizes);
    CU_REQUIRE(attributes);
    if (count == 0) return fail(CUDA_ERROR_INVALID_VALUE, "there are no attributes");
    for (size_t i = 0; i < count; ++i) {
      CU_TRY(range_attribute(to[i], sizes[i], attributes[i], address, count_bytes));
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuMemPrefetchBatchAsync(CUdeviceptr* addresses, size_t* sizes, size_t count,
                                 CUmemLocation* locations, size_t* first_of_location,
                                 size_t location_count, unsigned long long flags, CUstream stream) {
  return guard(__func__, [&] {
    return prefetch_batch({addresses, sizes, count, locations, first_of_location, location_count},
                          flags, stream);
  });
}

CUresult cuMemPrefetchBatchAsync_ptsz(CUdeviceptr* addresses, size_t* sizes, size_t count,
                                      CUmemLocation* locations, size_t* first_of_location,
                                      size_t location_count, unsigned long long flags,
                                      CUstream stream) {
  return cuMemPrefetchBatchAsync(addresses, sizes, count, locations, first_of_location,
                                 location_count, flags, per_thread(stream));
}

CUresult cuMemDiscardBatchAsync(CUdeviceptr* addresses, size_t* sizes, size_t count,
                                unsigned long long flags, CUstream stream) {
  return guard(__func__, [&] { return discard_batch(addresses, sizes, count, flags, stream); });
}

CUresult cuMemDiscardBatchAsync_ptsz(CUdeviceptr* addresses, size_t* sizes, size_t count,
                                     unsigned long long flags, CUstream stream) {
  return cuMemDiscardBatchAsync(addresses, sizes, count, flags, per_thread(stream));
}

CUresult cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr* addresses, size_t* sizes, size_t count,
                                           CUmemLocation* locations, size_t* first_of_location,
                                           size_t location_count, unsigned long long flags,
                                           CUstream stream) {
  return cuMemPrefetchBatchAsync(addresses, sizes, count, locations, first_of_location,
                                 location_count, flags, stream);
}

CUresult cuMemDiscardAndPrefetchBatchAsync_ptsz(CUdeviceptr* addresses, size_t* sizes, size_t count,
                                                CUmemLocation* locations, size_t* first_of_location,
                                                size_t location_count, unsigned long long flags,
                                                CUstream stream) {
  return cuMemPrefetchBatchAsync(addresses, sizes, count, locations, first_of_location,
                                 location_count, flags, per_thread(stream));
}

}  // extern "C"

}  // namespace km::cu
