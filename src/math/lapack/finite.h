// Numbers that are not finite: LAPACK's iterations may not end with them, so that they are found
// before.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "math/lapack/scalar.h"

namespace km::math {

template <class T>
bool is_finite(const T& value) {
  if constexpr (kIsComplex<T>) {
    return std::isfinite(value.real()) && std::isfinite(value.imag());
  } else {
    return std::isfinite(value);
  }
}

/// The parts of a square matrix that a routine reads.
enum class Part : char { kAll, kUpper, kLower };
/// The part that LAPACK's letter of a triangle names.
inline Part part_of(char triangle) { return triangle == 'U' ? Part::kUpper : Part::kLower; }

template <class T>
bool are_finite(const T* a, int64_t rows, int64_t columns, int64_t leading,
                Part part = Part::kAll) {
  for (int64_t j = 0; j < columns; ++j) {
    const int64_t first = part == Part::kLower ? j : 0;
    const int64_t end = part == Part::kUpper ? std::min(j + 1, rows) : rows;
    for (int64_t i = first; i < end; ++i) {
      if (!is_finite(a[i + j * leading])) return false;
    }
  }
  return true;
}

/// The order of the smallest leading minor that has a number which is not finite; n + 1 if there is
/// none.
template <class T>
int first_infinite_minor(const T* a, int n, int64_t leading, Part triangle) {
  int order = n + 1;
  for (int j = 0; j < order - 1; ++j) {
    const int first = triangle == Part::kLower ? j : 0;
    const int end = triangle == Part::kUpper ? j + 1 : order - 1;
    for (int i = first; i < end; ++i) {
      if (is_finite(a[i + j * leading])) continue;
      order = std::max(i, j) + 1;
      break;
    }
  }
  return order;
}

template <class T>
void fill_nan(T* a, int64_t rows, int64_t columns, int64_t leading) {
  for (int64_t j = 0; j < columns; ++j) {
    for (int64_t i = 0; i < rows; ++i) {
      a[i + j * leading] = std::numeric_limits<Real<T>>::quiet_NaN();
    }
  }
}

}  // namespace km::math
