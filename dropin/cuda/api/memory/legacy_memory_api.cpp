// Entry points from before CUDA 3.2, with 32-bit addresses and sizes. Their allocations are below 4
// GiB; the other functions widen their arguments and call the newer versions.
#include <sys/mman.h>

#include <algorithm>
#include <atomic>

#include "dropin/cuda/context/allocation.h"
#include "dropin/cuda/memory/copy.h"
#include "dropin/cuda/stream/capture_rules.h"

namespace km::cu {

using namespace km::dropin;  // NOLINT

namespace {

constexpr uint64_t kLowBegin = uint64_t{256} << 20, kLowEnd = uint64_t{4} << 30;
constexpr uint64_t kLowStepBytes = uint64_t{2} << 20;
constexpr unsigned kPitchBytes = 512;

/// Maps zeroed pages below 4 GiB; null if there is no room.
void* map_low(uint64_t size_bytes) {
  static std::atomic<uint64_t> next{kLowBegin};  // after the last call's pages
  const uint64_t step = (size_bytes + kLowStepBytes - 1) / kLowStepBytes * kLowStepBytes;
  if (step > kLowEnd - kLowBegin) return nullptr;
  uint64_t address = next.load(std::memory_order_relaxed);
  for (uint64_t tried = kLowBegin; tried < kLowEnd; tried += kLowStepBytes) {
    if (address + step > kLowEnd) address = kLowBegin;
    void* const mapped =
        mmap(reinterpret_cast<void*>(address), step, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    address += kLowStepBytes;
    if (mapped == MAP_FAILED) continue;
    next.store(reinterpret_cast<uint64_t>(mapped) + step, std::memory_order_relaxed);
    return mapped;
  }
  return nullptr;
}

/// The pages of an allocation, unmapped when nothing uses them.
struct LowPages {
  void* address;
  uint64_t size_bytes;
  static void release(void* box) {
    const std::unique_ptr<LowPages> own(static_cast<LowPages*>(box));
    munmap(own->address, (own->size_bytes + kLowStepBytes - 1) / kLowStepBytes * kLowStepBytes);
  }
};

CUresult map_for(const dropin::Context& context, uint64_t size_bytes, Ref<km::Memory>* out) {
  void* const pages = map_low(size_bytes);
  if (pages == nullptr) {
    return fail(CUDA_ERROR_OUT_OF_MEMORY, "no %llu bytes are free below 4 GiB; use cuMemAlloc_v2",
                static_cast<unsigned long long>(size_bytes));
  }
  auto box = std::make_unique<LowPages>(LowPages{pages, size_bytes});
  auto memory = km::Memory::from_host(*context.core(), pages, size_bytes, 1);
  if (!memory) {
    LowPages::release(box.release());
    return result_of(memory.error());
  }
  (*memory)->set_release(&LowPages::release, box.release());
  *out = std::move(*memory);
  return CUDA_SUCCESS;
}

CUresult allocate_low(CUdeviceptr_v1* out, uint64_t size_bytes) {
  CU_REQUIRE(out);
  CU_CURRENT(context);
  CU_TRY(require_no_capture_of("allocating memory"));
  if (size_bytes == 0) return fail(CUDA_ERROR_INVALID_VALUE, "bytesize is 0");
  CU_TRY(context->device().reserve(size_bytes));
  Ref<km::Memory> memory;
  const CUresult mapped = map_for(*context, size_bytes, &memory);
  if (mapped != CUDA_SUCCESS) {
    context->device().unreserve(size_bytes);
    return mapped;
  }
  const uint64_t address = memory->address();
  keep_allocation(*context, std::move(memory), AllocationKind::kDevice, 0, address);
  *out = static_cast<CUdeviceptr_v1>(address);
  return CUDA_SUCCESS;
}

unsigned clamped(size_t value) {
  return static_cast<unsigned>(std::min<size_t>(value, UINT32_MAX));
}

/// Fails if an address from a current version of the API does not fit into 32 bits.
CUresult narrow(CUdeviceptr address, CUdeviceptr_v1* out) {
  if (address > UINT32_MAX) {
    return fail(CUDA_ERROR_INVALID_VALUE,
                "0x%llx does not fit the 32 bits of this version of the function; use the newest",
                address);
  }
  if (out != nullptr) *out = static_cast<CUdeviceptr_v1>(address);
  return CUDA_SUCCESS;
}

CUDA_MEMCPY2D widened(const CUDA_MEMCPY2D_v1& old) {
  return {old.srcXInBytes, old.srcY,          old.srcMemoryType, old.srcHost,
          old.srcDevice,   old.srcArray,      old.srcPitch,      old.dstXInBytes,
          old.dstY,        old.dstMemoryType, old.dstHost,       old.dstDevice,
          old.dstArray,    old.dstPitch,      old.WidthInBytes,  old.Height};
}

CUDA_MEMCPY3D widened(const CUDA_MEMCPY3D_v1& old) {
  return {old.srcXInBytes,   old.srcY,        old.srcZ,         old.srcLOD,   old.srcMemoryType,
          old.srcHost,       old.srcDevice,   old.srcArray,     nullptr,      old.srcPitch,
          old.srcHeight,     old.dstXInBytes, old.dstY,         old.dstZ,     old.dstLOD,
          old.dstMemoryType, old.dstHost,     old.dstDevice,    old.dstArray, nullptr,
          old.dstPitch,      old.dstHeight,   old.WidthInBytes, old.Height,   old.Depth};
}

}  // namespace

extern "C" {

CUresult cuMemGetInfo(unsigned int* free_bytes, unsigned int* total_bytes) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(free_bytes);
    CU_REQUIRE(total_bytes);
    size_t free = 0, total = 0;
    CU_TRY(cuMemGetInfo_v2(&free, &total));
    *free_bytes = clamped(free);
    *total_bytes = clamped(total);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemAlloc(CUdeviceptr_v1* out, unsigned int size_bytes) {
  return guard(__func__, [&] { return allocate_low(out, size_bytes); });
}

CUresult cuMemAllocPitch(CUdeviceptr_v1* out, unsigned int* out_pitch, unsigned int width_bytes,
                         unsigned int height, unsigned int element_size_bytes) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out_pitch);
    const bool known_size =
        element_size_bytes == 4 || element_size_bytes == 8 || element_size_bytes == 16;
    if (!known_size || width_bytes == 0 || height == 0) {
      return fail(CUDA_ERROR_INVALID_VALUE, "width %u, height %u, elements of %u bytes",
                  width_bytes, height, element_size_bytes);
    }
    const uint64_t pitch = (uint64_t{width_bytes} + kPitchBytes - 1) / kPitchBytes * kPitchBytes;
    if (pitch * height > kLowEnd) {
      return fail(CUDA_ERROR_OUT_OF_MEMORY, "%u rows of %u bytes", height, width_bytes);
    }
    CU_TRY(allocate_low(out, pitch * height));
    *out_pitch = static_cast<unsigned>(pitch);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemFree(CUdeviceptr_v1 address) { return cuMemFree_v2(address); }

CUresult cuMemAllocHost(void** out, unsigned int size_bytes) {
  return cuMemAllocHost_v2(out, size_bytes);
}

CUresult cuMemHostGetDevicePointer(CUdeviceptr_v1* out, void* pointer, unsigned int flags) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    CUdeviceptr address = 0;
    CU_TRY(cuMemHostGetDevicePointer_v2(&address, pointer, flags));
    return narrow(address, out);
  });
}

