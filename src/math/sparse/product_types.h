// The types that products can have.
#pragma once

#include "math/sparse/numbers.h"

namespace km::sparse {

template <class A, class B, class C>
struct ProductTypes {
  using First = A;
  using Second = B;
  using Sum = C;
};

/// Calls `f` with the ProductTypes of a sparse and a dense operand and their sums; returns
/// `otherwise` if there is no such product.
template <class R, class F>
R with_product_types(Number a, Number b, Number sum, R otherwise, F&& f) {
  using ComplexHalf = ComplexPair<Half>;
  using ComplexBFloat = ComplexPair<BFloat>;
  const auto is = [&](Number x, Number y, Number z) { return a == x && b == y && sum == z; };
  if (is(Number::kF32, Number::kF32, Number::kF32)) return f(ProductTypes<float, float, float>{});
  if (is(Number::kF64, Number::kF64, Number::kF64))
    return f(ProductTypes<double, double, double>{});
  if (is(Number::kC32, Number::kC32, Number::kC32)) return f(ProductTypes<C32, C32, C32>{});
  if (is(Number::kC64, Number::kC64, Number::kC64)) return f(ProductTypes<C64, C64, C64>{});
  if (is(Number::kF16, Number::kF16, Number::kF32)) return f(ProductTypes<Half, Half, float>{});
  if (is(Number::kBF16, Number::kBF16, Number::kF32))
    return f(ProductTypes<BFloat, BFloat, float>{});
  if (is(Number::kComplexF16, Number::kComplexF16, Number::kC32)) {
    return f(ProductTypes<ComplexHalf, ComplexHalf, C32>{});
  }
  if (is(Number::kComplexBF16, Number::kComplexBF16, Number::kC32)) {
    return f(ProductTypes<ComplexBFloat, ComplexBFloat, C32>{});
  }
  if (is(Number::kI8, Number::kI8, Number::kI32)) return f(ProductTypes<int8_t, int8_t, int32_t>{});
  if (is(Number::kI8, Number::kI8, Number::kF32)) return f(ProductTypes<int8_t, int8_t, float>{});
  if (is(Number::kF32, Number::kF64, Number::kF64)) return f(ProductTypes<float, double, double>{});
  if (is(Number::kF32, Number::kC32, Number::kC32)) return f(ProductTypes<float, C32, C32>{});
  if (is(Number::kF64, Number::kC64, Number::kC64)) return f(ProductTypes<double, C64, C64>{});
  return otherwise;
}

}  // namespace km::sparse
