// Element types by their names of CUDA.
#pragma once

#include "dropin/cusparse/frame/structures.h"
#include "math/sparse/product_types.h"

namespace km::cusparse {

using sparse::BFloat;
using sparse::C32;
using sparse::C64;
using sparse::Complex;
using sparse::ComplexPair;
using sparse::conjugate;
using sparse::conjugate_if;
using sparse::Half;
using sparse::kIsComplex;
using sparse::magnitude;
using sparse::narrow;
using sparse::Number;
using sparse::read_element;
using sparse::Real;
using sparse::TypeTag;
using sparse::widen;
using sparse::write_element;

/// The type as sparse loops name it; kNone for types that no element has.
constexpr Number number_of(cudaDataType type) {
  switch (type) {
    case CUDA_R_32F:
      return Number::kF32;
    case CUDA_R_64F:
      return Number::kF64;
    case CUDA_C_32F:
      return Number::kC32;
    case CUDA_C_64F:
      return Number::kC64;
    case CUDA_R_16F:
      return Number::kF16;
    case CUDA_R_16BF:
      return Number::kBF16;
    case CUDA_C_16F:
      return Number::kComplexF16;
    case CUDA_C_16BF:
      return Number::kComplexBF16;
    case CUDA_R_8I:
      return Number::kI8;
    case CUDA_R_32I:
      return Number::kI32;
    default:
      return Number::kNone;
  }
}

/// Calls `f` with the TypeTag of an element's type; returns `otherwise` for types that no element
/// has.
template <class F, class R>
R with_storage(cudaDataType type, R otherwise, F&& f) {
  return sparse::with_storage(number_of(type), otherwise, f);
}
/// Calls `f` with the TypeTag of a type of sums; returns `otherwise` for other types.
template <class F, class R>
R with_compute(cudaDataType type, R otherwise, F&& f) {
  return sparse::with_compute(number_of(type), otherwise, f);
}
/// Calls `f` with the ProductTypes of operands and sums; returns `otherwise` if there is no such
/// product.
template <class R, class F>
R with_product_types(cudaDataType a, cudaDataType b, cudaDataType sum, R otherwise, F&& f) {
  return sparse::with_product_types(number_of(a), number_of(b), number_of(sum), otherwise, f);
}

/// The size of an element in bytes; 0 if elements cannot have the type.
inline uint32_t bytes_of(cudaDataType type) { return sparse::bytes_of(number_of(type)); }

template <class C>
C load(cudaDataType type, const void* array, int64_t index) {
  return sparse::load<C>(number_of(type), array, index);
}
template <class C>
void store(cudaDataType type, void* array, int64_t index, const C& value) {
  sparse::store<C>(number_of(type), array, index, value);
}

}  // namespace km::cusparse
