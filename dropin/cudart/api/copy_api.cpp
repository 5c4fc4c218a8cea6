// Copies of linear memory and of device variables.
#include "dropin/cudart/device/context.h"
#include "dropin/cudart/memory/copy.h"
#include "dropin/cudart/module/registry.h"

namespace km::cudart {

namespace {

cudaError_t copy_to_symbol(const void* symbol, const void* source, size_t size_bytes,
                           size_t offset_bytes, cudaMemcpyKind kind, Order order,
                           const char* function = __builtin_FUNCTION()) {
  return call_context(
      [&]() -> cudaError_t {
        void* target = nullptr;
        LIB_TRY(check_device_kind(kind, cudaMemcpyHostToDevice));
        LIB_TRY(symbol_part(symbol, offset_bytes, size_bytes, &target));
        return copy(target, source, size_bytes, kind, order);
      },
      function);
}

cudaError_t copy_from_symbol(void* target, const void* symbol, size_t size_bytes,
                             size_t offset_bytes, cudaMemcpyKind kind, Order order,
                             const char* function = __builtin_FUNCTION()) {
  return call_context(
      [&]() -> cudaError_t {
        void* source = nullptr;
        LIB_TRY(check_device_kind(kind, cudaMemcpyDeviceToHost));
        LIB_TRY(symbol_part(symbol, offset_bytes, size_bytes, &source));
        return copy(target, source, size_bytes, kind, order);
      },
      function);
}

}  // namespace

extern "C" {

cudaError_t cudaMemcpy(void* target, const void* source, size_t size_bytes, cudaMemcpyKind kind) {
  return call_context([&] { return copy(target, source, size_bytes, kind, kBlocking); });
}

cudaError_t cudaMemcpy_ptds(void* target, const void* source, size_t size_bytes,
                            cudaMemcpyKind kind) {
  return call_context([&] { return copy(target, source, size_bytes, kind, kBlockingPerThread); });
}

cudaError_t cudaMemcpyAsync(void* target, const void* source, size_t size_bytes,
                            cudaMemcpyKind kind, cudaStream_t stream) {
  return call_context([&] { return copy(target, source, size_bytes, kind, on(stream)); });
}

cudaError_t cudaMemcpy2D(void* target, size_t target_pitch, const void* source, size_t source_pitch,
                         size_t width_bytes, size_t height, cudaMemcpyKind kind) {
  return call_context([&] {
    return copy_rows(target, target_pitch, source, source_pitch, width_bytes, height, kind,
                     kBlocking);
  });
}

cudaError_t cudaMemcpy2D_ptds(void* target, size_t target_pitch, const void* source,
                              size_t source_pitch, size_t width_bytes, size_t height,
                              cudaMemcpyKind kind) {
  return call_context([&] {
    return copy_rows(target, target_pitch, source, source_pitch, width_bytes, height, kind,
                     kBlockingPerThread);
  });
}

cudaError_t cudaMemcpy2DAsync(void* target, size_t target_pitch, const void* source,
                              size_t source_pitch, size_t width_bytes, size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream) {
  return call_context([&] {
    return copy_rows(target, target_pitch, source, source_pitch, width_bytes, height, kind,
                     on(stream));
  });
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* copy) {
  return call_context([&] { return copy_box(copy, kBlocking); });
}

cudaError_t cudaMemcpy3D_ptds(const cudaMemcpy3DParms* copy) {
  return call_context([&] { return copy_box(copy, kBlockingPerThread); });
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* copy, cudaStream_t stream) {
  return call_context([&] { return copy_box(copy, on(stream)); });
}

cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* copy) {
  return call_context([&] { return copy_box(copy, kBlocking); });
}

cudaError_t cudaMemcpy3DPeer_ptds(const cudaMemcpy3DPeerParms* copy) {
  return call_context([&] { return copy_box(copy, kBlockingPerThread); });
}

cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* copy, cudaStream_t stream) {
  return call_context([&] { return copy_box(copy, on(stream)); });
}

cudaError_t cudaMemcpyPeer(void* target, int target_device, const void* source, int source_device,
                           size_t size_bytes) {
  return call_context([&]() -> cudaError_t {
    CUcontext to = nullptr, from = nullptr;
    LIB_TRY(primary_context(target_device, &to));
    LIB_TRY(primary_context(source_device, &from));
    return driver.cuMemcpyPeer(device_address(target), to, device_address(source), from,
                               size_bytes);
  });
}

cudaError_t cudaMemcpyPeerAsync(void* target, int target_device, const void* source,
                                int source_device, size_t size_bytes, cudaStream_t stream) {
  return call_context([&]() -> cudaError_t {
    CUcontext to = nullptr, from = nullptr;
    LIB_TRY(primary_context(target_device, &to));
    LIB_TRY(primary_context(source_device, &from));
    return driver.cuMemcpyPeerAsync(device_address(target), to, device_address(source), from,
                                    size_bytes, stream);
  });
}

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* source, size_t size_bytes,
                               size_t offset_bytes, cudaMemcpyKind kind) {
  return copy_to_symbol(symbol, source, size_bytes, offset_bytes, kind, kBlocking);
}

cudaError_t cudaMemcpyToSymbol_ptds(const void* symbol, const void* source, size_t size_bytes,
                                    size_t offset_bytes, cudaMemcpyKind kind) {
  return copy_to_symbol(symbol, source, size_bytes, offset_bytes, kind, kBlockingPerThread);
}

cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* source, size_t size_bytes,
                                    size_t offset_bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_to_symbol(symbol, source, size_bytes, offset_bytes, kind, on(stream));
}

cudaError_t cudaMemcpyFromSymbol(void* target, const void* symbol, size_t size_bytes,
                                 size_t offset_bytes, cudaMemcpyKind kind) {
  return copy_from_symbol(target, symbol, size_bytes, offset_bytes, kind, kBlocking);
}

cudaError_t cudaMemcpyFromSymbol_ptds(void* target, const void* symbol, size_t size_bytes,
                                      size_t offset_bytes, cudaMemcpyKind kind) {
  return copy_from_symbol(target, symbol, size_bytes, offset_bytes, kind, kBlockingPerThread);
}

cudaError_t cudaMemcpyFromSymbolAsync(void* target, const void* symbol, size_t size_bytes,
                                      size_t offset_bytes, cudaMemcpyKind kind,
                                      cudaStream_t stream) {
  return copy_from_symbol(target, symbol, size_bytes, offset_bytes, kind, on(stream));
}

cudaError_t cudaGetSymbolAddress(void** out, const void* symbol) {
  return call_context([&]() -> cudaError_t {
    LIB_REQUIRE(out);
    return symbol_part(symbol, 0, 0, out);
  });
}

cudaError_t cudaGetSymbolSize(size_t* out, const void* symbol) {
  return call_context([&]() -> cudaError_t {
    LIB_REQUIRE(out);
    CUdeviceptr address = 0;
    return find_variable(symbol, &address, out);
  });
}

}  // extern "C"

}  // namespace km::cudart
