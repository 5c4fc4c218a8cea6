#include "dropin/cudnn/engine/view.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/half_float.h"

namespace km::cudnn {
namespace {

/// Numbers of 8 bits with `kMantissa` bits of mantissa. `kIsFinite`: there are no infinities.
template <int kMantissa, int kBias, bool kIsFinite>
double of_fp8(uint8_t bits) {
  const int exponent = (bits & 0x7f) >> kMantissa, mantissa = bits & ((1 << kMantissa) - 1);
  const double sign = (bits & 0x80) != 0 ? -1 : 1;
  constexpr int kTop = (1 << (7 - kMantissa)) - 1;
  if (kIsFinite && (bits & 0x7f) == 0x7f) return std::numeric_limits<double>::quiet_NaN();
  if (!kIsFinite && exponent == kTop) {
    return mantissa != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  }
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - kBias - kMantissa);
  return sign * std::ldexp(mantissa + (1 << kMantissa), exponent - kBias - kMantissa);
}

/// Values out of range become the largest one, as cuDNN's conversions do.
template <int kMantissa, int kBias, bool kIsFinite>
uint8_t to_fp8(double value) {
  const auto sign = static_cast<uint8_t>(std::signbit(value) ? 0x80 : 0);
  if (std::isnan(value)) return sign | 0x7f;
  constexpr int kMost = kIsFinite ? 0x7e : 0x7b;
  const double magnitude = std::fabs(value);
  if (magnitude >= of_fp8<kMantissa, kBias, kIsFinite>(kMost)) return sign | kMost;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  const int scale = std::max(exponent - 1, 1 - kBias) - kMantissa;
  const auto units = static_cast<int>(std::nearbyint(std::ldexp(magnitude, -scale)));
  // A carry out of the mantissa increments the exponent's bits.
  const int bits = ((scale + kMantissa - 1 + kBias) << kMantissa) + units;
  return static_cast<uint8_t>(sign | bits);
}

template <class Stored, class T, class Convert>
void read_as(const char* data, int64_t offset, int64_t stride, int64_t count, T* out,
             Convert&& convert) {
  const char* from = data + offset * static_cast<int64_t>(sizeof(Stored));
  const int64_t step = stride * static_cast<int64_t>(sizeof(Stored));
  for (int64_t i = 0; i < count; ++i) {
    Stored value;
    std::memcpy(&value, from + i * step, sizeof value);
    out[i] = static_cast<T>(convert(value));
  }
}
template <class Stored, class T, class Convert>
void write_as(char* data, int64_t offset, int64_t stride, int64_t count, const T* values,
              Convert&& convert) {
  char* to = data + offset * static_cast<int64_t>(sizeof(Stored));
  const int64_t step = stride * static_cast<int64_t>(sizeof(Stored));
  for (int64_t i = 0; i < count; ++i) {
    const Stored value = convert(values[i]);
    std::memcpy(to + i * step, &value, sizeof value);
  }
}

constexpr auto kSame = [](auto value) { return value; };

template <class Integer, class T>
Integer saturated(T value) {
  using Limits = std::numeric_limits<Integer>;
  if (!(value == value)) return 0;
  const double rounded = std::nearbyint(static_cast<double>(value));
  if (rounded <= static_cast<double>(Limits::min())) return Limits::min();
  if (rounded >= static_cast<double>(Limits::max())) return Limits::max();
  return static_cast<Integer>(rounded);
}

template <class Integer, class T>
void write_integers(const View& view, int64_t offset, int64_t stride, int64_t count,
                    const T* values) {
  write_as<Integer>(view.data, offset, stride, count, values,
                    [](T value) { return saturated<Integer>(value); });
}

/// Rounds directly from f64: a step through f32 would round twice.
template <class T>
float narrowed(T value) {
  const auto near = static_cast<float>(value);
  if constexpr (sizeof(T) == sizeof(float)) return near;
  if (!std::isfinite(near) || static_cast<T>(near) == value) return near;
  // Rounding to odd keeps the sticky bit for the second rounding.
  uint32_t bits = std::bit_cast<uint32_t>(near);
  if (std::fabs(static_cast<T>(near)) > std::fabs(value)) --bits;
  return std::bit_cast<float>(bits | 1U);
}

}  // namespace

