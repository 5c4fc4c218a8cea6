// The types that products can have.
#pragma once

#include "dropin/cusparse/frame/numbers.h"

namespace km::cusparse {

template <class A, class B, class C>
struct ProductTypes {
  using First = A;
  using Second = B;
  using Sum = C;
};

/// Calls `f` with the ProductTypes of a sparse and a dense operand and their sums; returns
/// `otherwise` if there is no such product.
template <class R, class F>
R with_product_types(cudaDataType a, cudaDataType b, cudaDataType sum, R otherwise, F&& f) {
  using ComplexHalf = ComplexPair<Half>;
  using ComplexBFloat = ComplexPair<BFloat>;
  const auto is = [&](cudaDataType x, cudaDataType y, cudaDataType z) {
    return a == x && b == y && sum == z;
  };
  if (is(CUDA_R_32F, CUDA_R_32F, CUDA_R_32F)) return f(ProductTypes<float, float, float>{});
  if (is(CUDA_R_64F, CUDA_R_64F, CUDA_R_64F)) return f(ProductTypes<double, double, double>{});
  if (is(CUDA_C_32F, CUDA_C_32F, CUDA_C_32F)) return f(ProductTypes<C32, C32, C32>{});
  if (is(CUDA_C_64F, CUDA_C_64F, CUDA_C_64F)) return f(ProductTypes<C64, C64, C64>{});
  if (is(CUDA_R_16F, CUDA_R_16F, CUDA_R_32F)) return f(ProductTypes<Half, Half, float>{});
  if (is(CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F)) return f(ProductTypes<BFloat, BFloat, float>{});
  if (is(CUDA_C_16F, CUDA_C_16F, CUDA_C_32F)) {
    return f(ProductTypes<ComplexHalf, ComplexHalf, C32>{});
  }
  if (is(CUDA_C_16BF, CUDA_C_16BF, CUDA_C_32F)) {
    return f(ProductTypes<ComplexBFloat, ComplexBFloat, C32>{});
  }
  if (is(CUDA_R_8I, CUDA_R_8I, CUDA_R_32I)) return f(ProductTypes<int8_t, int8_t, int32_t>{});
  if (is(CUDA_R_8I, CUDA_R_8I, CUDA_R_32F)) return f(ProductTypes<int8_t, int8_t, float>{});
  if (is(CUDA_R_32F, CUDA_R_64F, CUDA_R_64F)) return f(ProductTypes<float, double, double>{});
  if (is(CUDA_R_32F, CUDA_C_32F, CUDA_C_32F)) return f(ProductTypes<float, C32, C32>{});
  if (is(CUDA_R_64F, CUDA_C_64F, CUDA_C_64F)) return f(ProductTypes<double, C64, C64>{});
  return otherwise;
}

}  // namespace km::cusparse
