// What the BLAS tests compare with: dense matrices of complex long double, and how each element
// type and each kind of storage becomes one. Everything is written out as in a textbook.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

extern "C" {
#include "support/testing.h"
}

namespace blas_test {

using Wide = std::complex<long double>;
using C32 = std::complex<float>;
using C64 = std::complex<double>;

struct Half {
  uint16_t bits;
};
struct Bfloat {
  uint16_t bits;
};

inline float to_float(Bfloat value) { return std::bit_cast<float>(uint32_t{value.bits} << 16); }
inline float to_float(Half value) {
  const int exponent = value.bits >> 10 & 31, mantissa = value.bits & 1023;
  float result = exponent == 0    ? std::ldexp(static_cast<float>(mantissa), -24)
                 : exponent == 31 ? (mantissa == 0 ? HUGE_VALF : NAN)
                                  : std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
  return (value.bits & 0x8000) != 0 ? -result : result;
}

/// The nearest of all 65536 values: slow, and plainly right.
template <class Narrow>
Narrow nearest(long double wanted) {
  Narrow best{0};
  long double distance = HUGE_VALL;
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const Narrow candidate{static_cast<uint16_t>(bits)};
    const long double off = std::fabs(static_cast<long double>(to_float(candidate)) - wanted);
    if (off < distance || (off == distance && (bits & 1) == 0)) {
      best = candidate;
      distance = off;
    }
  }
  return best;
}

template <class T>
struct Traits;
template <>
struct Traits<float> {
  using Real = float;
  using Scalar = float;
  static constexpr km_data_type kType = KM_DATA_TYPE_F32;
};
template <>
struct Traits<double> {
  using Real = double;
  using Scalar = double;
  static constexpr km_data_type kType = KM_DATA_TYPE_F64;
};
template <>
struct Traits<C32> {
  using Real = float;
  using Scalar = C32;
  static constexpr km_data_type kType = KM_DATA_TYPE_C32;
};
template <>
struct Traits<C64> {
  using Real = double;
  using Scalar = C64;
  static constexpr km_data_type kType = KM_DATA_TYPE_C64;
};
template <>
struct Traits<Half> {
  using Real = float;
  using Scalar = float;
  static constexpr km_data_type kType = KM_DATA_TYPE_F16;
};
template <>
struct Traits<Bfloat> {
  using Real = float;
  using Scalar = float;
  static constexpr km_data_type kType = KM_DATA_TYPE_BF16;
};
template <class T>
using RealOf = typename Traits<T>::Real;
template <class T>
using ScalarOf = typename Traits<T>::Scalar;
template <class T>
constexpr bool kIsComplex = std::is_same_v<T, C32> || std::is_same_v<T, C64>;
template <class T>
constexpr bool kIsHalf = std::is_same_v<T, Half> || std::is_same_v<T, Bfloat>;

template <class T>
Wide widen(T value) {
  if constexpr (kIsHalf<T>) {
    return {to_float(value), 0};
  } else if constexpr (kIsComplex<T>) {
    return {value.real(), value.imag()};
  } else {
    return {value, 0};
  }
}

inline std::mt19937& random_bits() {
  static std::mt19937 generator(20261121);
  return generator;
}

/// A small number; of f16 and bf16 one that they have.
template <class T>
T random_value() {
  std::uniform_real_distribution<float> range(-1, 1);
  const float real = range(random_bits());
  if constexpr (std::is_same_v<T, Bfloat>) {
    return {static_cast<uint16_t>(std::bit_cast<uint32_t>(real) >> 16)};
  } else if constexpr (std::is_same_v<T, Half>) {
    return {static_cast<uint16_t>((random_bits()() & 0x83ff) | (12U + random_bits()() % 3) << 10)};
  } else if constexpr (kIsComplex<T>) {
    return {real, range(random_bits())};
  } else {
    return real;
  }
}

/// Bits that no result has: what lies between the lines must keep them.
template <class T>
T marker() {
  T value;
  std::memset(static_cast<void*>(&value), 0xFF, sizeof value);  // a NaN
  return value;
}

