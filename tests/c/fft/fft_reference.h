// The values that tests of transforms compare with: sums in long double, written out as in a
// textbook, and arrays of any layout.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <numbers>
#include <random>
#include <vector>

#include <kernelmill/helpers.h>

#include "blas/blas_reference.h"

namespace fft_test {

using blas_test::Wide;

/// A type of numbers: its size, its precision, and how it is read and written.
struct Numbers {
  km_data_type type;
  uint64_t size_bytes;
  long double epsilon;
};
constexpr Numbers kNumbers[] = {{KM_DATA_TYPE_F32, 4, 0x1p-23L},
                                {KM_DATA_TYPE_F64, 8, 0x1p-52L},
                                {KM_DATA_TYPE_F16, 2, 0x1p-10L},
                                {KM_DATA_TYPE_BF16, 2, 0x1p-7L}};

template <class T>
long double read_as(const uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return blas_test::widen(value).real();
}
inline long double read_number(km_data_type type, const uint8_t* from) {
  if (type == KM_DATA_TYPE_F64) return read_as<double>(from);
  if (type == KM_DATA_TYPE_F32) return read_as<float>(from);
  return type == KM_DATA_TYPE_F16 ? read_as<blas_test::Half>(from)
                                  : read_as<blas_test::Bfloat>(from);
}

template <class T>
void write_as(uint8_t* to) {
  const T value = blas_test::random_value<T>();
  std::memcpy(to, &value, sizeof value);
}
inline void write_random(km_data_type type, uint8_t* to) {
  if (type == KM_DATA_TYPE_F64) return write_as<double>(to);
  if (type == KM_DATA_TYPE_F32) return write_as<float>(to);
  type == KM_DATA_TYPE_F16 ? write_as<blas_test::Half>(to) : write_as<blas_test::Bfloat>(to);
}

/// One side of a transform with the layout in full.
class Side {
 public:
  Side(const km_fft_shape& shape, bool is_input) {
    for (const Numbers& each : kNumbers) {
      if (each.type == shape.type) numbers_ = each;
    }
    const bool is_real =
        shape.kind == (is_input ? KM_FFT_KIND_REAL_TO_COMPLEX : KM_FFT_KIND_COMPLEX_TO_REAL);
    parts_ = is_real ? 1 : 2;
    for (uint32_t i = 0; i < 3; ++i) lengths_[i] = i < shape.rank ? shape.sizes[i] : 1;
    if (shape.kind != KM_FFT_KIND_COMPLEX && !is_real) {
      lengths_[shape.rank - 1] = lengths_[shape.rank - 1] / 2 + 1;
    }
    km_fft_layout layout = is_input ? shape.input : shape.output;
    if (layout.stride == 0) {
      layout.stride = 1;
      layout.distance = count();
      for (uint32_t i = 0; i < 3; ++i) layout.extents[i] = lengths_[i];
    }
    for (uint32_t i = shape.rank; i-- > 0;) {
      steps_[i] = i + 1 == shape.rank ? layout.stride : steps_[i + 1] * layout.extents[i + 1];
    }
    distance_ = layout.distance;
    batch_ = shape.batch_count;
  }

  uint64_t element_bytes() const { return numbers_.size_bytes * parts_; }
  uint64_t count() const { return lengths_[0] * lengths_[1] * lengths_[2]; }
  const uint64_t* lengths() const { return lengths_; }
  long double epsilon() const { return numbers_.epsilon; }
  /// The byte of an element of a transform.
  uint64_t place(uint64_t transform, uint64_t index) const {
    const uint64_t k = index % lengths_[2], j = index / lengths_[2] % lengths_[1];
    const uint64_t i = index / lengths_[2] / lengths_[1];
    return (transform * distance_ + i * steps_[0] + j * steps_[1] + k * steps_[2]) *
           element_bytes();
  }
  /// The bytes from the first element to behind the last.
  uint64_t size_bytes() const { return place(batch_ - 1, count() - 1) + element_bytes(); }

