#include "math/fft/roots.h"

#include <cmath>
#include <numbers>

namespace km::fft {
namespace {

using Wide = Complex<long double>;

/// The root for an angle of at most one eighth of the circle: the argument is small, so that the
/// functions of the C library lose no digits.
Wide root_in_octant(uint64_t k, uint64_t n) {
  const long double angle = 2 * std::numbers::pi_v<long double> * static_cast<long double>(k) /
                            static_cast<long double>(n);
  return {std::cos(angle), std::sin(angle)};
}

/// exp(2 pi i k / n), by symmetry from the first octant.
Wide root(uint64_t k, uint64_t n) {
  const uint64_t eighths = 8 * k;  // n < 2^60
  if (eighths <= n) return root_in_octant(k, n);
  if (eighths <= 2 * n) {
    const Wide other = root_in_octant(n - 4 * k, 4 * n);
    return {other.im, other.re};
  }
  if (4 * k <= 2 * n) {
    const Wide other = root(4 * k - n, 4 * n);
    return {-other.im, other.re};
  }
  const Wide other = root(n - k, n);
  return {other.re, -other.im};
}

}  // namespace

template <class T>
Roots<T>::Roots(uint64_t n) : shift_(0) {
  while (uint64_t{1} << 2 * shift_ < n) ++shift_;
  mask_ = (uint64_t{1} << shift_) - 1;
  low_.resize(mask_ + 1);
  for (uint64_t i = 0; i < low_.size(); ++i) low_[i] = root(i % n, n);
  high_.resize((n >> shift_) + 1);
  for (uint64_t i = 0; i < high_.size(); ++i) high_[i] = root((i << shift_) % n, n);
}

template <class T>
Complex<T> Roots<T>::operator()(uint64_t k) const {
  const Wide a = low_[k & mask_], b = high_[k >> shift_];
  return {static_cast<T>(a.re * b.re - a.im * b.im), static_cast<T>(-(a.re * b.im + a.im * b.re))};
}

template class Roots<float>;
template class Roots<double>;

}  // namespace km::fft