int type_bits(cudnnDataType_t type) noexcept {
  switch (type) {
    case CUDNN_DATA_DOUBLE:
    case CUDNN_DATA_INT64:
      return 64;
    case CUDNN_DATA_FLOAT:
    case CUDNN_DATA_INT32:
    case CUDNN_DATA_UINT32:
    case CUDNN_DATA_FAST_FLOAT_FOR_FP8:
      return 32;
    case CUDNN_DATA_HALF:
    case CUDNN_DATA_BFLOAT16:
      return 16;
    case CUDNN_DATA_INT8:
    case CUDNN_DATA_UINT8:
    case CUDNN_DATA_FP8_E4M3:
    case CUDNN_DATA_FP8_E5M2:
    case CUDNN_DATA_FP8_E8M0:
    case CUDNN_DATA_BYTE_BOOLEAN:
      return 8;
    case CUDNN_DATA_BOOLEAN:
      return 1;
    default:
      return 0;
  }
}

int64_t Shape::count() const noexcept {
  int64_t found = 1;
  for (int i = 0; i < rank; ++i) found *= dims[i];
  return found;
}
int64_t Shape::span() const noexcept {
  int64_t last = 0;
  for (int i = 0; i < rank; ++i) {
    if (dims[i] == 0) return 0;
    last += i == 1 ? channel_offset(dims[1] - 1) : (dims[i] - 1) * strides[i];
  }
  return last + 1;
}
int64_t Shape::span_bytes() const noexcept { return (span() * type_bits(type) + 7) / 8; }
bool Shape::has_dims(const Shape& other) const noexcept {
  return rank == other.rank && std::equal(dims.begin(), dims.begin() + rank, other.dims.begin());
}

Shape dense_shape(cudnnDataType_t type, int rank, const int64_t* dims) noexcept {
  Shape shape;
  shape.type = type;
  shape.rank = rank;
  int64_t stride = 1;
  for (int i = rank - 1; i >= 0; --i) {
    shape.dims[i] = dims[i];
    shape.strides[i] = stride;
    stride *= dims[i];
  }
  return shape;
}

Shape with_rank(const Shape& shape, int rank) noexcept {
  if (shape.rank >= rank) return shape;
  Shape wider = shape;
  const int added = rank - shape.rank;
  wider.rank = rank;
  for (int i = 0; i < rank; ++i) {
    wider.dims[i] = i < added ? 1 : shape.dims[i - added];
    wider.strides[i] = i < added ? 0 : shape.strides[i - added];
  }
  return wider;
}

