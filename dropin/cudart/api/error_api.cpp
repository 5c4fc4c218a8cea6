// The last error of each thread.
#include "dropin/cudart/call.h"
#include "dropin/cudart/errors.h"

namespace km::cudart {

namespace {

/// The thread's last error; those that a reset of the device has ended are none any more.
cudaError_t last_error() {
  ThreadState& state = thread_state;
  if (is_sticky(state.last_error) &&
      state.error_epoch != reset_epoch.load(std::memory_order_acquire)) {
    state.last_error = cudaSuccess;
  }
  return state.last_error;
}

}  // namespace

cudaError_t record(cudaError_t error) noexcept {
  const cudaError_t known = error_name(error) != nullptr ? error : cudaErrorUnknown;
  thread_state.last_error = known;
  thread_state.error_epoch = reset_epoch.load(std::memory_order_acquire);
  return known;
}

extern "C" {

cudaError_t cudaGetLastError() {
  const cudaError_t error = last_error();
  if (!is_sticky(error)) thread_state.last_error = cudaSuccess;
  return error;
}

cudaError_t cudaPeekAtLastError() { return last_error(); }

const char* cudaGetErrorName(cudaError_t error) {
  const char* const name = error_name(error);
  return name != nullptr ? name : "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
  const char* const text = error_text(error);
  return text != nullptr ? text : "unrecognized error code";
}

}  // extern "C"

}  // namespace km::cudart
