// Element types, and loads and stores that convert between them and the types of sums.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/half_float.h"

namespace km::sparse {

/// A complex number with plain arithmetic. std::complex treats infinities specially, which costs a
/// call per product.
template <class T>
struct Complex {
  T re = 0, im = 0;

  constexpr Complex() = default;
  constexpr Complex(T real, T imaginary = 0) : re(real), im(imaginary) {}
  template <class U>
  constexpr explicit Complex(const Complex<U>& other)
      : re(static_cast<T>(other.re)), im(static_cast<T>(other.im)) {}

  Complex& operator+=(const Complex& b) { return *this = *this + b; }
  Complex& operator-=(const Complex& b) { return *this = *this - b; }
  friend Complex operator+(const Complex& a, const Complex& b) {
    return {a.re + b.re, a.im + b.im};
  }
  friend Complex operator-(const Complex& a, const Complex& b) {
    return {a.re - b.re, a.im - b.im};
  }
  friend Complex operator-(const Complex& a) { return {-a.re, -a.im}; }
  friend Complex operator*(const Complex& a, const Complex& b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  /// Smith's division, which scales by the larger part of the divisor.
  friend Complex operator/(const Complex& a, const Complex& b) {
    if (std::abs(b.re) >= std::abs(b.im)) {
      const T ratio = b.im / b.re, scale = b.re + b.im * ratio;
      return {(a.re + a.im * ratio) / scale, (a.im - a.re * ratio) / scale};
    }
    const T ratio = b.re / b.im, scale = b.re * ratio + b.im;
    return {(a.re * ratio + a.im) / scale, (a.im * ratio - a.re) / scale};
  }
  friend bool operator==(const Complex& a, const Complex& b) = default;
};

using C32 = Complex<float>;
using C64 = Complex<double>;

// Storage types that are converted by loads and stores.
struct Half {
  uint16_t bits;
};
struct BFloat {
  uint16_t bits;
};
template <class Part>
struct ComplexPair {
  Part re, im;
};

template <class T>
inline constexpr bool kIsComplex = false;
template <class T>
inline constexpr bool kIsComplex<Complex<T>> = true;
template <class T>
inline constexpr bool kIsComplex<ComplexPair<T>> = true;

template <class T>
T conjugate(const T& value) {
  if constexpr (kIsComplex<T>) {
    return {value.re, -value.im};
  } else {
    return value;
  }
}
template <class T>
T conjugate_if(bool is_conjugate, const T& value) {
  return is_conjugate ? conjugate(value) : value;
}

/// The type of a number's parts.
template <class T>
struct RealOf {
  using Type = T;
};
template <class T>
struct RealOf<Complex<T>> {
  using Type = T;
};
template <class T>
using Real = typename RealOf<T>::Type;

template <class T>
double magnitude(const T& value) {
  if constexpr (kIsComplex<T>) {
    return std::hypot(static_cast<double>(value.re), static_cast<double>(value.im));
  } else {
    return std::abs(static_cast<double>(value));
  }
}

/// Converts one stored element to a type of sums. Complex elements keep their real part only if the
/// sums are real.
template <class C, class S>
C widen(const S& value) {
  if constexpr (std::is_same_v<S, Half>) {
    return C(static_cast<Real<C>>(float_of_half(value.bits)));
  } else if constexpr (std::is_same_v<S, BFloat>) {
    return C(static_cast<Real<C>>(float_of_bfloat(value.bits)));
  } else if constexpr (kIsComplex<S> && kIsComplex<C>) {
    return C(widen<Real<C>>(value.re), widen<Real<C>>(value.im));
  } else if constexpr (kIsComplex<S>) {
    return widen<C>(value.re);
  } else {
    return C(static_cast<Real<C>>(value));
  }
}

/// Rounds a sum once to a stored element. Integers saturate.
template <class S, class C>
S narrow(const C& value) {
  if constexpr (kIsComplex<S> && kIsComplex<C>) {
    using Part = decltype(S::re);
    return {narrow<Part>(value.re), narrow<Part>(value.im)};
  } else if constexpr (kIsComplex<S>) {
    using Part = decltype(S::re);
    return {narrow<Part>(value), narrow<Part>(Real<C>(0))};
  } else if constexpr (kIsComplex<C>) {
    return narrow<S>(value.re);
  } else if constexpr (std::is_same_v<S, Half>) {
    return {half_of_float(static_cast<float>(value))};
  } else if constexpr (std::is_same_v<S, BFloat>) {
    return {bfloat_of_float(static_cast<float>(value))};
  } else if constexpr (std::is_integral_v<S> && std::is_floating_point_v<C>) {
    constexpr auto kLeast = static_cast<C>(std::numeric_limits<S>::min());
    if (!(value > kLeast)) return value != value ? S(0) : std::numeric_limits<S>::min();
    if (value >= -kLeast) return std::numeric_limits<S>::max();
    return static_cast<S>(std::nearbyint(value));
  } else {
    return static_cast<S>(value);
  }
}

template <class T>
struct TypeTag {
  using Type = T;
};

/// The types of stored elements and of sums.
enum class Number : uint8_t {
  kNone,  // none of the others
  kF32,
  kF64,
  kC32,  // of two f32
  kC64,
  kF16,
  kBF16,
  kComplexF16,
  kComplexBF16,
  kI8,
  kI32,
};

/// Calls `f` with the TypeTag of an element's type; returns `otherwise` for kNone.
template <class F, class R>
R with_storage(Number type, R otherwise, F&& f) {
  switch (type) {
    case Number::kF32:
      return f(TypeTag<float>{});
    case Number::kF64:
      return f(TypeTag<double>{});
    case Number::kC32:
      return f(TypeTag<C32>{});
    case Number::kC64:
      return f(TypeTag<C64>{});
    case Number::kF16:
      return f(TypeTag<Half>{});
    case Number::kBF16:
      return f(TypeTag<BFloat>{});
    case Number::kComplexF16:
      return f(TypeTag<ComplexPair<Half>>{});
    case Number::kComplexBF16:
      return f(TypeTag<ComplexPair<BFloat>>{});
    case Number::kI8:
      return f(TypeTag<int8_t>{});
    case Number::kI32:
      return f(TypeTag<int32_t>{});
    case Number::kNone:
      break;
  }
  return otherwise;
}

/// Calls `f` with the TypeTag of a type of sums; returns `otherwise` for other types.
template <class F, class R>
R with_compute(Number type, R otherwise, F&& f) {
  switch (type) {
    case Number::kF32:
      return f(TypeTag<float>{});
    case Number::kF64:
      return f(TypeTag<double>{});
    case Number::kC32:
      return f(TypeTag<C32>{});
    case Number::kC64:
      return f(TypeTag<C64>{});
    case Number::kI32:
      return f(TypeTag<int32_t>{});
    default:
      return otherwise;
  }
}

/// The size of an element in bytes; 0 for kNone.
inline uint32_t bytes_of(Number type) {
  return with_storage(type, uint32_t{0},
                      [](auto tag) -> uint32_t { return sizeof(typename decltype(tag)::Type); });
}

template <class T>
inline constexpr Number kNumberOf = Number::kF32;
template <>
inline constexpr Number kNumberOf<double> = Number::kF64;
template <>
inline constexpr Number kNumberOf<C32> = Number::kC32;
template <>
inline constexpr Number kNumberOf<C64> = Number::kC64;
template <>
inline constexpr Number kNumberOf<int32_t> = Number::kI32;

/// Loads and stores element `index` of an array. Programs' arrays need not be aligned.
template <class S>
S read_element(const void* array, int64_t index) {
  S value;
  std::memcpy(&value, static_cast<const char*>(array) + index * static_cast<int64_t>(sizeof(S)),
              sizeof(S));
  return value;
}
template <class S>
void write_element(void* array, int64_t index, const S& value) {
  std::memcpy(static_cast<char*>(array) + index * static_cast<int64_t>(sizeof(S)), &value,
              sizeof(S));
}

/// Loads an element of a type that is known at run time.
template <class C>
C load(Number type, const void* array, int64_t index) {
  if (type == kNumberOf<C>) return read_element<C>(array, index);
  return with_storage(type, C{}, [&](auto tag) {
    return widen<C>(read_element<typename decltype(tag)::Type>(array, index));
  });
}
/// Rounds a sum and stores it as an element of a type that is known at run time.
template <class C>
void store(Number type, void* array, int64_t index, const C& value) {
  if (type == kNumberOf<C>) return write_element<C>(array, index, value);
  with_storage(type, 0, [&](auto tag) {
    using S = typename decltype(tag)::Type;
    write_element<S>(array, index, narrow<S>(value));
    return 0;
  });
}

}  // namespace km::sparse
