// The four types of LAPACK's elements, and their numbers.
#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>

namespace km::math {

/// The types in the order of LAPACK's letters.
enum class Type : uint8_t { kS, kD, kC, kZ };

namespace detail {

template <class T>
struct Scalar;
template <>
struct Scalar<float> {
  using Real = float;
  static constexpr Type kType = Type::kS;
};
template <>
struct Scalar<double> {
  using Real = double;
  static constexpr Type kType = Type::kD;
};
template <>
struct Scalar<std::complex<float>> {
  using Real = float;
  static constexpr Type kType = Type::kC;
};
template <>
struct Scalar<std::complex<double>> {
  using Real = double;
  static constexpr Type kType = Type::kZ;
};

}  // namespace detail

/// The real type of T's parts.
template <class T>
using Real = typename detail::Scalar<T>::Real;
template <class T>
inline constexpr Type kType = detail::Scalar<T>::kType;
template <class T>
inline constexpr bool kIsComplex = !std::is_same_v<Real<T>, T>;

template <class T>
T conjugate(const T& value) {
  if constexpr (kIsComplex<T>) {
    return std::conj(value);
  } else {
    return value;
  }
}
template <class T>
Real<T> real_part(const T& value) {
  if constexpr (kIsComplex<T>) {
    return value.real();
  } else {
    return value;
  }
}

}  // namespace km::math
