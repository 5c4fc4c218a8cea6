// Memory: the device's is the host's.
#include <sys/mman.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "fake_cuda/queue.h"

namespace km::cu {
namespace {

constexpr size_t kAlignBytes = 512;

CUresult allocate(Context& context, CUdeviceptr* out, size_t size, CUmemoryPool pool = nullptr,
                  bool is_managed = false) {
  if (size == 0) return CUDA_ERROR_INVALID_VALUE;
  if (size > kTotalBytes || used_bytes(context.device) > kTotalBytes - size) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  const size_t rounded = (size + kAlignBytes - 1) / kAlignBytes * kAlignBytes;
  void* memory = std::aligned_alloc(kAlignBytes, rounded);
  if (memory == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  const auto address = reinterpret_cast<uint64_t>(memory);
  add_object_at(address, {"memory", context.device, size, std::shared_ptr<void>(memory, std::free),
                          pool, is_managed});
  *out = address;
  return CUDA_SUCCESS;
}

CUresult release(CUdeviceptr address) {
  return remove_object("memory", reinterpret_cast<void*>(address)) ? CUDA_SUCCESS
                                                                   : CUDA_ERROR_INVALID_VALUE;
}

template <class Value>
CUresult set_rows(CUdeviceptr to, size_t pitch, Value value, size_t width, size_t height) {
  const uint64_t extent = (height - 1) * pitch + width * sizeof value;
  if (const CUresult bad = check_device_range(to, extent)) return bad;
  for (size_t y = 0; y < height; ++y) {
    for (size_t x = 0; x < width; ++x) {
      std::memcpy(reinterpret_cast<char*>(to + y * pitch) + x * sizeof value, &value, sizeof value);
    }
  }
  return CUDA_SUCCESS;
}

/// Queues a move of bytes; a host side that is not page-locked is read or written when it returns.
CUresult move_bytes(const Call& call, uint64_t to, uint64_t from, size_t size, CUstream stream,
                    bool is_pinned) {
  KM_FAKE_QUEUE(stream);
  const CUresult result = queue->submit({.run = [=](Context&) -> CUresult {
    std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), size);
    return CUDA_SUCCESS;
  }});
  if (is_pinned) return result;
  call.unlock();
  queue->wait();
  return result;
}

bool is_pinned(const void* pointer, size_t size) {
  return find_range("page-locked memory", reinterpret_cast<uint64_t>(pointer), size) != nullptr;
}

bool is_writable(uint64_t address) {
  std::FILE* const maps = std::fopen("/proc/self/maps", "re");
  if (maps == nullptr) return true;
  char line[512], mode[8];
  bool is_it = false, is_found = false;
  while (!is_found && std::fgets(line, sizeof line, maps) != nullptr) {
    uint64_t begin = 0, end = 0;
    if (std::sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s", &begin, &end, mode) != 3) continue;
    is_found = begin <= address && address < end;
    is_it = is_found && mode[1] == 'w';
  }
  std::fclose(maps);
  return is_it;
}

template <class Value>
CUresult queue_rows(CUstream stream, CUdeviceptr to, size_t pitch, Value value, size_t width,
                    size_t height) {
  KM_FAKE_QUEUE(stream);
  const uint64_t extent = (height - 1) * pitch + width * sizeof value;
  if (const CUresult bad = check_device_range(to, extent)) return bad;
  return queue->submit(
      {.run = [=](Context&) { return set_rows(to, pitch, value, width, height); }});
}

}  // namespace

CUresult check_device_range(uint64_t address, uint64_t size_bytes) {
  for (const char* kind : {"memory", "page-locked memory", "variable"}) {
    if (find_range(kind, address, size_bytes) != nullptr) return CUDA_SUCCESS;
  }
  const uint64_t page = address & ~uint64_t{4095};
  if (script_says("pageable") &&
      msync(reinterpret_cast<void*>(page), address - page + size_bytes, MS_ASYNC) == 0) {
    return CUDA_SUCCESS;  // the device reads all memory of the process
  }
  return misuse(CUDA_ERROR_INVALID_VALUE, "a device address");
}

bool is_beyond_memory_ops(uint64_t address) {
  const Object* memory = find_range("memory", address, 1);
  return memory != nullptr && (memory->pool != nullptr || memory->is_managed);
}

CUresult copy_rows(const CUDA_MEMCPY3D& copy) {
  const auto place = [](CUmemorytype type, CUdeviceptr device, const void* host) {
    return type == CU_MEMORYTYPE_DEVICE ? device : reinterpret_cast<uint64_t>(host);
  };
  const uint64_t to = place(copy.dstMemoryType, copy.dstDevice, copy.dstHost);
  const uint64_t from = place(copy.srcMemoryType, copy.srcDevice, copy.srcHost);
  for (size_t z = 0; z < copy.Depth; ++z) {
    for (size_t y = 0; y < copy.Height; ++y) {
      const uint64_t target = to + (z * copy.dstHeight + y) * copy.dstPitch;
      const uint64_t source = from + (z * copy.srcHeight + y) * copy.srcPitch;
      for (const auto& [type, address] :
           {std::pair(copy.dstMemoryType, target), std::pair(copy.srcMemoryType, source)}) {
        if (type != CU_MEMORYTYPE_DEVICE) continue;
        if (const CUresult bad = check_device_range(address, copy.WidthInBytes)) return bad;
      }
      std::memmove(reinterpret_cast<void*>(target), reinterpret_cast<const void*>(source),
                   copy.WidthInBytes);
    }
  }
  return CUDA_SUCCESS;
}

extern "C" {

CUresult cuMemAlloc_v2(CUdeviceptr* out, size_t size) {
  KM_FAKE_CALL(context);
  return allocate(call.context(), out, size);
}

CUresult cuMemAllocManaged(CUdeviceptr* out, size_t size, unsigned int flags) {
  KM_FAKE_CALL(context);
  if (flags != CU_MEM_ATTACH_GLOBAL) return misuse(CUDA_ERROR_INVALID_VALUE, "flags");
  return allocate(call.context(), out, size, nullptr, true);
}

CUresult cuMemFree_v2(CUdeviceptr address) {
  const Call call(__func__, Call::Needs::context);
  const CUresult done = release(address);
  return call.result() != CUDA_SUCCESS ? call.result() : done;
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* out, size_t size, CUmemoryPool pool,
                                 CUstream stream) {
  KM_FAKE_CALL(context);
  if (find_object("pool", pool) == nullptr) return CUDA_ERROR_INVALID_VALUE;
  KM_FAKE_QUEUE(stream);
  return allocate(call.context(), out, size, pool);
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  const Call call(__func__, Call::Needs::context);
  KM_FAKE_QUEUE(stream);
  const CUresult done = queue->submit({.run = [=](Context&) -> CUresult {
                                         const std::lock_guard lock(state_mutex());
                                         return find_quietly("memory", address) != nullptr
                                                    ? release(address)
                                                    : CUDA_SUCCESS;
                                       },
                                       .is_mark = true});
  return call.result() != CUDA_SUCCESS ? call.result() : done;
}

CUresult cuMemGetInfo_v2(size_t* free_bytes, size_t* total_bytes) {
  KM_FAKE_CALL(context);
  *free_bytes = kTotalBytes - used_bytes(call.context().device);
  *total_bytes = kTotalBytes;
  return CUDA_SUCCESS;
}

CUresult cuMemPoolCreate(CUmemoryPool* out, const CUmemPoolProps* properties) {
  KM_FAKE_CALL(context);
  if (properties->location.id != call.context().device) return CUDA_ERROR_INVALID_VALUE;
  *out = static_cast<CUmemoryPool>(add_object("pool", call.context().device));
  return CUDA_SUCCESS;
}

CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  const Call call(__func__, Call::Needs::context);
  return remove_object("pool", pool) ? call.result() : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute, void*) {
  KM_FAKE_CALL(context);
  return find_object("pool", pool) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute, void* out) {
  KM_FAKE_CALL(context);
  const cuuint64_t used = used_bytes(call.context().device);
  std::memcpy(out, &used, sizeof used);
  return find_object("pool", pool) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc*, size_t) {
  KM_FAKE_CALL(context);
  return find_object("pool", pool) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuPointerGetAttribute(void* out, CUpointer_attribute attribute, CUdeviceptr address) {
  KM_FAKE_CALL(context);
  const Object* memory = find_range("memory", address, 1);
  if (attribute == CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE) {
    *static_cast<CUmemoryPool*>(out) = memory != nullptr ? memory->pool : nullptr;
    return CUDA_SUCCESS;
  }
  if (attribute != CU_POINTER_ATTRIBUTE_IS_MANAGED) return CUDA_ERROR_NOT_SUPPORTED;
  *static_cast<unsigned*>(out) = memory != nullptr && memory->is_managed;
  return CUDA_SUCCESS;
}

CUresult cuMemHostRegister_v2(void* pointer, size_t size, unsigned int flags) {
  KM_FAKE_CALL(context);
  const auto address = reinterpret_cast<uint64_t>(pointer);
  if (find_range("page-locked memory", address, 1) != nullptr) {
    return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  }
  const uint64_t page = address & ~uint64_t{4095};
  if (msync(reinterpret_cast<void*>(page), address - page + size, MS_ASYNC) != 0) {
    return CUDA_ERROR_INVALID_VALUE;  // nothing is mapped there
  }
  if ((flags & CU_MEMHOSTREGISTER_READ_ONLY) == 0 && !is_writable(address)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  add_object_at(address, {"page-locked memory", call.context().device, size, nullptr});
  return CUDA_SUCCESS;
}

CUresult cuMemHostUnregister(void* pointer) {
  const Call call(__func__, Call::Needs::context);
  const bool was = remove_object("page-locked memory", pointer);
  return was ? call.result() : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* out, void* pointer, unsigned int) {
  KM_FAKE_CALL(context);
  *out = reinterpret_cast<uint64_t>(pointer);
  return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t size, CUstream stream) {
  KM_FAKE_CALL(context);
  if (const CUresult bad = check_device_range(to, size)) return bad;
  return move_bytes(call, to, reinterpret_cast<uint64_t>(from), size, stream,
                    is_pinned(from, size));
}

CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t size, CUstream stream) {
  KM_FAKE_CALL(context);
  if (const CUresult bad = check_device_range(from, size)) return bad;
  return move_bytes(call, reinterpret_cast<uint64_t>(to), from, size, stream, is_pinned(to, size));
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream) {
  KM_FAKE_CALL(context);
  if (const CUresult bad = check_device_range(to, size)) return bad;
  if (const CUresult bad = check_device_range(from, size)) return bad;
  return move_bytes(call, to, from, size, stream, true);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t size,
                           CUstream stream) {
  KM_FAKE_CALL(context);
  return move_bytes(call, to, from, size, stream, true);
}

CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* copy, CUstream stream) {
  KM_FAKE_CALL(context);
  KM_FAKE_QUEUE(stream);
  return queue->submit({.run = [copy = *copy](Context&) { return copy_rows(copy); }});
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
  KM_FAKE_CALL(context);
  return queue_rows(stream, to, 0, value, count, 1);
}

CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
  KM_FAKE_CALL(context);
  return queue_rows(stream, to, 0, value, count, 1);
}

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned int value, size_t count, CUstream stream) {
  KM_FAKE_CALL(context);
  return queue_rows(stream, to, 0, value, count, 1);
}

CUresult cuMemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char value, size_t width,
                           size_t height, CUstream stream) {
  KM_FAKE_CALL(context);
  return queue_rows(stream, to, pitch, value, width, height);
}

CUresult cuMemsetD2D16Async(CUdeviceptr to, size_t pitch, unsigned short value, size_t width,
                            size_t height, CUstream stream) {
  KM_FAKE_CALL(context);
  return queue_rows(stream, to, pitch, value, width, height);
}

CUresult cuMemsetD2D32Async(CUdeviceptr to, size_t pitch, unsigned int value, size_t width,
                            size_t height, CUstream stream) {
  KM_FAKE_CALL(context);
  return queue_rows(stream, to, pitch, value, width, height);
}
}

}  // namespace km::cu
