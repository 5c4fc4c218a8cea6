#include "fake_cublas/halves.h"

#include <cmath>

#include "base/half_float.h"

namespace km::fake_cublas {
namespace {

class Matrix {
 public:
  Matrix(const kmb_blas_array& array, uint64_t batch, bool is_bfloat, bool is_transposed)
      : data_(reinterpret_cast<uint16_t*>(array.address) + batch * array.stride),
        step_(static_cast<uint64_t>(array.step)),
        is_bfloat_(is_bfloat),
        is_transposed_(is_transposed) {}
  float get(uint64_t row, uint64_t column) const {
    const uint16_t bits = *place(row, column);
    return is_bfloat_ ? float_of_bfloat(bits) : float_of_half(bits);
  }
  void set(uint64_t row, uint64_t column, float value) const {
    *place(row, column) = is_bfloat_ ? bfloat_of_float(value) : half_of_float(value);
  }

 private:
  uint16_t* place(uint64_t row, uint64_t column) const {
    return data_ + (is_transposed_ ? row * step_ + column : column * step_ + row);
  }
  uint16_t* const data_;
  const uint64_t step_;
  const bool is_bfloat_, is_transposed_;
};

}  // namespace

void multiply_halves(const kmb_blas_call& call) {
  const bool is_bfloat = call.type == KM_DATA_TYPE_BF16;
  const auto alpha = static_cast<float>(call.alpha[0]), beta = static_cast<float>(call.beta[0]);
  for (uint64_t batch = 0; batch < call.batch_count; ++batch) {
    const Matrix a(call.a, batch, is_bfloat, call.operation_a != KM_BLAS_OPERATION_NONE);
    const Matrix b(call.b, batch, is_bfloat, call.operation_b != KM_BLAS_OPERATION_NONE);
    const Matrix c(call.c, batch, is_bfloat, false);
    for (uint64_t place = 0; place < call.m * call.n; ++place) {
      const uint64_t row = place % call.m, column = place / call.m;
      float sum = 0;
      for (uint64_t k = 0; k < call.k; ++k) {
        sum = std::fma(a.get(row, k), b.get(k, column), sum);
      }
      sum *= alpha;
      c.set(row, column, beta != 0 ? std::fma(beta, c.get(row, column), sum) : sum);
    }
  }
}

}  // namespace km::fake_cublas
