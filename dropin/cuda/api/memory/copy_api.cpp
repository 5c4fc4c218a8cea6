// Copies and fills in every form of the API.
#include "dropin/cuda/memory/copy.h"

#include <cstring>

#include "dropin/cuda/memory/place.h"

namespace km::cu {

using namespace km::dropin;  // NOLINT

namespace {

constexpr CUstream kLegacy = nullptr;

uint64_t address_of(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

CUstream thread_stream() { return per_thread(nullptr); }

CUresult upload_bytes(CUstream stream, CUdeviceptr to, const void* from, size_t size_bytes,
                      bool waits) {
  return run_copy(stream, {Side::kDevice, Side::kHost, to, address_of(from), size_bytes}, waits);
}

CUresult download_bytes(CUstream stream, void* to, CUdeviceptr from, size_t size_bytes,
                        bool waits) {
  return run_copy(stream, {Side::kHost, Side::kDevice, address_of(to), from, size_bytes}, waits);
}

CUresult copy_bytes(CUstream stream, CUdeviceptr to, CUdeviceptr from, size_t size_bytes) {
  return run_copy(stream, {Side::kDevice, Side::kDevice, to, from, size_bytes}, false);
}

CUresult unified_bytes(CUstream stream, CUdeviceptr to, CUdeviceptr from, size_t size_bytes,
                       bool waits) {
  return run_copy(stream, {Side::kUnified, Side::kUnified, to, from, size_bytes}, waits);
}

/// Context handles are only checked: an address alone identifies its context.
CUresult check_context(CUcontext handle) {
  if (Pin<dropin::Context>(handle)) return CUDA_SUCCESS;
  return fail(CUDA_ERROR_INVALID_CONTEXT, "the context is not a live handle");
}

CUresult peer_bytes(CUstream stream, CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                    CUcontext from_context, size_t size_bytes) {
  CU_TRY(check_context(to_context));
  CU_TRY(check_context(from_context));
  return copy_bytes(stream, to, from, size_bytes);
}

CUresult copy_2d(CUstream stream, const CUDA_MEMCPY2D* copy, bool waits) {
  CU_REQUIRE(copy);
  return run_copy_3d(stream, as_3d(*copy), waits);
}

CUresult copy_3d(CUstream stream, const CUDA_MEMCPY3D* copy, bool waits) {
  CU_REQUIRE(copy);
  return run_copy_3d(stream, *copy, waits);
}

CUresult peer_3d(CUstream stream, const CUDA_MEMCPY3D_PEER* copy, bool waits) {
  CU_REQUIRE(copy);
  // The context is ignored if the side is an array or host memory.
  if (copy->dstMemoryType == CU_MEMORYTYPE_DEVICE) CU_TRY(check_context(copy->dstContext));
  if (copy->srcMemoryType == CU_MEMORYTYPE_DEVICE) CU_TRY(check_context(copy->srcContext));
  static_assert(sizeof(CUDA_MEMCPY3D_PEER) == sizeof(CUDA_MEMCPY3D));
  CUDA_MEMCPY3D plain;
  std::memcpy(&plain, copy, sizeof plain);  // the peer form has contexts in place of reserved words
  return run_copy_3d(stream, plain, waits);
}

}  // namespace

extern "C" {

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t size_bytes) {
  return guard(__func__, [&] { return upload_bytes(kLegacy, to, from, size_bytes, true); });
}

CUresult cuMemcpyHtoD_v2_ptds(CUdeviceptr to, const void* from, size_t size_bytes) {
  return guard(__func__, [&] { return upload_bytes(thread_stream(), to, from, size_bytes, true); });
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t size_bytes,
                              CUstream stream) {
  return guard(__func__, [&] { return upload_bytes(stream, to, from, size_bytes, false); });
}

CUresult cuMemcpyHtoDAsync_v2_ptsz(CUdeviceptr to, const void* from, size_t size_bytes,
                                   CUstream stream) {
  return guard(__func__,
               [&] { return upload_bytes(per_thread(stream), to, from, size_bytes, false); });
}

CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, size_t size_bytes) {
  return guard(__func__, [&] { return download_bytes(kLegacy, to, from, size_bytes, true); });
}

CUresult cuMemcpyDtoH_v2_ptds(void* to, CUdeviceptr from, size_t size_bytes) {
  return guard(__func__,
               [&] { return download_bytes(thread_stream(), to, from, size_bytes, true); });
}

CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t size_bytes, CUstream stream) {
  return guard(__func__, [&] { return download_bytes(stream, to, from, size_bytes, false); });
}

