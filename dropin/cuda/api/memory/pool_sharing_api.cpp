// Memory pools shared with other processes of this machine. A file in memory represents the pool;
// each allocation is shared by a handle of its own, like memory from cuMemAlloc.
#include <unistd.h>

#include <cstring>

#include "dropin/cuda/frame/host_place.h"
#include "dropin/cuda/ipc/ipc.h"
#include "dropin/cuda/memory/pool.h"

namespace km::cu {

using namespace km::dropin;  // NOLINT

namespace {

constexpr uint64_t kPoolBytes = 64;  // size of CUmemPoolPtrExportData
static_assert(sizeof(IpcHandle) <= kPoolBytes);
/// The bytes of a CUmemPoolPtrExportData, which the program keeps.
struct SharedPointer {
  char bytes[kPoolBytes];
};

/// The content of the file that represents a pool.
struct SharedPool {
  uint64_t kind = kIpcPool;
  int32_t process = 0, device = 0;
};

CUresult require_descriptor(CUmemAllocationHandleType type, unsigned long long flags) {
  if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {
    return fail(CUDA_ERROR_NOT_SUPPORTED,
                "pools are shared by file descriptors only; the type of handles is %d", type);
  }
  if (flags != 0) return fail(CUDA_ERROR_INVALID_VALUE, "flags is %llu; it must be 0", flags);
  return CUDA_SUCCESS;
}

CUresult export_pool(const dropin::Pool& pool, void* out) {
  if (!pool.can_be_shared()) {
    return fail(CUDA_ERROR_INVALID_VALUE,
                "the pool was made without CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, which shared "
                "ones need, or is another process's");
  }
  SharedPool content;
  content.process = getpid();
  content.device = pool.device().ordinal;
  CU_ASSIGN(File file, create_shared_memory_file("kernelmill-pool", kPoolBytes));
  if (pwrite(file.get(), &content, sizeof content, 0) != static_cast<ssize_t>(sizeof content)) {
    return fail(CUDA_ERROR_OPERATING_SYSTEM, "the pool's file cannot be written");
  }
  CU_TRY(write_place("handle_out", static_cast<int*>(out), file.get()));
  file.release();
  return CUDA_SUCCESS;
}

CUresult import_pool(int descriptor, CUmemoryPool* out) {
  SharedPool content;
  if (!has_fixed_size(descriptor) ||
      pread(descriptor, &content, sizeof content, 0) != static_cast<ssize_t>(sizeof content) ||
      content.kind != kIpcPool) {
    return fail(CUDA_ERROR_INVALID_VALUE, "descriptor %d does not refer to a pool of this library",
                descriptor);
  }
  CU_DEVICE(device, content.device);
  return write_place("pool_out", out, publish(dropin::Pool::imported(*device, content.process)));
}

/// True if the allocation is from a live pool that was created for sharing.
bool is_shared(const Allocation& allocation) {
  if (allocation.pool_id == 0) return false;
  const Pin<dropin::Pool> pool(reinterpret_cast<CUmemoryPool>(allocation.pool_id));
  return pool && pool->can_be_shared();
}

CUresult export_pointer(CUdeviceptr address, CUmemPoolPtrExportData* out) {
  uint64_t begin = 0;
  Allocation found;
  if (!Driver::instance().find(address, &begin, &found) || !is_shared(found)) {
    return fail(CUDA_ERROR_INVALID_VALUE, "0x%llx is not in memory of a pool that is shared",
                address);
  }
  CU_ASSIGN(const kmb_shared_memory shared, found.memory->share());
  IpcHandle handle;
  CU_TRY(describe_file(shared.file, kIpcPool, &handle));
  handle.offset_bytes = shared.offset_bytes;
  handle.size_bytes = found.size_bytes;
  SharedPointer data = {};
  std::memcpy(&data, &handle, sizeof handle);
  return write_place("shareData_out", reinterpret_cast<SharedPointer*>(out), data);
}

CUresult import_pointer(const dropin::Pool& pool, const CUmemPoolPtrExportData* data,
                        CUdeviceptr* out) {
  SharedPointer given;
  IpcHandle handle;
  CU_TRY(read_place("shareData", reinterpret_cast<const SharedPointer*>(data), &given));
  std::memcpy(static_cast<void*>(&handle), &given, sizeof handle);
  if (handle.process != pool.exporter()) {
    return fail(CUDA_ERROR_INVALID_VALUE,
                "the pool is of process %d (0: not imported), the memory of process %d",
                pool.exporter(), handle.process);
  }
  CU_CURRENT(context);
  File file(-1);
  CU_TRY(open_file_of(handle, kIpcPool, &file));
  Ref<km::Memory> memory;
  CU_TRY(map_shared(*context, file, handle.file_size_bytes, handle.offset_bytes, handle.size_bytes,
                    &memory));
  CU_TRY(pool.device().reserve(handle.size_bytes));  // undone when the memory is freed
  Allocation made;
  const uint64_t address = memory->address();
  made.memory = std::move(memory);
  made.size_bytes = handle.size_bytes;
  made.device = pool.device().ordinal;
  made.context_id = context->id();
  made.pool_id = pool.id();
  Driver::instance().add(address, std::move(made));
  return write_place("ptr_out", out, static_cast<CUdeviceptr>(address));
}

}  // namespace

extern "C" {

CUresult cuMemPoolExportToShareableHandle(void* out, CUmemoryPool handle,
                                          CUmemAllocationHandleType type,
                                          unsigned long long flags) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    CU_GET(Pool, pool, handle);
    CU_TRY(require_descriptor(type, flags));
    return export_pool(*pool, out);
  });
}

CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool* out, void* handle,
                                            CUmemAllocationHandleType type,
                                            unsigned long long flags) {
  return guard(__func__, [&]() -> CUresult {
    CU_TRY(require_place("pool_out", out));
    CU_TRY(require_descriptor(type, flags));
    return import_pool(static_cast<int>(reinterpret_cast<intptr_t>(handle)), out);
  });
}

CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData* out, CUdeviceptr address) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    return export_pointer(address, out);
  });
}

CUresult cuMemPoolImportPointer(CUdeviceptr* out, CUmemoryPool handle,
                                CUmemPoolPtrExportData* data) {
  return guard(__func__, [&]() -> CUresult {
    CU_TRY(require_place("ptr_out", out));
    CU_GET(Pool, pool, handle);
    return import_pointer(*pool, data, out);
  });
}

}  // extern "C"

}  // namespace km::cu
