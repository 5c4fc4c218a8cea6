// Roots of unity, correctly rounded but for an error below 0.01 units in the last place.
#pragma once

#include <cstdint>
#include <vector>

namespace km::fft {

/// A complex number as it lies in memory.
template <class T>
struct Complex {
  T re, im;
};

/// exp(-2 pi i k / n) for any k below n. A product of two entries of small tables, which have more
/// digits than T, gives each root.
template <class T>
class Roots {
 public:
  explicit Roots(uint64_t n);
  Complex<T> operator()(uint64_t k) const;

 private:
  uint64_t mask_;
  unsigned shift_;
  std::vector<Complex<long double>> low_, high_;
};

extern template class Roots<float>;
extern template class Roots<double>;

}  // namespace km::fft