CUresult cuMemcpyDtoHAsync_v2_ptsz(void* to, CUdeviceptr from, size_t size_bytes, CUstream stream) {
  return guard(__func__,
               [&] { return download_bytes(per_thread(stream), to, from, size_bytes, false); });
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t size_bytes) {
  return guard(__func__, [&] { return copy_bytes(kLegacy, to, from, size_bytes); });
}

CUresult cuMemcpyDtoD_v2_ptds(CUdeviceptr to, CUdeviceptr from, size_t size_bytes) {
  return guard(__func__, [&] { return copy_bytes(thread_stream(), to, from, size_bytes); });
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t size_bytes,
                              CUstream stream) {
  return guard(__func__, [&] { return copy_bytes(stream, to, from, size_bytes); });
}

CUresult cuMemcpyDtoDAsync_v2_ptsz(CUdeviceptr to, CUdeviceptr from, size_t size_bytes,
                                   CUstream stream) {
  return guard(__func__, [&] { return copy_bytes(per_thread(stream), to, from, size_bytes); });
}

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t size_bytes) {
  return guard(__func__, [&] { return unified_bytes(kLegacy, to, from, size_bytes, true); });
}

CUresult cuMemcpy_ptds(CUdeviceptr to, CUdeviceptr from, size_t size_bytes) {
  return guard(__func__,
               [&] { return unified_bytes(thread_stream(), to, from, size_bytes, true); });
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t size_bytes, CUstream stream) {
  return guard(__func__, [&] { return unified_bytes(stream, to, from, size_bytes, false); });
}

CUresult cuMemcpyAsync_ptsz(CUdeviceptr to, CUdeviceptr from, size_t size_bytes, CUstream stream) {
  return guard(__func__,
               [&] { return unified_bytes(per_thread(stream), to, from, size_bytes, false); });
}

CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                      CUcontext from_context, size_t size_bytes) {
  return guard(__func__,
               [&] { return peer_bytes(kLegacy, to, to_context, from, from_context, size_bytes); });
}

CUresult cuMemcpyPeer_ptds(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                           CUcontext from_context, size_t size_bytes) {
  return guard(__func__, [&] {
    return peer_bytes(thread_stream(), to, to_context, from, from_context, size_bytes);
  });
}

CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                           CUcontext from_context, size_t size_bytes, CUstream stream) {
  return guard(__func__,
               [&] { return peer_bytes(stream, to, to_context, from, from_context, size_bytes); });
}

CUresult cuMemcpyPeerAsync_ptsz(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                                CUcontext from_context, size_t size_bytes, CUstream stream) {
  return guard(__func__, [&] {
    return peer_bytes(per_thread(stream), to, to_context, from, from_context, size_bytes);
  });
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D* copy) {
  return guard(__func__, [&] { return copy_2d(kLegacy, copy, true); });
}

CUresult cuMemcpy2D_v2_ptds(const CUDA_MEMCPY2D* copy) {
  return guard(__func__, [&] { return copy_2d(thread_stream(), copy, true); });
}

CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* copy) {
  return guard(__func__, [&] { return copy_2d(kLegacy, copy, true); });
}

