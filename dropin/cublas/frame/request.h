// Builds a call of km_blas and checks its arguments in order: the first invalid one determines the
// status.
#pragma once

#include "backend/blas_numbers.h"
#include "dropin/cublas/frame/handle.h"

namespace km::cublas {

template <class T>
inline constexpr km_data_type kTypeOf = KM_DATA_TYPE_INVALID;
template <>
inline constexpr km_data_type kTypeOf<float> = KM_DATA_TYPE_F32;
template <>
inline constexpr km_data_type kTypeOf<double> = KM_DATA_TYPE_F64;
template <>
inline constexpr km_data_type kTypeOf<cuComplex> = KM_DATA_TYPE_C32;
template <>
inline constexpr km_data_type kTypeOf<cuDoubleComplex> = KM_DATA_TYPE_C64;

/// The type of a number's real and imaginary part.
template <class T>
struct RealOf {
  using Type = T;
};
template <>
struct RealOf<cuComplex> {
  using Type = float;
};
template <>
struct RealOf<cuDoubleComplex> {
  using Type = double;
};
template <class T>
using Real = typename RealOf<T>::Type;

uint32_t size_of(km_data_type type);

/// Splits a number into its real and imaginary part.
void parts_of(km_data_type type, const void* number, double (&out)[2]);

class Request {
 public:
  Request(Handle& handle, kmb_blas_routine routine, km_data_type type);

  Request& operation(const char* name, cublasOperation_t value,
                     km_blas_operation kmb_blas_call::* member = &kmb_blas_call::operation_a);
  Request& triangle(cublasFillMode_t value);
  Request& diagonal(cublasDiagType_t value);
  Request& side(cublasSideMode_t value);

  // Sets sizes. If m, n or the batch count is 0, the call does nothing.
  Request& m(int64_t value) { return size("m", value, &kmb_blas_call::m, true); }
  Request& n(int64_t value) { return size("n", value, &kmb_blas_call::n, true); }
  Request& k(int64_t value) { return size("k", value, &kmb_blas_call::k, false); }
  Request& band(int64_t lower, int64_t upper) {
    return size("kl", lower, &kmb_blas_call::lower, false)
        .size("ku", upper, &kmb_blas_call::upper, false);
  }
  Request& batch(int64_t count) {
    return size("batchCount", count, &kmb_blas_call::batch_count, true);
  }

  Request& alpha(const void* value) { return scalar("alpha", value, false, request_.call.alpha); }
  Request& beta(const void* value) { return scalar("beta", value, false, request_.call.beta); }
  Request& real_alpha(const void* value) {
    return scalar("alpha", value, true, request_.call.alpha);
  }
  Request& real_beta(const void* value) { return scalar("beta", value, true, request_.call.beta); }
  /// Sets scalars that the caller has read, ignoring the pointer mode.
  Request& scalars(const double (&alpha)[2], const double (&beta)[2]);
  /// Sets scalars of the call's type in device memory, ignoring the pointer mode.
  Request& device_alpha(uint64_t address);
  Request& device_beta(uint64_t address);
  /// Sets `count` real scalars from index `first` on.
  Request& rotation(const char* name, const void* values, uint32_t first, uint32_t count);

  Request& x(const void* x, int64_t increment, uint64_t count, bool is_written = false) {
    return vector("x", x, increment, count, &kmb_blas_call::b, is_written);
  }
  Request& y(const void* y, int64_t increment, uint64_t count, bool is_written = false) {
    return vector("y", y, increment, count, &kmb_blas_call::c, is_written);
  }
  Request& a(const void* a, int64_t leading, int64_t rows, int64_t columns, int64_t stride = 0) {
    return matrix("A", "lda", a, leading, rows, columns, stride, &kmb_blas_call::a, false);
  }
  Request& a_written(void* a, int64_t leading, int64_t rows, int64_t columns) {
    return matrix("A", "lda", a, leading, rows, columns, 0, &kmb_blas_call::a, true);
  }
  Request& b(const void* b, int64_t leading, int64_t rows, int64_t columns, int64_t stride = 0) {
    return matrix("B", "ldb", b, leading, rows, columns, stride, &kmb_blas_call::b, false);
  }
  Request& b_written(void* b, int64_t leading, int64_t rows, int64_t columns) {
    return matrix("B", "ldb", b, leading, rows, columns, 0, &kmb_blas_call::b, true);
  }
  Request& c_written(void* c, int64_t leading, int64_t rows, int64_t columns, int64_t stride = 0) {
    return matrix("C", "ldc", c, leading, rows, columns, stride, &kmb_blas_call::c, true);
  }
  Request& packed_a(const void* a, uint64_t order, bool is_written);
  /// Sets the result: an element of `size_bytes` in device memory.
  Request& result(void* place, uint32_t size_bytes);

  /// Records a failure that the caller found.
  Request& fail(cublasStatus_t status);
  bool is_empty() const { return is_empty_; }
  cublasStatus_t status() const { return status_; }
  cublasStatus_t submit();

 private:
  using Array = kmb_blas_array kmb_blas_call::*;
  Request& size(const char* name, int64_t value, uint64_t kmb_blas_call::* member, bool empties);
  Request& scalar(const char* name, const void* value, bool is_real, double* out);
  /// Numbers in device memory, which are read when the call executes.
  Request& device_scalars(const char* name, const void* values, uint32_t count, uint64_t* out);
  Request& vector(const char* name, const void* data, int64_t increment, uint64_t count,
                  Array array, bool is_written);
  Request& matrix(const char* name, const char* leading_name, const void* data, int64_t leading,
                  int64_t rows, int64_t columns, int64_t stride, Array array, bool is_written);
  void add(const library::BlasArray& array);
  /// The size of a number's real part in the call's type.
  size_t real_bytes() const {
    return is_double(request_.call.type) ? sizeof(double) : sizeof(float);
  }

  Handle& handle_;
  library::BlasRequest request_{};
  uint32_t element_bytes_;
  bool is_empty_ = false;
  cublasStatus_t status_ = CUBLAS_STATUS_SUCCESS;
};

inline bool is_plain(cublasOperation_t operation) { return operation == CUBLAS_OP_N; }

}  // namespace km::cublas
