// Access between devices, and memory shared between processes.
#include "dropin/cudart/device/context.h"

namespace km::cudart {

namespace {

/// The primary context of a device to which the current context can get access.
/// cudaErrorInvalidDevice for the current device itself.
cudaError_t peer_context(int peer, CUcontext* out) {
  int device = 0;
  LIB_TRY(current_device(&device));
  if (peer == device) return cudaErrorInvalidDevice;
  return primary_context(peer, out);
}

}  // namespace

extern "C" {

cudaError_t cudaDeviceCanAccessPeer(int* out, int device, int peer) {
  return call_driver([&] { return driver.cuDeviceCanAccessPeer(out, device, peer); });
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return call_context([&]() -> cudaError_t {
    CUcontext context = nullptr;
    LIB_TRY(peer_context(peer, &context));
    return driver.cuCtxEnablePeerAccess(context, flags);
  });
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return call_context([&]() -> cudaError_t {
    CUcontext context = nullptr;
    LIB_TRY(primary_context(peer, &context));
    return driver.cuCtxDisablePeerAccess(context);
  });
}

cudaError_t cudaDeviceGetP2PAttribute(int* out, cudaDeviceP2PAttr attribute, int source,
                                      int target) {
  return call_driver(
      [&] { return driver.cuDeviceGetP2PAttribute(out, attribute, source, target); });
}

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* out, cudaEvent_t event) {
  return call_context([&] { return driver.cuIpcGetEventHandle(out, event); });
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* out, cudaIpcEventHandle_t handle) {
  return call_context([&] { return driver.cuIpcOpenEventHandle(out, handle); });
}

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* out, void* address) {
  return call_context([&] { return driver.cuIpcGetMemHandle(out, device_address(address)); });
}

cudaError_t cudaIpcOpenMemHandle(void** out, cudaIpcMemHandle_t handle, unsigned flags) {
  return call_context([&]() -> cudaError_t {
    LIB_REQUIRE(out);
    CUdeviceptr address = 0;
    LIB_TRY(driver.cuIpcOpenMemHandle_v2(&address, handle, flags));
    *out = host_address(address);
    return cudaSuccess;
  });
}

cudaError_t cudaIpcCloseMemHandle(void* address) {
  return call_context([&] { return driver.cuIpcCloseMemHandle(device_address(address)); });
}

}  // extern "C"

}  // namespace km::cudart
