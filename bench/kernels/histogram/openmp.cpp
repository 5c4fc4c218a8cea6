#include <algorithm>

#include "kernels/histogram/problem.h"

namespace km::bench {
namespace {

/// Each thread has bins of its own, four sets of them so that equal neighbours do not wait.
class OpenmpPrivate : public Histogram {
 public:
  using Histogram::Histogram;
  void run() override {
    uint32_t* const bins = bins_.data();
    std::fill(bins, bins + kBins, 0u);
#pragma omp parallel
    {
      uint32_t own[4][kBins] = {};
      count(own);
#pragma omp critical
      for (uint32_t bin = 0; bin < kBins; ++bin) {
        bins[bin] += own[0][bin] + own[1][bin] + own[2][bin] + own[3][bin];
      }
    }
  }

 private:
  /// The calling thread's share.
  void count(uint32_t own[4][kBins]) const {
    const auto words = static_cast<int64_t>(words_.count());
#pragma omp for schedule(static) nowait
    for (int64_t i = 0; i < words; ++i) {
      const uint32_t word = words_[i];
      ++own[0][word & 255];
      ++own[1][word >> 8 & 255];
      ++own[2][word >> 16 & 255];
      ++own[3][word >> 24];
    }
  }
};

class OpenmpAtomic : public Histogram {
 public:
  using Histogram::Histogram;
  void run() override {
    uint32_t* const bins = bins_.data();
    std::fill(bins, bins + kBins, 0u);
    const auto words = static_cast<int64_t>(words_.count());
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < words; ++i) {
      for (int shift = 0; shift < 32; shift += 8) {
#pragma omp atomic
        ++bins[words_[i] >> shift & 255];
      }
    }
  }
};

const Registration kShared("histogram_shared", make<OpenmpPrivate>);
const Registration kGlobal("histogram_global", make<OpenmpAtomic>);

}  // namespace
}  // namespace km::bench
