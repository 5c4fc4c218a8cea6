#include "dropin/cublas/vectors/rotation.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>

#include "core/blas/blas_rotation.h"
#include "dropin/cublas/kernels/parameters.h"
#include "dropin/cublas/kernels_ptx.h"
#include "dropin/cublas/product/product.h"
#include "dropin/cublas/vectors/vectors.h"

namespace km::cublas {
namespace {

cublasStatus_t check_places(std::initializer_list<std::pair<const char*, const void*>> places) {
  for (const auto& [name, place] : places) {
    if (place == nullptr) return invalid("%s is null", name);
  }
  return CUBLAS_STATUS_SUCCESS;
}

/// Has a kernel make the rotation of scalars in device memory, in the order of the stream.
cublasStatus_t make_on_device(const Handle& handle, const char* kernel, km_data_type type,
                              std::initializer_list<const void*> places) {
  RotationParameters parameters{};
  std::transform(places.begin(), places.end(), parameters.places,
                 [](const void* place) { return reinterpret_cast<uint64_t>(place); });
  const std::string name = std::string(kernel) + "_" + kernel_suffix(type);
  return status_of(rotation_kernels().launch(*handle.driver, handle.stream, name.c_str(), {1, 1, 1},
                                             1, parameters));
}

}  // namespace

cublasStatus_t make_rotation(Handle& handle, km_data_type type, void* a, void* b, void* c,
                             void* s) {
  BLAS_TRY(check_places({{"a", a}, {"b", b}, {"c", c}, {"s", s}}));
  if (handle.has_device_pointers()) {
    return make_on_device(handle, "make_rotation", type, {a, b, c, s});
  }
  return km::make_rotation(type, a, b, c, s) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INTERNAL_ERROR;
}

cublasStatus_t make_modified_rotation(Handle& handle, km_data_type type, void* d1, void* d2,
                                      void* x1, const void* y1, void* parameters) {
  BLAS_TRY(check_places({{"d1", d1}, {"d2", d2}, {"x1", x1}, {"y1", y1}, {"param", parameters}}));
  if (handle.has_device_pointers()) {
    return make_on_device(handle, "make_modified_rotation", type, {d1, d2, x1, y1, parameters});
  }
  return km::make_modified_rotation(type, d1, d2, x1, y1, parameters)
             ? CUBLAS_STATUS_SUCCESS
             : CUBLAS_STATUS_INTERNAL_ERROR;
}

cublasStatus_t rotate_complex(Handle& handle, km_data_type type, int64_t n, void* x, int64_t incx,
                              void* y, int64_t incy, const void* c, const void* s) {
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  const int cuda_type = cuda_type_of(type);
  const int real_type = type == KM_DATA_TYPE_C32 ? CUDA_R_32F : CUDA_R_64F;
  VectorCall call(handle, kVectorRot);
  BLAS_TRY(call.set_x(x, cuda_type, n, incx));
  BLAS_TRY(call.set_y(y, cuda_type, incy));
  BLAS_TRY(call.set_alpha("c", c, real_type));
  BLAS_TRY(call.set_beta("s", s, cuda_type));
  return call.map(type == KM_DATA_TYPE_C32 ? "rotate_c32" : "rotate_c64");
}

}  // namespace km::cublas