CUresult cuMemGetAddressRange(CUdeviceptr_v1* out_begin, unsigned int* out_size,
                              CUdeviceptr_v1 address) {
  return guard(__func__, [&]() -> CUresult {
    CUdeviceptr begin = 0;
    size_t size_bytes = 0;
    CU_TRY(cuMemGetAddressRange_v2(&begin, &size_bytes, address));
    CU_TRY(narrow(begin, out_begin));
    if (out_size != nullptr) *out_size = clamped(size_bytes);
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleGetGlobal(CUdeviceptr_v1* out, unsigned int* out_bytes, CUmodule module,
                           const char* name) {
  return guard(__func__, [&]() -> CUresult {
    CUdeviceptr address = 0;
    size_t size_bytes = 0;
    CU_TRY(cuModuleGetGlobal_v2(&address, &size_bytes, module, name));
    if (out != nullptr) CU_TRY(narrow(address, out));
    if (out_bytes != nullptr) *out_bytes = clamped(size_bytes);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemcpyHtoD(CUdeviceptr_v1 to, const void* from, unsigned int size_bytes) {
  return cuMemcpyHtoD_v2(to, from, size_bytes);
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr_v1 to, const void* from, unsigned int size_bytes,
                           CUstream stream) {
  return cuMemcpyHtoDAsync_v2(to, from, size_bytes, stream);
}

CUresult cuMemcpyDtoH(void* to, CUdeviceptr_v1 from, unsigned int size_bytes) {
  return cuMemcpyDtoH_v2(to, from, size_bytes);
}

CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr_v1 from, unsigned int size_bytes,
                           CUstream stream) {
  return cuMemcpyDtoHAsync_v2(to, from, size_bytes, stream);
}

CUresult cuMemcpyDtoD(CUdeviceptr_v1 to, CUdeviceptr_v1 from, unsigned int size_bytes) {
  return cuMemcpyDtoD_v2(to, from, size_bytes);
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr_v1 to, CUdeviceptr_v1 from, unsigned int size_bytes,
                           CUstream stream) {
  return cuMemcpyDtoDAsync_v2(to, from, size_bytes, stream);
}

CUresult cuMemcpy2D(const CUDA_MEMCPY2D_v1* copy) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(copy);
    return run_copy_3d(nullptr, as_3d(widened(*copy)), true);
  });
}

CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D_v1* copy) { return cuMemcpy2D(copy); }

CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D_v1* copy, CUstream stream) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(copy);
    return run_copy_3d(stream, as_3d(widened(*copy)), false);
  });
}

