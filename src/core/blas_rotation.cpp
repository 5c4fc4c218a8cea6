#include "core/blas_rotation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>

namespace km {
namespace {

Error no_such_type(km_data_type type, const char* types) {
  return make_error(KM_ERROR_INVALID_ARGUMENT, "type is %d; the routine takes %s", type, types);
}

/// In numbers divided by the larger one, so that squares neither overflow nor vanish.
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

template <class T>
class ModifiedRotation {
 public:
  ModifiedRotation(T& d1, T& d2, T& x1, T y1) : d1_(d1), d2_(d2), x1_(x1) { make(y1); }

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
  /// Which entries of the matrix are not 0, 1 or -1.
  enum Form { kIdentity = -2, kAll = -1, kOffDiagonal = 0, kDiagonal = 1 };
  enum Entry { k11, k21, k12, k22 };
  static constexpr T kGamma = 4096;

  void make(T y1) {
    if (d1_ < 0) return give_up();
    const T p1 = d1_ * x1_, p2 = d2_ * y1;
    if (p2 == 0) return;
    const T q1 = p1 * x1_, q2 = p2 * y1;
    if (std::fabs(q1) > std::fabs(q2)) {
      h_ = {1, -y1 / x1_, p2 / p1, 1};
      form_ = kOffDiagonal;
      const T u = 1 - h_[k12] * h_[k21];
      if (!(u > 0)) return give_up();
      d1_ /= u;
      d2_ /= u;
      x1_ *= u;
    } else {
      if (q2 < 0) return give_up();
      h_ = {p1 / p2, -1, 1, x1_ / y1};
      form_ = kDiagonal;
      const T u = 1 + h_[k11] * h_[k22];
      const T d1 = d2_ / u;
      d2_ = d1_ / u;
      d1_ = d1;
      x1_ = y1 * u;
    }
    scale(d1_, &h_[k11], &h_[k12], &x1_);
    scale(d2_, &h_[k21], &h_[k22], nullptr);
  }

  /// What cannot be turned becomes 0.
  void give_up() {
    form_ = kAll;
    h_ = {};
    d1_ = d2_ = x1_ = 0;
  }

  /// Brings the weight near 1 by powers of gamma, which a row of the matrix takes over.
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

  T &d1_, &d2_, &x1_;
  Form form_ = kIdentity;
  std::array<T, 4> h_{};
};

template <class T>
T& number(void* place) {
  return *static_cast<T*>(place);
}

template <class T>
Status modified(void* d1, void* d2, void* x1, const void* y1, void* parameters) {
  ModifiedRotation<T>(number<T>(d1), number<T>(d2), number<T>(x1), *static_cast<const T*>(y1))
      .store(static_cast<T*>(parameters));
  return {};
}

template <class T>
Status complex_rotation(void* a, void* b, void* c, void* s) {
  using Pair = std::complex<T>;
  rotate(number<Pair>(a), number<Pair>(b), number<T>(c), number<Pair>(s));
  return {};
}

}  // namespace

Status make_rotation(km_data_type type, void* a, void* b, void* c, void* s) {
  switch (type) {
    case KM_DATA_TYPE_F32:
      rotate(number<float>(a), number<float>(b), number<float>(c), number<float>(s));
      return {};
    case KM_DATA_TYPE_F64:
      rotate(number<double>(a), number<double>(b), number<double>(c), number<double>(s));
      return {};
    case KM_DATA_TYPE_C32:
      return complex_rotation<float>(a, b, c, s);
    case KM_DATA_TYPE_C64:
      return complex_rotation<double>(a, b, c, s);
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
