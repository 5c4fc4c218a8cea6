// ptx/approx.h on the host's own numbers. The compiler must not contract multiplications and
// additions.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace km::support {

/// The operations of ptx::Approx on plain numbers.
struct NativeOps {
  using F32 = float;
  using F64 = double;
  using I32 = uint32_t;
  using I64 = uint64_t;
  using Bool = bool;

  float f(float x) { return x; }
  double d(double x) { return x; }
  uint32_t i(uint32_t x) { return x; }
  uint64_t i64(uint64_t x) { return x; }
  template <class T>
  T add(T a, T b) {
    return a + b;
  }
  template <class T>
  T sub(T a, T b) {
    return a - b;
  }
  template <class T>
  T mul(T a, T b) {
    return a * b;
  }
  template <class T>
  T div(T a, T b) {
    return a / b;
  }
  template <class T>
  T fma(T a, T b, T c) {
    return std::fma(a, b, c);
  }
  template <class T>
  T sqrt(T a) {
    return std::sqrt(a);
  }
  float flush(float a) { return std::fabs(a) < 0x1p-126f ? std::copysign(0.0f, a) : a; }
  double flush(double a) { return std::fabs(a) < 0x1p-1022 ? std::copysign(0.0, a) : a; }
  float round(float a) { return std::nearbyint(a); }
  template <class T>
  T iadd(T a, T b) {
    return a + b;
  }
  template <class T>
  T isub(T a, T b) {
    return a - b;
  }
  template <class T>
  T iand(T a, T b) {
    return a & b;
  }
  template <class T>
  T ior(T a, T b) {
    return a | b;
  }
  template <class T>
  T ixor(T a, T b) {
    return a ^ b;
  }
  uint32_t shl(uint32_t a, unsigned n) { return a << n; }
  uint32_t sar(uint32_t a, unsigned n) {
    return static_cast<uint32_t>(static_cast<int32_t>(a) >> n);
  }
  uint32_t bits(float a) { return std::bit_cast<uint32_t>(a); }
  uint64_t bits(double a) { return std::bit_cast<uint64_t>(a); }
  float real(uint32_t a) { return std::bit_cast<float>(a); }
  double real(uint64_t a) { return std::bit_cast<double>(a); }
  uint32_t to_int(float a) {
    return std::fabs(a) < 0x1p31f ? static_cast<uint32_t>(static_cast<int32_t>(a)) : 0x80000000;
  }
  float from_int(uint32_t a) { return static_cast<float>(static_cast<int32_t>(a)); }
  template <class T>
  bool less(T a, T b) {
    return a < b;
  }
  template <class T>
  bool equal(T a, T b) {
    return a == b;
  }
  template <class T>
  bool is_zero(T a) {
    return a == 0;
  }
  template <class T>
  T select(bool c, T a, T b) {
    return c ? a : b;
  }
};

}  // namespace km::support