CUresult cuMemcpy2DUnaligned_v2_ptds(const CUDA_MEMCPY2D* copy) {
  return guard(__func__, [&] { return copy_2d(thread_stream(), copy, true); });
}

CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* copy, CUstream stream) {
  return guard(__func__, [&] { return copy_2d(stream, copy, false); });
}

CUresult cuMemcpy2DAsync_v2_ptsz(const CUDA_MEMCPY2D* copy, CUstream stream) {
  return guard(__func__, [&] { return copy_2d(per_thread(stream), copy, false); });
}

CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* copy) {
  return guard(__func__, [&] { return copy_3d(kLegacy, copy, true); });
}

CUresult cuMemcpy3D_v2_ptds(const CUDA_MEMCPY3D* copy) {
  return guard(__func__, [&] { return copy_3d(thread_stream(), copy, true); });
}

CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* copy, CUstream stream) {
  return guard(__func__, [&] { return copy_3d(stream, copy, false); });
}

CUresult cuMemcpy3DAsync_v2_ptsz(const CUDA_MEMCPY3D* copy, CUstream stream) {
  return guard(__func__, [&] { return copy_3d(per_thread(stream), copy, false); });
}

CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* copy) {
  return guard(__func__, [&] { return peer_3d(kLegacy, copy, true); });
}

CUresult cuMemcpy3DPeer_ptds(const CUDA_MEMCPY3D_PEER* copy) {
  return guard(__func__, [&] { return peer_3d(thread_stream(), copy, true); });
}

CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* copy, CUstream stream) {
  return guard(__func__, [&] { return peer_3d(stream, copy, false); });
}

CUresult cuMemcpy3DPeerAsync_ptsz(const CUDA_MEMCPY3D_PEER* copy, CUstream stream) {
  return guard(__func__, [&] { return peer_3d(per_thread(stream), copy, false); });
}

CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count) {
  return guard(__func__, [&] { return run_fill(kLegacy, {to, 0, value, 1, count, 1}, true); });
}

CUresult cuMemsetD8_v2_ptds(CUdeviceptr to, unsigned char value, size_t count) {
  return guard(__func__,
               [&] { return run_fill(thread_stream(), {to, 0, value, 1, count, 1}, true); });
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
  return guard(__func__, [&] { return run_fill(stream, {to, 0, value, 1, count, 1}, false); });
}

CUresult cuMemsetD8Async_ptsz(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
  return guard(__func__,
               [&] { return run_fill(per_thread(stream), {to, 0, value, 1, count, 1}, false); });
}

CUresult cuMemsetD2D8_v2(CUdeviceptr to, size_t pitch_bytes, unsigned char value, size_t width,
                         size_t height) {
  return guard(__func__,
               [&] { return run_fill(kLegacy, {to, pitch_bytes, value, 1, width, height}, true); });
}

CUresult cuMemsetD2D8_v2_ptds(CUdeviceptr to, size_t pitch_bytes, unsigned char value, size_t width,
                              size_t height) {
  return guard(__func__, [&] {
    return run_fill(thread_stream(), {to, pitch_bytes, value, 1, width, height}, true);
  });
}

CUresult cuMemsetD2D8Async(CUdeviceptr to, size_t pitch_bytes, unsigned char value, size_t width,
                           size_t height, CUstream stream) {
  return guard(__func__,
               [&] { return run_fill(stream, {to, pitch_bytes, value, 1, width, height}, false); });
}

CUresult cuMemsetD2D8Async_ptsz(CUdeviceptr to, size_t pitch_bytes, unsigned char value,
                                size_t width, size_t height, CUstream stream) {
  return guard(__func__, [&] {
    return run_fill(per_thread(stream), {to, pitch_bytes, value, 1, width, height}, false);
  });
}

CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t count) {
  return guard(__func__, [&] { return run_fill(kLegacy, {to, 0, value, 2, count, 1}, true); });
}

