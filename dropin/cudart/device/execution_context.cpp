#include "dropin/cudart/device/execution_context.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <mutex>

#include "dropin/cudart/device/context.h"

namespace km::cudart {

/// The object that a handle refers to: a device or a green context.
struct ExecutionContext {
  ExecutionContextView view;
};

namespace {

using ExecutionContexts = std::array<ExecutionContext, kMaxDevices>;

ExecutionContexts one_per_device() {
  ExecutionContexts made = {};
  for (int i = 0; i < kMaxDevices; ++i) made[static_cast<size_t>(i)].view.device = i;
  return made;
}

ExecutionContexts& all() {
  static auto& made = *new ExecutionContexts(one_per_device());
  return made;
}

/// The object of a device's own context; null if the handle is not one of these.
const ExecutionContext* device_of(cudaExecutionContext_t handle) {
  const ExecutionContexts& devices = all();
  const auto* const found =
      std::find_if(devices.begin(), devices.end(),
                   [&](const ExecutionContext& each) { return &each == handle; });
  return found == devices.end() ? nullptr : found;
}

struct GreenContexts {
  std::mutex mutex;
  std::map<cudaExecutionContext_t, std::unique_ptr<ExecutionContext>> by_handle;
};

GreenContexts& green_contexts() {
  static auto& made = *new GreenContexts;
  return made;
}

}  // namespace

cudaError_t find_execution_context(cudaExecutionContext_t handle, ExecutionContextView* out) {
  if (const ExecutionContext* device = device_of(handle)) {
    *out = device->view;
    return cudaSuccess;
  }
  GreenContexts& green = green_contexts();
  const std::lock_guard lock(green.mutex);
  const auto found = green.by_handle.find(handle);
  if (found == green.by_handle.end()) return cudaErrorInvalidResourceHandle;
  *out = found->second->view;
  return cudaSuccess;
}

cudaExecutionContext_t execution_context_of(int device) {
  return &all()[static_cast<size_t>(device)];
}

cudaExecutionContext_t add_green_context(int device, CUgreenCtx green) {
  auto made = std::make_unique<ExecutionContext>();
  made->view = {device, green};
  const cudaExecutionContext_t handle = made.get();
  GreenContexts& known = green_contexts();
  const std::lock_guard lock(known.mutex);
  known.by_handle.emplace(handle, std::move(made));
  return handle;
}

cudaError_t take_green_context(cudaExecutionContext_t handle, CUgreenCtx* out) {
  if (device_of(handle) != nullptr) return cudaErrorNotPermitted;
  GreenContexts& known = green_contexts();
  const std::lock_guard lock(known.mutex);
  const auto found = known.by_handle.find(handle);
  if (found == known.by_handle.end()) return cudaErrorInvalidResourceHandle;
  *out = found->second->view.green;
  known.by_handle.erase(found);
  return cudaSuccess;
}

cudaError_t context_of(cudaExecutionContext_t handle, CUcontext* out) {
  if (handle == nullptr) return driver.cuCtxGetCurrent(out);
  ExecutionContextView view;
  LIB_TRY(find_execution_context(handle, &view));
  if (view.green != nullptr) return driver.cuCtxFromGreenCtx(out, view.green);
  return primary_context(view.device, out);
}

}  // namespace km::cudart