  void randomize(std::vector<uint8_t>* bytes) const {
    each([&](uint64_t at) {
      for (uint64_t part = 0; part < parts_; ++part) {
        write_random(numbers_.type, bytes->data() + at + part * numbers_.size_bytes);
      }
    });
  }
  /// Marks the bytes of all elements.
  void mark(std::vector<uint8_t>* marks) const {
    each([&](uint64_t at) { std::memset(marks->data() + at, 1, element_bytes()); });
  }
  std::vector<Wide> read(const std::vector<uint8_t>& bytes, uint64_t transform) const {
    std::vector<Wide> values(count());
    for (uint64_t i = 0; i < values.size(); ++i) {
      const uint8_t* const from = bytes.data() + place(transform, i);
      values[i] = read_number(numbers_.type, from);
      if (parts_ == 2) values[i].imag(read_number(numbers_.type, from + numbers_.size_bytes));
    }
    return values;
  }

 private:
  template <class Visit>
  void each(Visit&& visit) const {
    for (uint64_t b = 0; b < batch_; ++b) {
      for (uint64_t i = 0; i < count(); ++i) visit(place(b, i));
    }
  }

  Numbers numbers_{};
  uint64_t parts_ = 2, batch_ = 1, distance_ = 0;
  uint64_t lengths_[3] = {1, 1, 1}, steps_[3] = {};
};

/// The transform of one dimension of an array by its definition.
inline void transform_dimension(std::vector<Wide>* values, const uint64_t (&sizes)[3],
                                uint32_t dimension, int sign) {
  const uint64_t n = sizes[dimension];
  uint64_t step = 1;
  for (uint32_t i = dimension + 1; i < 3; ++i) step *= sizes[i];
  std::vector<Wide> roots(n), line(n);
  for (uint64_t k = 0; k < n; ++k) {
    roots[k] = std::polar(1.0L, sign * 2 * std::numbers::pi_v<long double> *
                                    static_cast<long double>(k) / static_cast<long double>(n));
  }
  for (uint64_t first = 0; first < values->size(); ++first) {
    if (first / step % n != 0) continue;
    for (uint64_t j = 0; j < n; ++j) line[j] = (*values)[first + j * step];
    for (uint64_t k = 0; k < n; ++k) {
      long double re = 0, im = 0;
      for (uint64_t j = 0, at = 0; j < n; ++j, at = at + k < n ? at + k : at + k - n) {
        re += line[j].real() * roots[at].real() - line[j].imag() * roots[at].imag();
        im += line[j].real() * roots[at].imag() + line[j].imag() * roots[at].real();
      }
      (*values)[first + k * step] = {re, im};
    }
  }
}

/// All elements of a complex array of which the last dimension is halved.
inline std::vector<Wide> completed(const std::vector<Wide>& half, const km_fft_shape& shape) {
  uint64_t sizes[3] = {1, 1, 1};
  for (uint32_t i = 0; i < shape.rank; ++i) sizes[i + 3 - shape.rank] = shape.sizes[i];
  const uint64_t length = sizes[2] / 2 + 1;
  std::vector<Wide> all;
  for (uint64_t i = 0; i < sizes[0]; ++i) {
    for (uint64_t j = 0; j < sizes[1]; ++j) {
      for (uint64_t k = 0; k < sizes[2]; ++k) {
        const uint64_t row = i * sizes[1] + j;
        const uint64_t other = (sizes[0] - i) % sizes[0] * sizes[1] + (sizes[1] - j) % sizes[1];
        all.push_back(k < length ? half[row * length + k]
                                 : std::conj(half[other * length + sizes[2] - k]));
      }
    }
  }
  return all;
}

/// The result of one transform, from the elements of its input.
inline std::vector<Wide> transformed(std::vector<Wide> values, const km_fft_shape& shape,
                                     km_fft_direction direction) {
  uint64_t sizes[3] = {1, 1, 1};
  for (uint32_t i = 0; i < shape.rank; ++i) sizes[i + 3 - shape.rank] = shape.sizes[i];
  const int sign = direction == KM_FFT_DIRECTION_FORWARD ? -1 : 1;
  if (shape.kind == KM_FFT_KIND_COMPLEX_TO_REAL) values = completed(values, shape);
  for (uint32_t i = 0; i < 3; ++i) transform_dimension(&values, sizes, i, sign);
  if (shape.kind == KM_FFT_KIND_COMPLEX_TO_REAL) {
    for (Wide& each : values) each = each.real();
  }
  if (shape.kind != KM_FFT_KIND_REAL_TO_COMPLEX) return values;
  std::vector<Wide> half;
  for (uint64_t i = 0; i < values.size(); ++i) {
    if (i % sizes[2] <= sizes[2] / 2) half.push_back(values[i]);
  }
  return half;
}

}  // namespace fft_test
