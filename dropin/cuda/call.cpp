#include "dropin/cuda/call.h"

#include <cstdarg>
#include <cstdio>

#include "base/log.h"
#include "core/fork_guard.h"
#include "dropin/cuda/driver_state.h"

namespace km::dropin {
namespace {

CUresult result_of_status(km_status status) {
  switch (status) {
    case KM_SUCCESS:
      return CUDA_SUCCESS;
    case KM_NOT_READY:
      return CUDA_ERROR_NOT_READY;
    case KM_TIMEOUT:
    case KM_ERROR_LAUNCH_TIMEOUT:
      return CUDA_ERROR_LAUNCH_TIMEOUT;
    case KM_ERROR_INVALID_ARGUMENT:
    case KM_ERROR_OUT_OF_BOUNDS:
    case KM_ERROR_BUFFER_TOO_SMALL:
    case KM_ERROR_INVALID_LAUNCH:
      return CUDA_ERROR_INVALID_VALUE;
    case KM_ERROR_INVALID_HANDLE:
    case KM_ERROR_CONTEXT_MISMATCH:
      return CUDA_ERROR_INVALID_HANDLE;
    case KM_ERROR_OUT_OF_HOST_MEMORY:
    case KM_ERROR_OUT_OF_DEVICE_MEMORY:
      return CUDA_ERROR_OUT_OF_MEMORY;
    case KM_ERROR_NOT_FOUND:
      return CUDA_ERROR_NOT_FOUND;
    case KM_ERROR_NOT_SUPPORTED:
      return CUDA_ERROR_NOT_SUPPORTED;
    case KM_ERROR_NOT_PERMITTED:
      return CUDA_ERROR_NOT_PERMITTED;
    case KM_ERROR_IO:
      return CUDA_ERROR_OPERATING_SYSTEM;
    case KM_ERROR_CONTEXT_LOST:
      return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    case KM_ERROR_FORKED:
      return CUDA_ERROR_NOT_INITIALIZED;
    case KM_ERROR_NO_DEVICE:
      return CUDA_ERROR_NO_DEVICE;
    case KM_ERROR_INVALID_PTX:
      return CUDA_ERROR_INVALID_PTX;
    case KM_ERROR_UNSUPPORTED_PTX:
      return CUDA_ERROR_NOT_SUPPORTED;
    case KM_ERROR_COMPILER:
    case KM_ERROR_COMPILATION_FAILED:
      return CUDA_ERROR_JIT_COMPILATION_DISABLED;
    case KM_ERROR_ILLEGAL_ADDRESS:
      return CUDA_ERROR_ILLEGAL_ADDRESS;
    case KM_ERROR_MISALIGNED_ADDRESS:
      return CUDA_ERROR_MISALIGNED_ADDRESS;
    case KM_ERROR_ASSERT:
      return CUDA_ERROR_ASSERT;
    case KM_ERROR_STACK_OVERFLOW:
      return CUDA_ERROR_HARDWARE_STACK_ERROR;
    case KM_ERROR_ILLEGAL_INSTRUCTION:
      return CUDA_ERROR_ILLEGAL_INSTRUCTION;
    case KM_ERROR_TRAP:
    case KM_ERROR_LAUNCH_FAILED:
      return CUDA_ERROR_LAUNCH_FAILED;
    default:
      return CUDA_ERROR_UNKNOWN;
  }
}

/// What the core itself says in terms of CUDA: about captures.
bool has_native_result(const Error& error) {
  switch (error.status) {
    case KM_ERROR_NOT_PERMITTED:
    case KM_ERROR_CAPTURE_UNSUPPORTED:
    case KM_ERROR_CAPTURE_INVALIDATED:
    case KM_ERROR_CAPTURE_UNJOINED:
      return error.native_code != 0;
    default:
      return false;
  }
}

}  // namespace

CUresult result_of(const Error& error) noexcept {
  if (error.status != KM_NOT_READY) {
    log(LogLevel::kInfo, "cuda", "%s", error.message.c_str());
  }
  if (has_native_result(error)) return static_cast<CUresult>(error.native_code);
  if (error.status == KM_ERROR_GRAPH_MISMATCH) return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
  return result_of_status(error.status);
}

CUresult fail(CUresult result, const char* format, ...) noexcept {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  log(LogLevel::kInfo, "cuda", "%s", text);
  return result;
}

CUresult require_ready() noexcept {
  if (is_forked()) [[unlikely]] {
    return fail(CUDA_ERROR_NOT_INITIALIZED,
                "this process was forked from one that used CUDA; call exec first");
  }
  return Driver::is_ready() ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

void log_call(const char* function, CUresult result) noexcept {
  if (!log_enabled(LogLevel::kDebug, "cuda")) [[likely]]
    return;
  const char* name = "unknown";
  static_cast<void>(cuGetErrorName(result, &name));
  log(LogLevel::kDebug, "cuda", "%s: %s", function, name);
}

}  // namespace km::dropin