CUresult cuMemcpy3D(const CUDA_MEMCPY3D_v1* copy) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(copy);
    return run_copy_3d(nullptr, widened(*copy), true);
  });
}

CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D_v1* copy, CUstream stream) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(copy);
    return run_copy_3d(stream, widened(*copy), false);
  });
}

CUresult cuMemsetD8(CUdeviceptr_v1 to, unsigned char value, unsigned int count) {
  return cuMemsetD8_v2(to, value, count);
}

CUresult cuMemsetD16(CUdeviceptr_v1 to, unsigned short value, unsigned int count) {
  return cuMemsetD16_v2(to, value, count);
}

CUresult cuMemsetD32(CUdeviceptr_v1 to, unsigned int value, unsigned int count) {
  return cuMemsetD32_v2(to, value, count);
}

CUresult cuMemsetD2D8(CUdeviceptr_v1 to, unsigned int pitch_bytes, unsigned char value,
                      unsigned int width, unsigned int height) {
  return cuMemsetD2D8_v2(to, pitch_bytes, value, width, height);
}

CUresult cuMemsetD2D16(CUdeviceptr_v1 to, unsigned int pitch_bytes, unsigned short value,
                       unsigned int width, unsigned int height) {
  return cuMemsetD2D16_v2(to, pitch_bytes, value, width, height);
}

CUresult cuMemsetD2D32(CUdeviceptr_v1 to, unsigned int pitch_bytes, unsigned int value,
                       unsigned int width, unsigned int height) {
  return cuMemsetD2D32_v2(to, pitch_bytes, value, width, height);
}

}  // extern "C"

}  // namespace km::cu
