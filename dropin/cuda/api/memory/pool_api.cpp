// Stream-ordered allocation and memory pools.
#include "core/graph/graph_capture.h"
#include "core/memory/slice.h"
#include "core/object/callback.h"
#include "dropin/cuda/graph/graph_memory.h"
#include "dropin/cuda/memory/bad_address.h"
#include "dropin/cuda/memory/pool.h"
#include "dropin/cuda/stream/stream.h"

namespace km::cu {

using namespace km::dropin;  // NOLINT

namespace {

CUresult free_in_order(CUdeviceptr address, CUstream handle) {
  CU_STREAM_FOR_WORK(stream, handle);
  if (stream.core().is_capturing()) {
    SharedWork work;
    CU_TRY(free_work_of(address, &work));
    CU_CHECK(capture_work(stream.core(), work));
    return CUDA_SUCCESS;
  }
  uint64_t begin = 0;
  Allocation taken;
  MayBlock may_block = MayBlock::at_end();
  if (Driver::instance().find(address, &begin, &taken) &&
      &taken.memory->context() != &stream.core().context()) {
    CU_ASSIGN(may_block, require_may_block());
  }
  CUresult freed = CUDA_SUCCESS;
  if (free_graph_memory(address, &freed)) return freed;
  if (!Driver::instance().take(address, kind_bit(AllocationKind::kDevice), &taken)) {
    if (address != 0) note_bad_free(stream->context(), address);
    return fail(CUDA_ERROR_INVALID_VALUE, "no allocation begins at 0x%llx", address);
  }
  Driver::instance().device(taken.device)->unreserve(taken.size_bytes);
  if (taken.pool_id != 0) note_pool_free();
  if (&taken.memory->context() != &stream.core().context()) {
    CU_CHECK(wait_for_work(may_block, taken.memory->context()));
    return CUDA_SUCCESS;
  }
  const auto slice = make_ref<km::Slice>(std::move(taken.memory), 0, taken.size_bytes, 1, false);
  CU_CHECK(slice->mark_last_use(stream.core()));
  return CUDA_SUCCESS;
}

/// Allocates from the pool. If the stream is being captured, the allocation becomes a graph node.
CUresult allocate(dropin::Pool& pool, const StreamUse& stream, size_t size_bytes,
                  CUdeviceptr* out) {
  if (!stream.core().is_capturing()) return pool.allocate(*stream, size_bytes, out);
  CUDA_MEM_ALLOC_NODE_PARAMS params{};
  params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  params.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, pool.device().ordinal};
  params.bytesize = size_bytes;
  SharedWork work;
  CU_TRY(allocation_work_of(stream->context(), params, &work));
  CU_CHECK(capture_work(stream.core(), work));
  *out = params.dptr;
  return CUDA_SUCCESS;
}

CUresult device_of(const CUmemLocation& location, DeviceState** out) {
  if (location.type != CU_MEM_LOCATION_TYPE_DEVICE) {
    return fail(CUDA_ERROR_NOT_SUPPORTED, "pools are of devices only; location type is %d",
                location.type);
  }
  CU_DEVICE(device, location.id);
  *out = device;
  return CUDA_SUCCESS;
}

CUresult device_of(const CUmemLocation* location, CUmemAllocationType type, DeviceState** out) {
  CU_REQUIRE(location);
  if (type != CU_MEM_ALLOCATION_TYPE_PINNED) {
    return fail(CUDA_ERROR_NOT_SUPPORTED, "pools are of pinned memory, not of type %d", type);
  }
  return device_of(*location, out);
}

}  // namespace

extern "C" {

CUresult cuMemAllocAsync(CUdeviceptr* out, size_t size_bytes, CUstream handle) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    CU_STREAM_FOR_WORK(stream, handle);
    return allocate(*current_pool(stream->context().device()), stream, size_bytes, out);
  });
}

CUresult cuMemAllocAsync_ptsz(CUdeviceptr* out, size_t size_bytes, CUstream stream) {
  return cuMemAllocAsync(out, size_bytes, per_thread(stream));
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* out, size_t size_bytes, CUmemoryPool pool_handle,
                                 CUstream handle) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    CU_GET(Pool, pool, pool_handle);
    CU_STREAM_FOR_WORK(stream, handle);
    return allocate(*pool, stream, size_bytes, out);
  });
}

CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr* out, size_t size_bytes, CUmemoryPool pool,
                                      CUstream stream) {
  return cuMemAllocFromPoolAsync(out, size_bytes, pool, per_thread(stream));
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  return guard(__func__, [&] { return free_in_order(address, stream); });
}

CUresult cuMemFreeAsync_ptsz(CUdeviceptr address, CUstream stream) {
  return cuMemFreeAsync(address, per_thread(stream));
}

