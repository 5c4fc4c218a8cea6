#include "dropin/cublas/handle.h"

#include <cstdarg>
#include <cstdio>

namespace km::cublas {

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
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  report("%s: %s", current_function(), text);
  return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t unsupported(const char* format, ...) noexcept {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  report("%s: %s: CUBLAS_STATUS_NOT_SUPPORTED", current_function(), text);
  return CUBLAS_STATUS_NOT_SUPPORTED;
}

}  // namespace km::cublas
