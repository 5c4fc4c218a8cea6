#include "dropin/cublas/frame/handle.h"

#include <cstdarg>
#include <cstdio>

#include "base/log.h"

namespace km::cublas {
namespace {

/// Says in the log why the current function fails.
void explain(const char* format, va_list arguments, const char* ending) {
  char text[512];
  std::vsnprintf(text, sizeof text, format, arguments);
  log(LogLevel::kInfo, "cuda", "%s: %s%s", current_function(), text, ending);
}

}  // namespace

std::shared_ptr<Handle> find_handle(cublasHandle_t handle) {
  return library::handle_map<Handle>().find(reinterpret_cast<uint64_t>(handle));
}

const char*& current_function() noexcept {
  static thread_local const char* function = "cuBLAS";
  return function;
}

cublasStatus_t status_of(cu::CUresult result) noexcept {
  switch (result) {
    case cu::CUDA_SUCCESS:
      return CUBLAS_STATUS_SUCCESS;
    case cu::CUDA_ERROR_INVALID_VALUE:
      return CUBLAS_STATUS_INVALID_VALUE;
    case cu::CUDA_ERROR_OUT_OF_MEMORY:
      return CUBLAS_STATUS_ALLOC_FAILED;
    case cu::CUDA_ERROR_NOT_SUPPORTED:
      return CUBLAS_STATUS_NOT_SUPPORTED;
    case cu::CUDA_ERROR_SHARED_OBJECT_INIT_FAILED:  // OpenBLAS is missing; the driver says so
    case cu::CUDA_ERROR_NOT_INITIALIZED:
    case cu::CUDA_ERROR_NO_DEVICE:
      return CUBLAS_STATUS_NOT_INITIALIZED;
    default:
      return CUBLAS_STATUS_EXECUTION_FAILED;
  }
}

cublasStatus_t invalid(const char* format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  explain(format, arguments, "");
  va_end(arguments);
  return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t unsupported(const char* format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  explain(format, arguments, ": CUBLAS_STATUS_NOT_SUPPORTED");
  va_end(arguments);
  return CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t read_place(const char* name, const void* place, void* out,
                          size_t size_bytes) noexcept {
  if (place == nullptr) return invalid("%s is null", name);
  if (library::read_host(out, place, size_bytes)) return CUBLAS_STATUS_SUCCESS;
  return invalid("%s is %p, where the host has no memory that can be read", name, place);
}

cublasStatus_t write_place(const char* name, void* place, const void* value,
                           size_t size_bytes) noexcept {
  if (place == nullptr) return invalid("%s is null", name);
  if (library::write_host(place, value, size_bytes)) return CUBLAS_STATUS_SUCCESS;
  return invalid("%s is %p, where the host has no memory that can be written", name, place);
}

}  // namespace km::cublas