template <class T>
bool same_bits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

/// A matrix as mathematics has it, and the sizes of what its elements are sums of.
struct Dense {
  uint64_t rows = 0, columns = 0;
  std::vector<Wide> values;

  Dense() = default;
  Dense(uint64_t m, uint64_t n) : rows(m), columns(n), values(m * n) {}
  Wide& at(uint64_t i, uint64_t j) { return values[i * columns + j]; }
  const Wide& at(uint64_t i, uint64_t j) const { return values[i * columns + j]; }
};

inline Dense magnitudes(const Dense& a) {
  Dense result = a;
  for (Wide& value : result.values) {
    value = std::fabs(value.real()) + std::fabs(value.imag());
  }
  return result;
}

inline Dense transposed(const Dense& a, bool conjugated) {
  Dense result(a.columns, a.rows);
  for (uint64_t i = 0; i < a.rows; ++i) {
    for (uint64_t j = 0; j < a.columns; ++j) {
      result.at(j, i) = conjugated ? std::conj(a.at(i, j)) : a.at(i, j);
    }
  }
  return result;
}

inline Dense apply(const Dense& a, km_blas_operation operation) {
  if (operation == KM_BLAS_OPERATION_NONE) return a;
  return transposed(a, operation == KM_BLAS_OPERATION_CONJUGATE_TRANSPOSE);
}

inline bool is_real(const Dense& a) {
  return std::all_of(a.values.begin(), a.values.end(),
                     [](const Wide& value) { return value.imag() == 0; });
}

/// Without the care that std::complex takes of infinities, which is slow.
template <bool kReal>
Dense product_of(const Dense& a, const Dense& b) {
  Dense result(a.rows, b.columns);
  for (uint64_t i = 0; i < a.rows; ++i) {
    for (uint64_t k = 0; k < a.columns; ++k) {
      const long double real = a.at(i, k).real(), imaginary = a.at(i, k).imag();
      for (uint64_t j = 0; j < b.columns; ++j) {
        Wide& sum = result.at(i, j);
        const Wide& other = b.at(k, j);
        if constexpr (kReal) {
          sum.real(sum.real() + real * other.real());
        } else {
          sum = {sum.real() + (real * other.real() - imaginary * other.imag()),
                 sum.imag() + (real * other.imag() + imaginary * other.real())};
        }
      }
    }
  }
  return result;
}

inline Dense product(const Dense& a, const Dense& b) {
  return is_real(a) && is_real(b) ? product_of<true>(a, b) : product_of<false>(a, b);
}

/// alpha a + beta b.
inline Dense combined(Wide alpha, const Dense& a, Wide beta, const Dense& b) {
  Dense result = a;
  for (size_t i = 0; i < a.values.size(); ++i) {
    result.values[i] = alpha * a.values[i];
    if (beta != Wide(0)) result.values[i] += beta * b.values[i];
  }
  return result;
}

enum class Shape { kGeneral, kSymmetric, kHermitian, kTriangular };
struct Form {
  Shape shape = Shape::kGeneral;
  km_blas_triangle triangle = KM_BLAS_TRIANGLE_LOWER;
  km_blas_diagonal diagonal = KM_BLAS_DIAGONAL_STORED;
};

/// What a square matrix means of which one triangle is given.
inline Dense completed(const Dense& stored, const Form& form) {
  Dense result(stored.rows, stored.columns);
  for (uint64_t i = 0; i < stored.rows; ++i) {
    for (uint64_t j = 0; j < stored.columns; ++j) {
      const bool inside = form.shape == Shape::kGeneral ||
                          (form.triangle == KM_BLAS_TRIANGLE_LOWER ? j <= i : j >= i);
      Wide value = inside ? stored.at(i, j) : Wide(0);
      if (!inside && form.shape == Shape::kSymmetric) value = stored.at(j, i);
      if (!inside && form.shape == Shape::kHermitian) value = std::conj(stored.at(j, i));
      if (i == j && form.shape == Shape::kHermitian) value = value.real();
      if (i == j && form.shape == Shape::kTriangular && form.diagonal == KM_BLAS_DIAGONAL_UNIT) {
        value = 1;
      }
      result.at(i, j) = value;
    }
  }
  return result;
}

