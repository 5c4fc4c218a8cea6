#include "dropin/cublas/vectors/rotation.h"

#include <cstring>

#include "core/blas/blas_rotation.h"
#include "dropin/cublas/kernels/parameters.h"
#include "dropin/cublas/kernels_ptx.h"
#include "dropin/cublas/product/product.h"
#include "dropin/cublas/vectors/vectors.h"

namespace km::cublas {
namespace {

/// Scalars that a routine on the host changes, wherever they lie.
class ChangedScalar {
 public:
  cublasStatus_t read(Handle& handle, const char* name, const void* place, uint32_t size_bytes) {
    place_ = place;
    size_bytes_ = size_bytes;
    return read_scalars(handle, name, place, data_, size_bytes);
  }
  cublasStatus_t write(Handle& handle, void* place) const {
    if (!handle.has_device_pointers()) {
      std::memcpy(place, data_, size_bytes_);
      return CUBLAS_STATUS_SUCCESS;
    }
    const Driver& driver = *handle.driver;
    BLAS_CHECK(driver.cuMemcpyHtoDAsync_v2(reinterpret_cast<cu::CUdeviceptr>(place), data_,
                                           size_bytes_, handle.stream));
    return status_of(driver.cuStreamSynchronize(handle.stream));
  }
  void* data() { return data_; }

 private:
  alignas(16) char data_[48] = {};
  const void* place_ = nullptr;
  uint32_t size_bytes_ = 0;
};

}  // namespace

cublasStatus_t make_rotation(Handle& handle, km_data_type type, void* a, void* b, void* c,
                             void* s) {
  const uint32_t bytes = size_of(type), real_bytes = is_complex(type) ? bytes / 2 : bytes;
  BLAS_REQUIRE(c);
  BLAS_REQUIRE(s);
  ChangedScalar first, second, cosine, sine;
  BLAS_TRY(first.read(handle, "a", a, bytes));
  BLAS_TRY(second.read(handle, "b", b, bytes));
  BLAS_TRY(cosine.read(handle, "c", c, real_bytes));
  BLAS_TRY(sine.read(handle, "s", s, bytes));
  const Status made =
      km::make_rotation(type, first.data(), second.data(), cosine.data(), sine.data());
  if (!made) return CUBLAS_STATUS_INTERNAL_ERROR;
  BLAS_TRY(first.write(handle, a));
  BLAS_TRY(second.write(handle, b));
  BLAS_TRY(cosine.write(handle, c));
  return sine.write(handle, s);
}

cublasStatus_t make_modified_rotation(Handle& handle, km_data_type type, void* d1, void* d2,
                                      void* x1, const void* y1, void* parameters) {
  const uint32_t bytes = size_of(type);
  ChangedScalar first, second, x, y, result;
  BLAS_TRY(first.read(handle, "d1", d1, bytes));
  BLAS_TRY(second.read(handle, "d2", d2, bytes));
  BLAS_TRY(x.read(handle, "x1", x1, bytes));
  BLAS_TRY(y.read(handle, "y1", y1, bytes));
  BLAS_TRY(result.read(handle, "param", parameters, 5 * bytes));
  const Status made = km::make_modified_rotation(type, first.data(), second.data(), x.data(),
                                                 y.data(), result.data());
  if (!made) return CUBLAS_STATUS_INTERNAL_ERROR;
  BLAS_TRY(first.write(handle, d1));
  BLAS_TRY(second.write(handle, d2));
  BLAS_TRY(x.write(handle, x1));
  return result.write(handle, parameters);
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
