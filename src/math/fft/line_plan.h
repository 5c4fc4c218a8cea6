// How one line of n complex numbers is transformed, and the tables for it.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "math/fft/roots.h"

namespace km::fft {

/// The number of lanes that tables are padded to: that of the widest vectors of floats.
constexpr uint64_t kMostLanes = 16;

constexpr uint64_t padded(uint64_t n) { return (n + kMostLanes - 1) / kMostLanes * kMostLanes; }

/// A pass of Stockham's algorithm: it cuts each transform of `radix * rest` numbers into `radix`
/// transforms of `rest` numbers.
template <class T>
struct RadixPass {
  uint32_t radix;
  uint64_t rest;
  std::vector<Complex<T>> twiddles;   // rest * (radix - 1)
  std::vector<Complex<T>> own_roots;  // of `radix`, for radices without code of their own
};

template <class T>
class LinePlan {
 public:
  enum class Kind : uint8_t {
    kDirect,    // passes
    kFourStep,  // n = columns * rows: `column` for each of `rows` columns, twiddles, then `row`
    kBluestein  // a convolution by `inner`, whose length is at least 2n - 1
  };

  Kind kind = Kind::kDirect;
  uint64_t n = 1;
  /// Makes the tables, once; without them the plan says only how lines are transformed.
  void prepare() const;

  std::shared_ptr<const LinePlan> column, row;  // kFourStep: row has length rows
  std::shared_ptr<const LinePlan> inner;        // kBluestein

  // The tables
  mutable std::vector<RadixPass<T>> passes;
  // kFourStep: the twiddle of number k of column c is at k * padded(row->n) + c.
  mutable std::vector<T> twiddle_re, twiddle_im;
  // kBluestein
  mutable std::vector<Complex<T>> chirp;   // n
  mutable std::vector<Complex<T>> kernel;  // inner->n: the chirp's transform, divided by inner->n

 private:
  void make_tables() const;
  mutable std::once_flag once_;
};

extern template class LinePlan<float>;
extern template class LinePlan<double>;

/// A plan for lines of n numbers, without tables. `few_lines` says that there are not enough lines
/// to fill vectors with, so that longer ones are cut.
template <class T>
std::shared_ptr<const LinePlan<T>> make_line_plan(uint64_t n, bool few_lines);

extern template std::shared_ptr<const LinePlan<float>> make_line_plan(uint64_t, bool);
extern template std::shared_ptr<const LinePlan<double>> make_line_plan(uint64_t, bool);

}  // namespace km::fft