/// Elements in memory, with a marker wherever there is no element.
template <class T>
struct Stored {
  std::vector<T> data;
  km_slice slice = nullptr;
  uint64_t offset = 0;

  explicit Stored(uint64_t count) : data(count, marker<T>()) {}
  Stored(const Stored&) = delete;
  Stored& operator=(const Stored&) = delete;
  ~Stored() { OK(km_slice_destroy(slice)); }

  void upload(const fixture* f) {
    OK(km_slice_create(f->context, data.size(), sizeof(T), 0, &slice));
    OK(km_slice_upload(f->stream, slice, 0, data.data(), data.size() * sizeof(T)));
  }
  std::vector<T> download(const fixture* f) const {
    std::vector<T> seen(data.size());
    OK(km_slice_download(f->stream, slice, 0, seen.data(), seen.size() * sizeof(T)));
    return seen;
  }
};

/// A vector with an increment, some elements into its slice.
template <class T>
struct StoredVector : Stored<T> {
  uint64_t count;
  int64_t increment;

  StoredVector(uint64_t n, int64_t step)
      : Stored<T>(3 + (n == 0 ? 0 : (n - 1) * static_cast<uint64_t>(std::abs(step)) + 1) + 2),
        count(n),
        increment(step) {
    this->offset = 3;
    for (uint64_t i = 0; i < n; ++i) this->data[place(i)] = random_value<T>();
  }
  uint64_t place(uint64_t i) const {
    const auto distance = static_cast<uint64_t>(std::abs(increment));
    return 3 + (increment > 0 ? i : count - 1 - i) * distance;
  }
  Dense dense(const std::vector<T>& from) const {
    Dense result(count, 1);
    for (uint64_t i = 0; i < count; ++i) result.at(i, 0) = widen(from[place(i)]);
    return result;
  }
  Dense dense() const { return dense(this->data); }
  km_blas_vector argument() const {
    return {reinterpret_cast<uint64_t>(this->slice), 0, this->offset, increment};
  }
  bool keeps_markers(const std::vector<T>& seen) const {
    std::vector<T> with = this->data;
    for (uint64_t i = 0; i < count; ++i) with[place(i)] = seen[place(i)];
    return std::memcmp(with.data(), seen.data(), with.size() * sizeof(T)) == 0;
  }
};

enum class Storage { kFull, kBand, kPacked };

/// A matrix: all of it, or a triangle; in full, as a band or packed.
template <class T>
struct StoredMatrix : Stored<T> {
  km_blas_layout layout;
  uint64_t rows, columns, leading;
  Storage storage;
  uint64_t lower, upper;  // diagonals, of a band
  km_blas_triangle triangle;