CUresult cuMemPoolCreate(CUmemoryPool* out, const CUmemPoolProps* properties) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    CU_REQUIRE(properties);
    if (properties->allocType != CU_MEM_ALLOCATION_TYPE_PINNED) {
      return fail(CUDA_ERROR_INVALID_VALUE, "pools are of pinned memory, not of type %d",
                  properties->allocType);
    }
    const bool is_shared = properties->handleTypes == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    if (!is_shared && properties->handleTypes != CU_MEM_HANDLE_TYPE_NONE) {
      return fail(CUDA_ERROR_NOT_SUPPORTED,
                  "pools are shared by file descriptors only; handleTypes is %d",
                  properties->handleTypes);
    }
    DeviceState* device = nullptr;
    CU_TRY(device_of(properties->location, &device));
    *out = publish(is_shared ? dropin::Pool::shared(*device, properties->maxSize)
                             : make_ref<dropin::Pool>(*device, properties->maxSize));
    return CUDA_SUCCESS;
  });
}

CUresult cuMemPoolDestroy(CUmemoryPool handle) {
  return guard(__func__, [&]() -> CUresult {
    Ref<dropin::Pool> kept;
    {
      CU_GET(Pool, pool, handle);
      const std::lock_guard lock(pool->device().mutex);
      DevicePools& pools = pools_of(pool->device());
      if (pools.own.get() == pool.get()) {
        return fail(CUDA_ERROR_INVALID_VALUE, "a device's default pool cannot be destroyed");
      }
      if (pools.current.get() == pool.get()) pools.current = nullptr;
      kept = Ref<dropin::Pool>::share(*pool);
    }
    retire<dropin::Pool>(handle);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemPoolTrimTo(CUmemoryPool handle, size_t keep_bytes) {
  return guard(__func__, [&]() -> CUresult {
    CU_GET(Pool, pool, handle);
    pool->trim_to(keep_bytes);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void* value) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(value);
    CU_GET(Pool, pool, handle);
    return pool->get_attribute(attribute, value);
  });
}

CUresult cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void* value) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(value);
    CU_GET(Pool, pool, handle);
    return pool->set_attribute(attribute, value);
  });
}

CUresult cuMemPoolSetAccess(CUmemoryPool handle, const CUmemAccessDesc* descriptions,
                            size_t count) {
  return guard(__func__, [&]() -> CUresult {
    CU_GET(Pool, pool, handle);
    if (count != 0) CU_REQUIRE(descriptions);
    for (const bool is_trial : {true, false}) {  // all entries are valid, or nothing changes
      for (size_t i = 0; i < count; ++i) {
        DeviceState* device = nullptr;
        CU_TRY(device_of(descriptions[i].location, &device));
        CU_TRY(is_trial ? pool->check_access(*device, descriptions[i].flags)
                        : pool->set_access(*device, descriptions[i].flags));
      }
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool handle,
                            CUmemLocation* location) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(flags);
    CU_REQUIRE(location);
    CU_GET(Pool, pool, handle);
    DeviceState* device = nullptr;
    CU_TRY(device_of(*location, &device));
    *flags = pool->access_of(*device);
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* out, CUdevice ordinal) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    CU_DEVICE(device, ordinal);
    *out = handle_of(*default_pool(*device));
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetMemPool(CUmemoryPool* out, CUdevice ordinal) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    CU_DEVICE(device, ordinal);
    *out = handle_of(*current_pool(*device));
    return CUDA_SUCCESS;
  });
}

CUresult cuMemGetDefaultMemPool(CUmemoryPool* out, CUmemLocation* location,
                                CUmemAllocationType type) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    DeviceState* device = nullptr;
    CU_TRY(device_of(location, type, &device));
    *out = handle_of(*default_pool(*device));
    return CUDA_SUCCESS;
  });
}

CUresult cuMemGetMemPool(CUmemoryPool* out, CUmemLocation* location, CUmemAllocationType type) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    DeviceState* device = nullptr;
    CU_TRY(device_of(location, type, &device));
    *out = handle_of(*current_pool(*device));
    return CUDA_SUCCESS;
  });
}

CUresult cuMemSetMemPool(CUmemLocation* location, CUmemAllocationType type, CUmemoryPool pool) {
  return guard(__func__, [&]() -> CUresult {
    DeviceState* device = nullptr;
    CU_TRY(device_of(location, type, &device));
    return cuDeviceSetMemPool(device->ordinal, pool);
  });
}

CUresult cuDeviceSetMemPool(CUdevice ordinal, CUmemoryPool handle) {
  return guard(__func__, [&]() -> CUresult {
    CU_DEVICE(device, ordinal);
    CU_GET(Pool, pool, handle);
    if (&pool->device() != device) {
      return fail(CUDA_ERROR_INVALID_VALUE, "the pool is of device %d, not %d",
                  pool->device().ordinal, ordinal);
    }
    if (pool->exporter() != 0) {
      return fail(CUDA_ERROR_INVALID_VALUE,
                  "the pool belongs to process %d, which alone can allocate from it",
                  pool->exporter());
    }
    const std::lock_guard lock(device->mutex);
    pools_of(*device).current = Ref<dropin::Pool>::share(*pool);
    return CUDA_SUCCESS;
  });
}

}  // extern "C"

}  // namespace km::cu
