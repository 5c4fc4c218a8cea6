// Element types: those of the API, those that the routines compute with, and their numbers.
#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>

#include "dropin/cusolver/frame/status.h"
#include "math/lapack/scalar.h"

namespace km::cusolver {

template <class T>
struct TypeOf;
template <>
struct TypeOf<float> {
  using Native = float;
  static constexpr cudaDataType kData = CUDA_R_32F;
};
template <>
struct TypeOf<double> {
  using Native = double;
  static constexpr cudaDataType kData = CUDA_R_64F;
};
template <>
struct TypeOf<std::complex<float>> {
  using Native = std::complex<float>;
  static constexpr cudaDataType kData = CUDA_C_32F;
};
template <>
struct TypeOf<std::complex<double>> {
  using Native = std::complex<double>;
  static constexpr cudaDataType kData = CUDA_C_64F;
};
template <>
struct TypeOf<cuComplex> : TypeOf<std::complex<float>> {};
template <>
struct TypeOf<cuDoubleComplex> : TypeOf<std::complex<double>> {};

/// The type that routines compute with for T of the API, and the real type of its parts.
template <class T>
using Native = typename TypeOf<T>::Native;
template <class T>
using Real = math::Real<Native<T>>;
using math::conjugate;
using math::real_part;
template <class T>
inline constexpr bool kIsComplex = math::kIsComplex<Native<T>>;

/// Pointers of the API as those of routines.
template <class T>
Native<T>* native(T* data) {
  return reinterpret_cast<Native<T>*>(data);
}
template <class T>
const Native<T>* native(const T* data) {
  return reinterpret_cast<const Native<T>*>(data);
}

/// Runs `body` with a null pointer to the type of elements that `type` stands for.
template <class Body>
cusolverStatus_t for_type(cudaDataType type, Body&& body) {
  switch (type) {
    case CUDA_R_32F:
      return body(static_cast<float*>(nullptr));
    case CUDA_R_64F:
      return body(static_cast<double*>(nullptr));
    case CUDA_C_32F:
      return body(static_cast<std::complex<float>*>(nullptr));
    case CUDA_C_64F:
      return body(static_cast<std::complex<double>*>(nullptr));
    default:
      return invalid("data type %d is not one of f32, f64, c32 and c64", static_cast<int>(type));
  }
}

/// CUSOLVER_STATUS_INVALID_VALUE if the data type in argument `name` is not that of T.
template <class T>
cusolverStatus_t require_type(const char* name, cudaDataType type) {
  if (type == TypeOf<T>::kData) return CUSOLVER_STATUS_SUCCESS;
  return invalid("%s is %d, which does not go with the type of A", name, static_cast<int>(type));
}

}  // namespace km::cusolver