  StoredMatrix(km_blas_layout order, uint64_t m, uint64_t n, Storage kind = Storage::kFull,
               uint64_t below = 0, uint64_t above = 0, km_blas_triangle half = 0)
      : Stored<T>(count_of(order, m, n, kind, below, above)),
        layout(order),
        rows(m),
        columns(n),
        leading(kind == Storage::kPacked ? 0 : line(order, m, n, kind, below, above) + 2),
        storage(kind),
        lower(below),
        upper(above),
        triangle(half) {
    this->offset = 5;
    for (uint64_t i = 0; i < m; ++i) {
      for (uint64_t j = 0; j < n; ++j) {
        if (is_stored(i, j)) this->data[place(i, j)] = random_value<T>();
      }
    }
  }
  static uint64_t line(km_blas_layout order, uint64_t m, uint64_t n, Storage kind, uint64_t below,
                       uint64_t above) {
    if (kind == Storage::kBand) return below + above + 1;
    return order == KM_BLAS_LAYOUT_ROWS ? n : m;
  }
  static uint64_t count_of(km_blas_layout order, uint64_t m, uint64_t n, Storage kind,
                           uint64_t below, uint64_t above) {
    if (kind == Storage::kPacked) return 5 + n * (n + 1) / 2 + 1;
    const uint64_t lines = order == KM_BLAS_LAYOUT_ROWS ? m : n;
    return 5 + lines * (line(order, m, n, kind, below, above) + 2) + 1;
  }
  bool is_stored(uint64_t i, uint64_t j) const {
    if (triangle == KM_BLAS_TRIANGLE_LOWER && j > i) return false;
    if (triangle == KM_BLAS_TRIANGLE_UPPER && j < i) return false;
    return storage != Storage::kBand || (j <= i + upper && i <= j + lower);
  }
  uint64_t place(uint64_t i, uint64_t j) const {
    const bool by_rows = layout == KM_BLAS_LAYOUT_ROWS;
    if (storage == Storage::kFull) return 5 + (by_rows ? i * leading + j : j * leading + i);
    if (storage == Storage::kBand) {
      return 5 + (by_rows ? i * leading + lower + j - i : j * leading + upper + i - j);
    }
    // Packed: the lines of the triangle one after the other.
    const uint64_t outer = by_rows ? i : j, inner = by_rows ? j : i;
    const bool grows = (triangle == KM_BLAS_TRIANGLE_LOWER) == by_rows;
    if (grows) return 5 + outer * (outer + 1) / 2 + inner;
    return 5 + outer * columns - outer * (outer + 1) / 2 + inner;
  }
  Dense dense(const std::vector<T>& from) const {
    Dense result(rows, columns);
    for (uint64_t i = 0; i < rows; ++i) {
      for (uint64_t j = 0; j < columns; ++j) {
        if (is_stored(i, j)) result.at(i, j) = widen(from[place(i, j)]);
      }
    }
    return result;
  }
  Dense dense() const { return dense(this->data); }
  km_blas_matrix argument() const {
    return {reinterpret_cast<uint64_t>(this->slice), 0, this->offset, leading, 0};
  }
  bool keeps_markers(const std::vector<T>& seen) const {
    std::vector<T> with = this->data;
    for (uint64_t i = 0; i < rows; ++i) {
      for (uint64_t j = 0; j < columns; ++j) {
        if (is_stored(i, j)) with[place(i, j)] = seen[place(i, j)];
      }
    }
    return std::memcmp(with.data(), seen.data(), with.size() * sizeof(T)) == 0;
  }
};

/// Each element differs by no more than rounding each of its `terms` operations can make it:
/// `sizes` is the sum of the magnitudes that went into it.
template <class T>
void expect_close(const Dense& seen, const Dense& wanted, const Dense& sizes, uint64_t terms,
                  const char* what) {
  const auto epsilon = static_cast<long double>(std::numeric_limits<RealOf<T>>::epsilon());
  assert_int_equal(seen.values.size(), wanted.values.size());
  for (size_t i = 0; i < seen.values.size(); ++i) {
    const long double size = sizes.values[i].real();
    long double bound = static_cast<long double>(2 * terms + 8) * epsilon * size;
    if (std::is_same_v<T, Half>) bound += std::abs(wanted.values[i]) * 0x1p-11L + 0x1p-25L;
    if (std::is_same_v<T, Bfloat>) bound += std::abs(wanted.values[i]) * 0x1p-8L;
    const long double off = std::abs(seen.values[i] - wanted.values[i]);
    if (off <= bound) continue;
    fail_msg("%s of type %d: element %zu is %Lg%+Lgi, not %Lg%+Lgi (off by %Lg, bound %Lg)", what,
             Traits<T>::kType, i, seen.values[i].real(), seen.values[i].imag(),
             wanted.values[i].real(), wanted.values[i].imag(), off, bound);
  }
}

}  // namespace blas_test
