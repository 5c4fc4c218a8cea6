// Allocation of linear, pitched, managed and page-locked memory.
#include <algorithm>

#include "base/memory/host_range.h"
#include "core/memory/slice.h"
#include "core/object/callback.h"
#include "dropin/cuda/context/allocation.h"
#include "dropin/cuda/graph/graph_memory.h"
#include "dropin/cuda/memory/bad_address.h"
#include "dropin/cuda/memory/place.h"
#include "dropin/cuda/memory/pool.h"
#include "dropin/cuda/memory/virtual_memory.h"
#include "dropin/cuda/stream/capture_rules.h"
#include "dropin/cuda/stream/stream.h"

namespace km::cu {

using namespace km::dropin;  // NOLINT

namespace {

constexpr uint32_t kDeviceKinds =
    kind_bit(AllocationKind::kDevice) | kind_bit(AllocationKind::kManaged);
constexpr uint64_t kPitchBytes = 512;

CUresult allocate(CUdeviceptr* out, size_t size_bytes, AllocationKind kind, unsigned flags) {
  CU_REQUIRE(out);
  CU_CURRENT(context);
  CU_TRY(require_no_capture_of("allocating memory"));
  if (size_bytes == 0) return fail(CUDA_ERROR_INVALID_VALUE, "bytesize is 0");
  Ref<km::Memory> memory;
  if (kind == AllocationKind::kManaged) {  // managed memory may exceed a device's memory
    CU_ASSIGN(memory, km::Memory::create(*context->core(), nullptr, size_bytes, KM_SLICE_MANAGED, 1,
                                         KM_ALLOCATION_DEVICE));
  } else {
    CU_TRY(create_counted_memory(*context, size_bytes, &memory));
  }
  const uint64_t address = memory->address();
  keep_allocation(*context, std::move(memory), kind, flags, address);
  *out = address;
  return CUDA_SUCCESS;
}

/// Waits for other contexts, whose work may use managed and page-locked memory too. Their failures
/// are theirs to report.
void wait_for_others(const MayBlock& may_block, const km::Context& owner) {
  for (const Ref<dropin::Context>& each : live_contexts()) {
    const Ref<km::Context> core = each->core();
    if (core.get() != &owner) static_cast<void>(wait_for_work(may_block, *core));
  }
}

/// Waits for all work before it frees memory, because work on any stream may use memory by address.
/// Host functions cannot call it: they are part of that work.
CUresult free_memory(CUdeviceptr address) {
  CU_CURRENT(current);
  CU_TRY(require_no_capture_of("freeing memory"));
  CU_ASSIGN(const MayBlock may_block, require_may_block());
  Allocation taken;
  CUresult freed = CUDA_SUCCESS;
  if (free_graph_memory(address, &freed)) return freed;
  if (!Driver::instance().take(address, kDeviceKinds, &taken)) {
    if (address != 0) note_bad_free(*current, address);
    return fail(CUDA_ERROR_INVALID_VALUE, "no allocation begins at 0x%llx", address);
  }
  if (taken.kind == AllocationKind::kDevice) {
    Driver::instance().device(taken.device)->unreserve(taken.size_bytes);
  }
  const Status done = wait_for_work(may_block, taken.memory->context());
  if (taken.kind == AllocationKind::kManaged) wait_for_others(may_block, taken.memory->context());
  if (taken.pool_id != 0) dropin::note_pool_free();
  return done ? CUDA_SUCCESS : result_of(done.error());
}

CUresult allocate_host(void** out, size_t size_bytes, unsigned flags) {
  CU_REQUIRE(out);
  CU_CURRENT(context);
  CU_TRY(require_no_capture_of("allocating memory"));
  constexpr unsigned kKnown =
      CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
  if (size_bytes == 0 || (flags & ~kKnown) != 0) {
    return fail(CUDA_ERROR_INVALID_VALUE, "bytesize is %zu, flags is %u", size_bytes, flags);
  }
  CU_ASSIGN(Ref<km::Memory> memory, km::Memory::create_host(*context->core(), size_bytes));
  void* const pointer = memory->host_pointer();
  keep_allocation(*context, std::move(memory), AllocationKind::kHost, flags,
                  reinterpret_cast<uint64_t>(pointer));
  *out = pointer;
  return CUDA_SUCCESS;
}

CUresult free_host(void* pointer, AllocationKind kind, CUresult none) {
  CU_CURRENT(context);
  CU_TRY(require_no_capture_of("freeing memory"));
  CU_ASSIGN(const MayBlock may_block, require_may_block());
  Allocation taken;
  if (!Driver::instance().take(reinterpret_cast<uint64_t>(pointer), kind_bit(kind), &taken)) {
    if (pointer != nullptr) note_bad_free(*context, reinterpret_cast<uint64_t>(pointer));
    return fail(none, "no such memory begins at %p", pointer);
  }
  wait_for_others(may_block, taken.memory->context());
  CU_CHECK(wait_for_work(may_block, taken.memory->context()));
  return CUDA_SUCCESS;
}

CUresult register_host(void* pointer, size_t size_bytes, unsigned flags) {
  CU_REQUIRE(pointer);
  CU_CURRENT(context);
  CU_TRY(require_no_capture_of("registering memory"));
  constexpr unsigned kKnown = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP |
                              CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY;
  if (size_bytes == 0 || (flags & ~kKnown) != 0) {
    return fail(CUDA_ERROR_INVALID_VALUE, "bytesize is %zu, flags is %u", size_bytes, flags);
  }
  uint64_t begin = 0;
  Allocation found;
  if (Driver::instance().find(reinterpret_cast<uint64_t>(pointer), &begin, &found)) {
    return fail(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "%p lies in memory of CUDA already",
                pointer);
  }
  if ((flags & CU_MEMHOSTREGISTER_READ_ONLY) == 0) {
    const HostRange range = look_at_host_range(pointer, size_bytes);
    if (range.is_mapped && !range.is_writable) {
      return fail(CUDA_ERROR_INVALID_VALUE,
                  "%zu bytes at %p cannot be written: they need CU_MEMHOSTREGISTER_READ_ONLY",
                  size_bytes, pointer);
    }
  }
  CU_ASSIGN(Ref<km::Memory> memory,
            km::Memory::register_host(*context->core(), pointer, size_bytes));
  keep_allocation(*context, std::move(memory), AllocationKind::kRegistered, flags,
                  reinterpret_cast<uint64_t>(pointer));
  return CUDA_SUCCESS;
}

CUresult no_allocation(CUdeviceptr address) {
  return fail(CUDA_ERROR_NOT_FOUND, "0x%llx lies in no allocation", address);
}

}  // namespace

extern "C" {

CUresult cuMemGetInfo_v2(size_t* free_bytes, size_t* total_bytes) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(free_bytes);
    CU_REQUIRE(total_bytes);
    CU_CURRENT(context);
    *total_bytes = context->device().device->info().total_memory_bytes;
    *free_bytes = context->device().free_bytes();
    return CUDA_SUCCESS;
  });
}

