#include "dropin/cudart/device/context.h"

#include <array>
#include <mutex>
#include <utility>
#include <vector>

namespace km::cudart {

thread_local ThreadState thread_state;

namespace {

struct Primary {
  CUcontext context = nullptr;  // kept after a reset, to recognise the handle
  bool is_retained = false;
};

struct Devices {
  std::mutex mutex;  // guards the members below
  std::array<Primary, kMaxDevices> primaries;
  std::vector<int> valid;
};

Devices& devices() {
  static Devices& all = *new Devices;  // never destroyed: calls may come during exit
  return all;
}

/// True for a primary context that has been reset since: it is still current but cannot be used.
bool is_stale(CUcontext context) {
  Devices& all = devices();
  const std::lock_guard lock(all.mutex);
  for (const Primary& primary : all.primaries) {
    if (primary.context == context) return !primary.is_retained;
  }
  return false;
}

/// Returns false if the device's primary context is not retained.
bool find_retained(int device, CUcontext* out) {
  Devices& all = devices();
  const std::lock_guard lock(all.mutex);
  const Primary& primary = all.primaries[static_cast<size_t>(device)];
  if (primary.is_retained) *out = primary.context;
  return primary.is_retained;
}

/// Keeps the reference to a primary context. Returns false if there is one already.
bool note_retained(int device, CUcontext context) {
  Devices& all = devices();
  const std::lock_guard lock(all.mutex);
  Primary& primary = all.primaries[static_cast<size_t>(device)];
  if (primary.is_retained) return false;
  primary = {context, true};
  return true;
}

/// Gives up the reference to a primary context. Returns false if there is none.
bool forget_retained(int device) {
  Devices& all = devices();
  const std::lock_guard lock(all.mutex);
  return std::exchange(all.primaries[static_cast<size_t>(device)].is_retained, false);
}

int device_of_thread() {
  if (thread_state.device >= 0) return thread_state.device;
  Devices& all = devices();
  const std::lock_guard lock(all.mutex);
  return all.valid.empty() ? 0 : all.valid.front();
}

}  // namespace

cudaError_t count_devices(int* out) {
  int count = 0;
  cudaError_t result = load_driver();
  if (result == cudaSuccess) result = driver.cuDeviceGetCount(&count);
  if (result != cudaSuccess) return result;
  *out = count;
  return count != 0 ? cudaSuccess : cudaErrorNoDevice;
}

cudaError_t check_ordinal(int device) {
  int count = 0;
  const cudaError_t counted = count_devices(&count);
  if (counted != cudaSuccess) return counted;
  return device >= 0 && device < count && device < kMaxDevices ? cudaSuccess
                                                               : cudaErrorInvalidDevice;
}

cudaError_t primary_context(int device, CUcontext* out) {
  cudaError_t result = check_ordinal(device);
  if (result != cudaSuccess) return result;
  if (find_retained(device, out)) return cudaSuccess;
  // Nothing is locked while the context is made: a callback of CUPTI may call the runtime then.
  CUcontext retained = nullptr;
  result = driver.cuDevicePrimaryCtxRetain(&retained, device);
  if (result != cudaSuccess) return result;
  if (!note_retained(device, retained)) driver.cuDevicePrimaryCtxRelease_v2(device);
  *out = retained;
  return cudaSuccess;
}

cudaError_t find_context() {
  cudaError_t result = load_driver();
  if (result != cudaSuccess) return result;
  const uint64_t epoch = reset_epoch.load(std::memory_order_acquire);
  CUcontext context = nullptr;
  result = driver.cuCtxGetCurrent(&context);
  if (result != cudaSuccess) return result;
  if (context == nullptr || is_stale(context)) {
    result = primary_context(device_of_thread(), &context);
    if (result == cudaSuccess) result = driver.cuCtxSetCurrent(context);
    if (result != cudaSuccess) return result;
  }
  thread_state.epoch = epoch;
  return cudaSuccess;
}

cudaError_t current_device(int* out) {
  const cudaError_t loaded = load_driver();
  if (loaded != cudaSuccess) return loaded;
  CUcontext context = nullptr;
  const CUresult result = driver.cuCtxGetCurrent(&context);
  if (result != CUDA_SUCCESS) return result;
  if (context != nullptr && !is_stale(context)) return driver.cuCtxGetDevice(out);
  *out = device_of_thread();
  return check_ordinal(*out);
}

cudaError_t choose_device(int device) {
  CUcontext context = nullptr;
  cudaError_t result = primary_context(device, &context);
  if (result == cudaSuccess) result = driver.cuCtxSetCurrent(context);
  if (result != cudaSuccess) return result;
  thread_state.device = device;
  thread_state.epoch = reset_epoch.load(std::memory_order_acquire);
  return cudaSuccess;
}

cudaError_t reset_device() {
  int device = 0;
  const cudaError_t known = current_device(&device);
  if (known != cudaSuccess) return known;
  // Nothing is locked during these calls: functions of the program may run within them.
  const CUresult result = driver.cuDevicePrimaryCtxReset_v2(device);
  if (forget_retained(device)) driver.cuDevicePrimaryCtxRelease_v2(device);
  reset_epoch.fetch_add(1, std::memory_order_acq_rel);
  return result;
}

cudaError_t set_valid_devices(const int* given, int count) {
  cudaError_t result = load_driver();
  for (int i = 0; result == cudaSuccess && i < count; ++i) result = check_ordinal(given[i]);
  if (result != cudaSuccess) return result;
  Devices& all = devices();
  const std::lock_guard lock(all.mutex);
  all.valid.assign(given, given + count);
  return cudaSuccess;
}

DeviceScope::DeviceScope(int device) {
  CUcontext context = nullptr;
  status_ = primary_context(device, &context);
  if (status_ == cudaSuccess) status_ = driver.cuCtxPushCurrent_v2(context);
}

DeviceScope::~DeviceScope() {
  CUcontext context = nullptr;
  if (status_ == cudaSuccess) driver.cuCtxPopCurrent_v2(&context);
}

}  // namespace km::cudart
