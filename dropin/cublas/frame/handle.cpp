#include "dropin/cublas/frame/handle.h"

namespace km::cublas {

std::shared_ptr<Handle> find_handle(cublasHandle_t handle) {
  return library::handle_map<Handle>().find(reinterpret_cast<uint64_t>(handle));
}

cublasStatus_t read_place(const char* name, const void* place, void* out,
                          size_t size_bytes) noexcept {
  if (place == nullptr) return invalid("%s is null", name);
  if (library::read_host(out, place, size_bytes)) return CUBLAS_STATUS_SUCCESS;
  return invalid("%s is %p, which is not readable host memory", name, place);
}

cublasStatus_t write_place(const char* name, void* place, const void* value,
                           size_t size_bytes) noexcept {
  if (place == nullptr) return invalid("%s is null", name);
  if (library::write_host(place, value, size_bytes)) return CUBLAS_STATUS_SUCCESS;
  return invalid("%s is %p, which is not writable host memory", name, place);
}

}  // namespace km::cublas
