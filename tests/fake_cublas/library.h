// What the stand-in for cuBLAS is made of: handles, the script of failures, and calls that OpenBLAS
// does when their turn in the stream comes.
#pragma once

#include <algorithm>
#include <functional>

#include "backend/interface.h"
#include "cuda/cublas.h"
#include "cuda/driver.h"

namespace km::cublas {

struct Context {
  cu::CUstream stream = nullptr;
  PointerMode mode = kHost;
};

}  // namespace km::cublas

namespace km::fake_cublas {

using cublas::Data;
using cublas::Handle;
using cublas::Status;

/// Begins a call: the script's result, or what is wrong with the handle.
Status begin(const char* name, Handle handle);

/// Queues a call by columns. Where results go, cuBLAS writes an index of 32 bits from 1 on.
Status queue(const char* name, Handle handle, kmb_blas_routine routine, km_data_type type,
             const std::function<bool(kmb_blas_call&)>& fill);

/// Fills in a call; each gives false for what cuBLAS refuses.
class Filler {
 public:
  explicit Filler(kmb_blas_call* call) : call_(*call) {}
  Filler& sizes(int m, int n, int k = 0) {
    is_good_ = is_good_ && m >= 0 && n >= 0 && k >= 0;
    call_.m = static_cast<uint64_t>(m);
    call_.n = static_cast<uint64_t>(n);
    call_.k = static_cast<uint64_t>(k);
    return *this;
  }
  Filler& band(int lower, int upper) {
    call_.lower = static_cast<uint64_t>(lower);
    call_.upper = static_cast<uint64_t>(upper);
    return *this;
  }
  Filler& operations(cublas::Operation a, cublas::Operation b = cublas::kPlain) {
    call_.operation_a = 1 + a;
    call_.operation_b = 1 + b;
    return *this;
  }
  Filler& triangle(cublas::Fill fill) {
    call_.triangle = fill == cublas::kUpper ? KM_BLAS_TRIANGLE_UPPER : KM_BLAS_TRIANGLE_LOWER;
    return *this;
  }
  Filler& diagonal(cublas::Diagonal diagonal) {
    call_.diagonal = 1 + diagonal;
    return *this;
  }
  Filler& side(cublas::Side side) {
    call_.side = 1 + side;
    return *this;
  }
  Filler& alpha(Data value) { return scalar(value, call_.alpha); }
  Filler& beta(Data value) { return scalar(value, call_.beta); }
  Filler& rotation(Data values, int first, int count) {
    for (int i = 0; i < count; ++i) call_.rotation[first + i] = real_at(values, i);
    return require(is_aligned(values));
  }
  Filler& vector(kmb_blas_array kmb_blas_call::* array, Data data, int step) {
    is_good_ = is_good_ && step != 0;
    return place(array, data, step, 0);
  }
  Filler& matrix(kmb_blas_array kmb_blas_call::* array, Data data, uint64_t rows, int step,
                 long long stride = 0) {
    is_good_ = is_good_ && step >= static_cast<int64_t>(std::max<uint64_t>(rows, 1));
    return place(array, data, step, stride);
  }
  Filler& packed(Data data) { return place(&kmb_blas_call::a, data, 0, 0); }
  Filler& result(Data data) { return place(&kmb_blas_call::c, data, 1, 0); }
  Filler& batch(int count) {
    call_.batch_count = static_cast<uint64_t>(count);
    return *this;
  }
  Filler& require(bool condition) {
    is_good_ = is_good_ && condition;
    return *this;
  }
  bool is_good() const { return is_good_; }

 private:
  /// cuBLAS reads 16 bytes at a scalar's address by instructions that fault elsewhere.
  static bool is_aligned(Data value) { return reinterpret_cast<uintptr_t>(value) % 16 == 0; }
  bool is_double() const {
    return call_.type == KM_DATA_TYPE_F64 || call_.type == KM_DATA_TYPE_C64;
  }
  double real_at(Data values, int index) const {
    if (is_double()) return static_cast<const double*>(values)[index];
    return double{static_cast<const float*>(values)[index]};
  }
  Filler& scalar(Data value, double (&out)[2]) {
    const bool is_complex = call_.type == KM_DATA_TYPE_C32 || call_.type == KM_DATA_TYPE_C64;
    const bool is_real = call_.routine == KMB_BLAS_HERK || call_.routine == KMB_BLAS_SYR ||
                         call_.routine == KMB_BLAS_SPR ||
                         (call_.routine == KMB_BLAS_HER2K && &out[0] == &call_.beta[0]);
    out[0] = real_at(value, 0);
    if (is_complex && !is_real) out[1] = real_at(value, 1);
    return require(is_aligned(value));
  }
  Filler& place(kmb_blas_array kmb_blas_call::* array, Data data, int64_t step, long long stride) {
    call_.*array = {reinterpret_cast<uint64_t>(data), step, static_cast<uint64_t>(stride)};
    return *this;
  }

  kmb_blas_call& call_;
  bool is_good_ = true;
};

}  // namespace km::fake_cublas