CUresult cuMemsetD16_v2_ptds(CUdeviceptr to, unsigned short value, size_t count) {
  return guard(__func__,
               [&] { return run_fill(thread_stream(), {to, 0, value, 2, count, 1}, true); });
}

CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
  return guard(__func__, [&] { return run_fill(stream, {to, 0, value, 2, count, 1}, false); });
}

CUresult cuMemsetD16Async_ptsz(CUdeviceptr to, unsigned short value, size_t count,
                               CUstream stream) {
  return guard(__func__,
               [&] { return run_fill(per_thread(stream), {to, 0, value, 2, count, 1}, false); });
}

CUresult cuMemsetD2D16_v2(CUdeviceptr to, size_t pitch_bytes, unsigned short value, size_t width,
                          size_t height) {
  return guard(__func__,
               [&] { return run_fill(kLegacy, {to, pitch_bytes, value, 2, width, height}, true); });
}

CUresult cuMemsetD2D16_v2_ptds(CUdeviceptr to, size_t pitch_bytes, unsigned short value,
                               size_t width, size_t height) {
  return guard(__func__, [&] {
    return run_fill(thread_stream(), {to, pitch_bytes, value, 2, width, height}, true);
  });
}

CUresult cuMemsetD2D16Async(CUdeviceptr to, size_t pitch_bytes, unsigned short value, size_t width,
                            size_t height, CUstream stream) {
  return guard(__func__,
               [&] { return run_fill(stream, {to, pitch_bytes, value, 2, width, height}, false); });
}

CUresult cuMemsetD2D16Async_ptsz(CUdeviceptr to, size_t pitch_bytes, unsigned short value,
                                 size_t width, size_t height, CUstream stream) {
  return guard(__func__, [&] {
    return run_fill(per_thread(stream), {to, pitch_bytes, value, 2, width, height}, false);
  });
}

CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned int value, size_t count) {
  return guard(__func__, [&] { return run_fill(kLegacy, {to, 0, value, 4, count, 1}, true); });
}

CUresult cuMemsetD32_v2_ptds(CUdeviceptr to, unsigned int value, size_t count) {
  return guard(__func__,
               [&] { return run_fill(thread_stream(), {to, 0, value, 4, count, 1}, true); });
}

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned int value, size_t count, CUstream stream) {
  return guard(__func__, [&] { return run_fill(stream, {to, 0, value, 4, count, 1}, false); });
}

CUresult cuMemsetD32Async_ptsz(CUdeviceptr to, unsigned int value, size_t count, CUstream stream) {
  return guard(__func__,
               [&] { return run_fill(per_thread(stream), {to, 0, value, 4, count, 1}, false); });
}

CUresult cuMemsetD2D32_v2(CUdeviceptr to, size_t pitch_bytes, unsigned int value, size_t width,
                          size_t height) {
  return guard(__func__,
               [&] { return run_fill(kLegacy, {to, pitch_bytes, value, 4, width, height}, true); });
}

CUresult cuMemsetD2D32_v2_ptds(CUdeviceptr to, size_t pitch_bytes, unsigned int value, size_t width,
                               size_t height) {
  return guard(__func__, [&] {
    return run_fill(thread_stream(), {to, pitch_bytes, value, 4, width, height}, true);
  });
}

CUresult cuMemsetD2D32Async(CUdeviceptr to, size_t pitch_bytes, unsigned int value, size_t width,
                            size_t height, CUstream stream) {
  return guard(__func__,
               [&] { return run_fill(stream, {to, pitch_bytes, value, 4, width, height}, false); });
}

CUresult cuMemsetD2D32Async_ptsz(CUdeviceptr to, size_t pitch_bytes, unsigned int value,
                                 size_t width, size_t height, CUstream stream) {
  return guard(__func__, [&] {
    return run_fill(per_thread(stream), {to, pitch_bytes, value, 4, width, height}, false);
  });
}

}  // extern "C"

}  // namespace km::cu