CUresult cuMemAlloc_v2(CUdeviceptr* out, size_t size_bytes) {
  return guard(__func__, [&] { return allocate(out, size_bytes, AllocationKind::kDevice, 0); });
}

CUresult cuMemAllocManaged(CUdeviceptr* out, size_t size_bytes, unsigned int flags) {
  return guard(__func__, [&]() -> CUresult {
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST) {
      return fail(CUDA_ERROR_INVALID_VALUE, "flags is %u", flags);
    }
    return allocate(out, size_bytes, AllocationKind::kManaged, flags);
  });
}

CUresult cuMemAllocPitch_v2(CUdeviceptr* out, size_t* out_pitch, size_t width_bytes, size_t height,
                            unsigned int element_size_bytes) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out_pitch);
    const bool known_size =
        element_size_bytes == 4 || element_size_bytes == 8 || element_size_bytes == 16;
    if (!known_size || width_bytes == 0 || height == 0) {
      return fail(CUDA_ERROR_INVALID_VALUE, "width %zu, height %zu, elements of %u bytes",
                  width_bytes, height, element_size_bytes);
    }
    const size_t pitch = (width_bytes + kPitchBytes - 1) / kPitchBytes * kPitchBytes;
    size_t size_bytes = 0;
    if (pitch < width_bytes || __builtin_mul_overflow(pitch, height, &size_bytes)) {
      return fail(CUDA_ERROR_OUT_OF_MEMORY, "%zu rows of %zu bytes", height, width_bytes);
    }
    CU_TRY(allocate(out, size_bytes, AllocationKind::kDevice, 0));
    *out_pitch = pitch;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemFree_v2(CUdeviceptr address) {
  return guard(__func__, [&] { return free_memory(address); });
}

