// Handles, versions, messages and callbacks.
#include <algorithm>
#include <cstring>

#include "dropin/cudnn/frame/library.h"
#include "dropin/cudnn/frame/message.h"
#include "dropin/frame/stub.h"

namespace km::cudnn {
namespace {

/// The callback of cudnnSetCallback, which is kept to be read back.
struct Callback {
  unsigned mask = 0;
  void* data = nullptr;
  cudnnCallback_t function = nullptr;
};
std::mutex callback_mutex;
Callback callback;  // guarded by callback_mutex

cudnnStatus_t create_handle(cudnnHandle_t* out) {
  LIB_REQUIRE(out);
  const Driver* const driver = library::driver();
  if (driver == nullptr) return CUDNN_STATUS_NOT_INITIALIZED;
  LIB_CHECK(library::enter_context(*driver));
  auto handle = std::make_shared<Handle>();
  handle->driver = driver;
  const uint64_t id = library::handle_map<Handle>().add(
      std::move(handle), library::handle_tag(library::HandleKind::kCudnn, kMajor));
  const cudnnStatus_t given = give(out, reinterpret_cast<cudnnHandle_t>(id));
  if (given != CUDNN_STATUS_SUCCESS) library::handle_map<Handle>().remove(id);
  return given;
}

}  // namespace

extern "C" {

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  return call([&] { return create_handle(handle); });
}
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  return call([&]() -> cudnnStatus_t {
    const auto id = reinterpret_cast<uint64_t>(handle);
    if (library::handle_map<Handle>().remove(id) != nullptr) return CUDNN_STATUS_SUCCESS;
    invalid("the handle is not live");
    return CUDNN_STATUS_NOT_INITIALIZED;
  });
}
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t streamId) {
  return call(handle, [&](Handle& h) {
    h.stream = reinterpret_cast<cu::CUstream>(streamId);
    return CUDNN_STATUS_SUCCESS;
  });
}
cudnnStatus_t cudnnGetStream(cudnnHandle_t handle, cudaStream_t* streamId) {
  return call(handle, [&](Handle& h) {
    return give(streamId, reinterpret_cast<cudaStream_t>(h.stream.load()));
  });
}

size_t cudnnGetVersion() { return kMajor * 10000 + kMinor * 100 + kPatch; }
size_t cudnnGetMaxDeviceVersion() { return 1210; }
size_t cudnnGetCudartVersion() {
  const Driver* const driver = library::loaded_driver();
  int version = 0;
  if (driver == nullptr || driver->cuDriverGetVersion(&version) != cu::CUDA_SUCCESS) return 0;
  return static_cast<size_t>(version);
}
cudnnStatus_t cudnnGetProperty(libraryPropertyType type, int* value) {
  return call([&]() -> cudnnStatus_t {
    constexpr int kParts[] = {kMajor, kMinor, kPatch};
    if (type < 0 || type > 2) return invalid("the property %d", static_cast<int>(type));
    return give(value, kParts[type]);
  });
}

const char* cudnnGetErrorString(cudnnStatus_t status) {
  const char* const name = status_name(status);
  return name != nullptr ? name : "CUDNN_UNKNOWN_STATUS";
}
void cudnnGetLastErrorString(char* message, size_t max_size) {
  if (message == nullptr || max_size == 0) return;
  const char* const kept = kept_message();
  const size_t length = std::min(std::strlen(kept), max_size - 1);
  const char end = '\0';
  if (library::write_host(message, kept, length)) library::write_host(message + length, end);
  forget_message();
}

cudnnStatus_t cudnnSetCallback(unsigned mask, void* udata, cudnnCallback_t fptr) {
  return call([&] {
    const std::lock_guard lock(callback_mutex);
    callback = {mask, udata, fptr};
    return CUDNN_STATUS_SUCCESS;
  });
}
cudnnStatus_t cudnnGetCallback(unsigned* mask, void** udata, cudnnCallback_t* fptr) {
  return call([&]() -> cudnnStatus_t {
    Callback found;
    {
      const std::lock_guard lock(callback_mutex);
      found = callback;
    }
    LIB_TRY(give(mask, found.mask));
    LIB_TRY(give(udata, found.data));
    return give(fptr, found.function);
  });
}

cudnnStatus_t cudnnQueryRuntimeError(cudnnHandle_t handle, cudnnStatus_t* rstatus,
                                     cudnnErrQueryMode_t mode, cudnnRuntimeTag_t*) {
  return call(handle, [&](Handle& h) -> cudnnStatus_t {
    if (mode < CUDNN_ERRQUERY_RAWCODE || mode > CUDNN_ERRQUERY_BLOCKING) {
      return invalid("the mode %d", mode);
    }
    if (mode == CUDNN_ERRQUERY_BLOCKING) LIB_CHECK(h.driver->cuStreamSynchronize(h.stream));
    return give(rstatus, CUDNN_STATUS_SUCCESS);
  });
}

// All libraries of cuDNN are this one.
cudnnStatus_t cudnnGraphVersionCheck() { return CUDNN_STATUS_SUCCESS; }
cudnnStatus_t cudnnOpsVersionCheck() { return CUDNN_STATUS_SUCCESS; }
cudnnStatus_t cudnnCnnVersionCheck() { return CUDNN_STATUS_SUCCESS; }
cudnnStatus_t cudnnAdvVersionCheck() { return CUDNN_STATUS_SUCCESS; }
cudnnStatus_t cudnnSubquadraticOpsVersionCheck() { return CUDNN_STATUS_SUCCESS; }

}  // extern "C"
}  // namespace km::cudnn
