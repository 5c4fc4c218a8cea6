// Kernels that make rotations of scalars in device memory, one thread each. Products and sums are
// rounded one by one, as the host's are.
#include "dropin/cublas/kernels/numbers.cuh"
#include "dropin/cublas/kernels/parameters.h"

using namespace km::cublas;

namespace {

__device__ inline float times(float a, float b) { return __fmul_rn(a, b); }
__device__ inline double times(double a, double b) { return __dmul_rn(a, b); }
__device__ inline float plus(float a, float b) { return __fadd_rn(a, b); }
__device__ inline double plus(double a, double b) { return __dadd_rn(a, b); }

__device__ inline float least_normal(float) { return 1.17549435e-38f; }
__device__ inline double least_normal(double) { return 2.2250738585072014e-308; }

template <class R>
__device__ inline Complex<R> scaled(Complex<R> value, R factor) {
  return {times(value.x, factor), times(value.y, factor)};
}
template <class R>
__device__ inline Complex<R> divided(Complex<R> value, R divisor) {
  return {value.x / divisor, value.y / divisor};
}
template <class R>
__device__ inline Complex<R> product(Complex<R> a, Complex<R> b) {
  return {plus(times(a.x, b.x), -times(a.y, b.y)), plus(times(a.x, b.y), times(a.y, b.x))};
}

/// Divides by the larger number, so that squares neither overflow nor vanish.
template <class R>
__device__ void make(R& a, R& b, R& c, R& s) {
  const R size_a = fabs(a), size_b = fabs(b);
  const R larger = size_a < size_b ? size_b : size_a;
  if (larger == 0) {
    c = 1;
    s = b = 0;
    return;
  }
  const R least = least_normal(R()), most = R(1) / least;
  const R scale = larger < least ? least : larger > most ? most : larger;
  const bool first_is_larger = size_a > size_b;
  const R x = a / scale, y = b / scale;
  const R r = copysign(times(scale, sqrt(plus(times(x, x), times(y, y)))), first_is_larger ? a : b);
  c = a / r;
  s = b / r;
  b = first_is_larger ? s : c != 0 ? R(1) / c : R(1);
  a = r;
}

template <class R>
__device__ void make(Complex<R>& a, Complex<R>& b, R& c, Complex<R>& s) {
  const R size_a = hypot(a.x, a.y), size_b = hypot(b.x, b.y);
  if (size_a == 0) {
    c = 0;
    s = {R(1), R(0)};
    a = b;
    return;
  }
  const R norm = hypot(size_a, size_b);
  const Complex<R> direction = divided(a, size_a);
  c = size_a / norm;
  s = divided(product(direction, Complex<R>{b.x, -b.y}), norm);
  a = scaled(direction, norm);
}

/// `T` is the type of a, b and s, `R` that of c. The scalars may share memory with each other.
template <class T, class R>
__device__ void make_rotation(const RotationParameters& p) {
  T a = *(const T*)p.places[0], b = *(const T*)p.places[1], s = *(const T*)p.places[3];
  R c = *(const R*)p.places[2];
  make(a, b, c, s);
  *(T*)p.places[0] = a;
  *(T*)p.places[1] = b;
  *(R*)p.places[2] = c;
  *(T*)p.places[3] = s;
}

/// The matrix of a modified rotation; the form says which entries are not 0, 1 or -1.
template <class R>
struct Modified {
  enum Form { kIdentity = -2, kAll = -1, kOffDiagonal = 0, kDiagonal = 1 };
  R d1, d2, x1;
  R h11 = 0, h21 = 0, h12 = 0, h22 = 0;
  int form = kIdentity;

  __device__ void give_up() {
    form = kAll;
    h11 = h21 = h12 = h22 = d1 = d2 = x1 = 0;
  }
  __device__ void make(R y1) {
    if (d1 < 0) return give_up();
    const R p1 = times(d1, x1), p2 = times(d2, y1);
    if (p2 == 0) return;
    const R q1 = times(p1, x1), q2 = times(p2, y1);
    if (fabs(q1) > fabs(q2)) {
      h11 = h22 = 1;
      h21 = -y1 / x1;
      h12 = p2 / p1;
      form = kOffDiagonal;
      const R u = plus(R(1), -times(h12, h21));
      if (!(u > 0)) return give_up();
      d1 /= u;
      d2 /= u;
      x1 = times(x1, u);
    } else {
      if (q2 < 0) return give_up();
      h11 = p1 / p2;
      h21 = -1;
      h12 = 1;
      h22 = x1 / y1;
      form = kDiagonal;
      const R u = plus(R(1), times(h11, h22)), first = d1;
      d1 = d2 / u;
      d2 = first / u;
      x1 = times(y1, u);
    }
    rescale(d1, h11, h12, &x1);
    rescale(d2, h21, h22, nullptr);
  }
  /// Brings a weight near 1 by powers of 4096, which a row of the matrix takes over.
  __device__ void rescale(R& weight, R& first, R& second, R* result) {
    const R gamma = 4096, most = gamma * gamma;
    if (weight == 0 || weight - weight != 0) return;  // infinities and NaNs stay
    while (fabs(weight) <= R(1) / most || fabs(weight) >= most) {
      const R factor = fabs(weight) < 1 ? R(1) / gamma : gamma;
      form = kAll;
      weight /= factor * factor;
      first = times(first, factor);
      second = times(second, factor);
      if (result != nullptr) *result = times(*result, factor);
    }
  }
};

/// Writes the flag and the entries that it does not imply.
template <class R>
__device__ void make_modified(const RotationParameters& p) {
  Modified<R> made;
  made.d1 = *(const R*)p.places[0];
  made.d2 = *(const R*)p.places[1];
  made.x1 = *(const R*)p.places[2];
  made.make(*(const R*)p.places[3]);
  R* const out = (R*)p.places[4];
  *(R*)p.places[0] = made.d1;
  *(R*)p.places[1] = made.d2;
  *(R*)p.places[2] = made.x1;
  out[0] = R(made.form);
  const bool has_all = made.form == Modified<R>::kAll;
  if (has_all || made.form == Modified<R>::kDiagonal) {
    out[1] = made.h11;
    out[4] = made.h22;
  }
  if (has_all || made.form == Modified<R>::kOffDiagonal) {
    out[2] = made.h21;
    out[3] = made.h12;
  }
}

}  // namespace

extern "C" __global__ void make_rotation_f32(const RotationParameters p) {
  make_rotation<float, float>(p);
}
extern "C" __global__ void make_rotation_f64(const RotationParameters p) {
  make_rotation<double, double>(p);
}
extern "C" __global__ void make_rotation_c32(const RotationParameters p) {
  make_rotation<Complex<float>, float>(p);
}
extern "C" __global__ void make_rotation_c64(const RotationParameters p) {
  make_rotation<Complex<double>, double>(p);
}
extern "C" __global__ void make_modified_rotation_f32(const RotationParameters p) {
  make_modified<float>(p);
}
extern "C" __global__ void make_modified_rotation_f64(const RotationParameters p) {
  make_modified<double>(p);
}
