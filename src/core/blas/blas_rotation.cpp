#include "core/blas/blas_rotation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <utility>

namespace km {
namespace {

Error no_such_type(km_data_type type, const char* types) {
  return make_error(KM_ERROR_INVALID_ARGUMENT, "type is %d; the routine takes %s", type, types);
}

/// Computes with numbers divided by the larger one, so that squares neither overflow nor underflow.
template <class T>
void rotate(T& a, T& b, T& c, T& s) {
  const T larger = std::max(std::fabs(a), std::fabs(b));
  if (larger == 0) {
    c = 1;
    s = b = 0;
    return;
  }
  const T least = std::numeric_limits<T>::min(), most = 1 / least;
  const T scale = std::clamp(larger, least, most);
  const bool first_is_larger = std::fabs(a) > std::fabs(b);
  const T x = a / scale, y = b / scale;
  const T r = std::copysign(scale * std::sqrt(x * x + y * y), first_is_larger ? a : b);
  c = a / r;
  s = b / r;
  b = first_is_larger ? s : c != 0 ? 1 / c : 1;
  a = r;
}

template <class T>
void rotate(std::complex<T>& a, const std::complex<T>& b, T& c, std::complex<T>& s) {
  const T of_a = std::abs(a), of_b = std::abs(b);
  if (of_a == 0) {
    c = 0;
    s = 1;
    a = b;
    return;
  }
  const T norm = std::hypot(of_a, of_b);
  const std::complex<T> direction = a / of_a;
  c = of_a / norm;
  s = direction * std::conj(b) / norm;
  a = direction * norm;
}

/// Works on copies, because the caller's arguments may overlap.
template <class T>
class ModifiedRotation {
 public:
  T d1, d2, x1;

  ModifiedRotation(T first_weight, T second_weight, T x, T y1)
      : d1(first_weight), d2(second_weight), x1(x) {
    make(y1);
  }

  /// Stores the flag and those entries that the flag does not imply.
  void store(T* parameters) const {
    parameters[0] = static_cast<T>(form_);
    for (int i = 0; i < 4; ++i) {
      const bool is_diagonal = i == 0 || i == 3;
      if (form_ == kAll || (form_ == kOffDiagonal && !is_diagonal) ||
          (form_ == kDiagonal && is_diagonal)) {
        parameters[1 + i] = h_[i];
      }
    }
  }

 private:
  /// The flag of km_blas_rotm: it selects the entries of the matrix that are stored; the others are
  /// 0, 1 or -1.
  enum Form { kIdentity = -2, kAll = -1, kOffDiagonal = 0, kDiagonal = 1 };
  enum Entry { k11, k21, k12, k22 };
  static constexpr T kGamma = 4096;

  void make(T y1) {
    if (d1 < 0) return give_up();
    const T p1 = d1 * x1, p2 = d2 * y1;
    if (p2 == 0) return;
    const T q1 = p1 * x1, q2 = p2 * y1;
    if (std::fabs(q1) > std::fabs(q2)) {
      h_ = {1, -y1 / x1, p2 / p1, 1};
      form_ = kOffDiagonal;
      const T u = 1 - h_[k12] * h_[k21];
      if (!(u > 0)) return give_up();
      d1 /= u;
      d2 /= u;
      x1 *= u;
    } else {
      if (q2 < 0) return give_up();
      h_ = {p1 / p2, -1, 1, x1 / y1};
      form_ = kDiagonal;
      const T u = 1 + h_[k11] * h_[k22];
      std::swap(d1, d2);
      d1 /= u;
      d2 /= u;
      x1 = y1 * u;
    }
    scale(d1, &h_[k11], &h_[k12], &x1);
    scale(d2, &h_[k21], &h_[k22], nullptr);
  }

  /// Sets all results to 0, for vectors that no rotation exists for.
  void give_up() {
    form_ = kAll;
    h_ = {};
    d1 = d2 = x1 = 0;
  }

  /// Scales the weight to near 1 by powers of gamma, and scales a row of the matrix to match.
  void scale(T& weight, T* first, T* second, T* result) {
    if (weight == 0 || !std::isfinite(weight)) return;
    while (std::fabs(weight) <= 1 / (kGamma * kGamma) || std::fabs(weight) >= kGamma * kGamma) {
      const bool is_small = std::fabs(weight) < 1;
      const T factor = is_small ? 1 / kGamma : kGamma;
      form_ = kAll;
      weight /= factor * factor;
      *first *= factor;
      *second *= factor;
      if (result != nullptr) *result *= factor;
    }
  }

  Form form_ = kIdentity;
  std::array<T, 4> h_{};
};

/// Accesses a number of the caller's, which need not be aligned.
template <class T>
T load(const void* place) {
  T value;
  std::memcpy(&value, place, sizeof value);
  return value;
}

template <class T>
void store(void* place, const T& value) {
  std::memcpy(place, &value, sizeof value);
}

/// `Cosine` is the type of c, which is real for complex vectors.
template <class T, class Cosine>
Status plane(void* a, void* b, void* c, void* s) {
  T new_a = load<T>(a), new_b = load<T>(b), sine;
  Cosine cosine;
  rotate(new_a, new_b, cosine, sine);
  store(a, new_a);
  store(b, new_b);
  store(c, cosine);
  store(s, sine);
  return {};
}

template <class T>
Status modified(void* d1, void* d2, void* x1, const void* y1, void* parameters) {
  const ModifiedRotation<T> made(load<T>(d1), load<T>(d2), load<T>(x1), load<T>(y1));
  store(d1, made.d1);
  store(d2, made.d2);
  store(x1, made.x1);
  T entries[5];
  // Entries that the flag implies keep the caller's values.
  std::memcpy(entries, parameters, sizeof entries);
  made.store(entries);
  std::memcpy(parameters, entries, sizeof entries);
  return {};
}

}  // namespace

Status make_rotation(km_data_type type, void* a, void* b, void* c, void* s) {
  switch (type) {
    case KM_DATA_TYPE_F32:
      return plane<float, float>(a, b, c, s);
    case KM_DATA_TYPE_F64:
      return plane<double, double>(a, b, c, s);
    case KM_DATA_TYPE_C32:
      return plane<std::complex<float>, float>(a, b, c, s);
    case KM_DATA_TYPE_C64:
      return plane<std::complex<double>, double>(a, b, c, s);
    default:
      return no_such_type(type, "f32, f64, c32, c64");
  }
}

Status make_modified_rotation(km_data_type type, void* d1, void* d2, void* x1, const void* y1,
                              void* parameters) {
  if (type == KM_DATA_TYPE_F32) return modified<float>(d1, d2, x1, y1, parameters);
  if (type == KM_DATA_TYPE_F64) return modified<double>(d1, d2, x1, y1, parameters);
  return no_such_type(type, "f32, f64");
}

}  // namespace km