CUresult cuMemAllocHost_v2(void** out, size_t size_bytes) {
  return guard(__func__, [&] { return allocate_host(out, size_bytes, 0); });
}

CUresult cuMemHostAlloc(void** out, size_t size_bytes, unsigned int flags) {
  return guard(__func__, [&] { return allocate_host(out, size_bytes, flags); });
}

CUresult cuMemFreeHost(void* pointer) {
  return guard(__func__,
               [&] { return free_host(pointer, AllocationKind::kHost, CUDA_ERROR_INVALID_VALUE); });
}

CUresult cuMemHostRegister_v2(void* pointer, size_t size_bytes, unsigned int flags) {
  return guard(__func__, [&] { return register_host(pointer, size_bytes, flags); });
}

CUresult cuMemHostRegister(void* pointer, size_t size_bytes, unsigned int flags) {
  return cuMemHostRegister_v2(pointer, size_bytes, flags);
}

CUresult cuMemHostUnregister(void* pointer) {
  return guard(__func__, [&] {
    return free_host(pointer, AllocationKind::kRegistered, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  });
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* out, void* pointer, unsigned int flags) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    if (flags != 0) return fail(CUDA_ERROR_INVALID_VALUE, "flags is %u; it must be 0", flags);
    const auto address = reinterpret_cast<uint64_t>(pointer);
    uint64_t begin = 0;
    Allocation found;
    if (!Driver::instance().find(address, &begin, &found) ||
        (found.kind != AllocationKind::kHost && found.kind != AllocationKind::kRegistered)) {
      return fail(CUDA_ERROR_INVALID_VALUE, "%p lies in no page-locked memory", pointer);
    }
    *out = found.memory->address() + (address - begin);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemHostGetFlags(unsigned int* flags, void* pointer) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(flags);
    uint64_t begin = 0;
    Allocation found;
    if (!Driver::instance().find(reinterpret_cast<uint64_t>(pointer), &begin, &found) ||
        found.kind != AllocationKind::kHost) {
      return fail(CUDA_ERROR_INVALID_VALUE, "%p lies in no page-locked memory", pointer);
    }
    *flags = found.flags;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr* out_begin, size_t* out_size, CUdeviceptr address) {
  return guard(__func__, [&]() -> CUresult {
    CU_CURRENT(context);
    MappedPlace mapped;
    if (VirtualMemory::instance().find(address, context->device().ordinal, &mapped)) {
      if (mapped.size_bytes == 0) return no_allocation(address);
      if (out_begin != nullptr) *out_begin = mapped.begin;
      if (out_size != nullptr) *out_size = mapped.size_bytes;
      return CUDA_SUCCESS;
    }
    Place place;
    if (!place.try_find(*context, address, 0)) return no_allocation(address);
    if (out_begin != nullptr) *out_begin = place.memory().address();
    if (out_size != nullptr) *out_size = place.memory().size_bytes();
    return CUDA_SUCCESS;
  });
}

}  // extern "C"

}  // namespace km::cu