template <class T>
void read_row(const View& view, int64_t offset, int64_t stride, int64_t count, T* out) noexcept {
  switch (view.type) {
    case CUDNN_DATA_DOUBLE:
      return read_as<double>(view.data, offset, stride, count, out, kSame);
    case CUDNN_DATA_INT64:
      return read_as<int64_t>(view.data, offset, stride, count, out, kSame);
    case CUDNN_DATA_INT32:
      return read_as<int32_t>(view.data, offset, stride, count, out, kSame);
    case CUDNN_DATA_UINT32:
      return read_as<uint32_t>(view.data, offset, stride, count, out, kSame);
    case CUDNN_DATA_HALF:
      return read_as<uint16_t>(view.data, offset, stride, count, out, float_of_half);
    case CUDNN_DATA_BFLOAT16:
      return read_as<uint16_t>(view.data, offset, stride, count, out, float_of_bfloat);
    case CUDNN_DATA_INT8:
      return read_as<int8_t>(view.data, offset, stride, count, out, kSame);
    case CUDNN_DATA_UINT8:
    case CUDNN_DATA_BYTE_BOOLEAN:
      return read_as<uint8_t>(view.data, offset, stride, count, out, kSame);
    case CUDNN_DATA_FP8_E4M3:
      return read_as<uint8_t>(view.data, offset, stride, count, out, of_fp8<3, 7, true>);
    case CUDNN_DATA_FP8_E5M2:
      return read_as<uint8_t>(view.data, offset, stride, count, out, of_fp8<2, 15, false>);
    case CUDNN_DATA_FP8_E8M0:
      return read_as<uint8_t>(view.data, offset, stride, count, out,
                              [](uint8_t bits) { return std::ldexp(1.0, bits - 127); });
    case CUDNN_DATA_BOOLEAN:
      for (int64_t i = 0; i < count; ++i) {
        const int64_t at = offset + i * stride;
        out[i] = static_cast<T>(static_cast<uint8_t>(view.data[at / 8]) >> (at % 8) & 1);
      }
      return;
    default:
      return read_as<float>(view.data, offset, stride, count, out, kSame);
  }
}

template <class T>
void write_row(const View& view, int64_t offset, int64_t stride, int64_t count,
               const T* values) noexcept {
  switch (view.type) {
    case CUDNN_DATA_DOUBLE:
      return write_as<double>(view.data, offset, stride, count, values, kSame);
    case CUDNN_DATA_INT64:
      return write_integers<int64_t>(view, offset, stride, count, values);
    case CUDNN_DATA_INT32:
      return write_integers<int32_t>(view, offset, stride, count, values);
    case CUDNN_DATA_UINT32:
      return write_integers<uint32_t>(view, offset, stride, count, values);
    case CUDNN_DATA_HALF:
      return write_as<uint16_t>(view.data, offset, stride, count, values,
                                [](T value) { return half_of_float(narrowed(value)); });
    case CUDNN_DATA_BFLOAT16:
      return write_as<uint16_t>(view.data, offset, stride, count, values,
                                [](T value) { return bfloat_of_float(narrowed(value)); });
    case CUDNN_DATA_INT8:
      return write_integers<int8_t>(view, offset, stride, count, values);
    case CUDNN_DATA_UINT8:
    case CUDNN_DATA_BYTE_BOOLEAN:
      return write_integers<uint8_t>(view, offset, stride, count, values);
    case CUDNN_DATA_FP8_E4M3:
      return write_as<uint8_t>(view.data, offset, stride, count, values, to_fp8<3, 7, true>);
    case CUDNN_DATA_FP8_E5M2:
      return write_as<uint8_t>(view.data, offset, stride, count, values, to_fp8<2, 15, false>);
    case CUDNN_DATA_FP8_E8M0:
      return write_as<uint8_t>(view.data, offset, stride, count, values, [](T value) {
        const double power = std::ceil(std::log2(static_cast<double>(value)));
        return saturated<uint8_t>(power + 127);
      });
    case CUDNN_DATA_BOOLEAN:
      for (int64_t i = 0; i < count; ++i) {
        const int64_t at = offset + i * stride;
        const auto bit = static_cast<uint8_t>(1U << (at % 8));
        auto& byte = reinterpret_cast<uint8_t&>(view.data[at / 8]);
        byte = static_cast<uint8_t>(values[i] != 0 ? byte | bit : byte & ~bit);
      }
      return;
    default:
      return write_as<float>(view.data, offset, stride, count, values,
                             [](T value) { return static_cast<float>(value); });
  }
}

template void read_row<float>(const View&, int64_t, int64_t, int64_t, float*) noexcept;
template void read_row<double>(const View&, int64_t, int64_t, int64_t, double*) noexcept;
template void write_row<float>(const View&, int64_t, int64_t, int64_t, const float*) noexcept;
template void write_row<double>(const View&, int64_t, int64_t, int64_t, const double*) noexcept;

}  // namespace km::cudnn
