// y = A x for a sparse matrix by compressed rows, 16 elements per row in the mean, at random
// columns: one thread per row (spmv_scalar), or 16 (spmv_vector).
#pragma once

#include <cmath>

#include "common/pages.h"

namespace km::bench {

/// The start of each row in turn; rows have 8 to 24 elements.
class RowStarts {
 public:
  static uint32_t mix(uint64_t i) {
    const auto mixed = static_cast<uint32_t>(i) * 0x9E3779B1u;
    return (mixed ^ mixed >> 15) * 0x85EBCA77u;
  }
  int operator()(uint64_t row) {
    const int start = next_;
    next_ += 8 + static_cast<int>((mix(row) >> 16) % 17);
    return start;
  }

 private:
  int next_ = 0;
};

class Spmv : public Benchmark {
 public:
  static constexpr uint32_t kBlock = 256;

  explicit Spmv(uint64_t rows)
      : rows_(static_cast<int>(rows)),
        starts_(rows + 1, RowStarts()),
        columns_(starts_[rows],
                 [=](uint64_t i) { return static_cast<int>(RowStarts::mix(i) % rows); }),
        values_(starts_[rows], RandomFloats(3, -1.0f, 1.0f)),
        x_(rows, RandomFloats(4, -1.0f, 1.0f)),
        y_(rows) {}

  /// Value and column of each element once, starts, x and y once.
  double value(double seconds) const override {
    return (8.0 * starts_[rows_] + 12.0 * rows_) / seconds * 1e-9;
  }
  Figures facts() override {
    return {{"bytes_per_gather", 8.0 + 12.0 * rows_ / static_cast<double>(starts_[rows_])}};
  }

  std::string check() override {
    for (int row = 0; row < rows_; row += 61) {
      double sum = 0;
      for (int i = starts_[row]; i < starts_[row + 1]; ++i) {
        sum += double{values_[i]} * double{x_[columns_[i]]};
      }
      if (!(std::fabs(y_[row] - sum) <= 1e-4)) return "row " + std::to_string(row);
    }
    return {};
  }

 protected:
  const int rows_;
  const Pages<int> starts_, columns_;
  const Pages<float> values_, x_;
  Pages<float> y_;
};

}  // namespace km::bench
