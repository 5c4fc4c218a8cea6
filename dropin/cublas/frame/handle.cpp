#include "dropin/cublas/frame/handle.h"

#include <cstdarg>

namespace km::cublas {

std::shared_ptr<Handle> find_handle(cublasHandle_t handle) {
  return library::handle_map<Handle>().find(reinterpret_cast<uint64_t>(handle));
}

cublasStatus_t invalid(const char* format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  frame::explain_list(format, arguments);
  va_end(arguments);
  return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t unsupported(const char* format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  frame::explain_list(format, arguments);
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
