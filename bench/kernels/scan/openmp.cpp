#include <omp.h>

#include "kernels/scan/problem.h"

namespace km::bench {
namespace {

/// Two passes: each thread adds its part of the array, then scans it from where the others end.
class OpenmpScan : public Scan {
 public:
  using Scan::Scan;
  void run() override {
    std::vector<uint32_t> of_thread(omp_get_max_threads() + 1);
#pragma omp parallel
    {
      const int64_t threads = omp_get_num_threads(), t = omp_get_thread_num();
      const int64_t first = count_ * t / threads, last = count_ * (t + 1) / threads;
      of_thread[t + 1] = t + 1 < threads ? sum(first, last) : 0;
#pragma omp barrier
      uint32_t before = 0;
      for (int64_t i = 0; i <= t; ++i) before += of_thread[i];
      scan(first, last, before);
    }
  }

 private:
  uint32_t sum(int64_t first, int64_t last) const {
    uint32_t result = 0;
    const uint32_t* const values = values_.data();
    for (int64_t i = first; i < last; ++i) result += values[i];
    return result;
  }
  void scan(int64_t first, int64_t last, uint32_t sum) {
    const uint32_t* const values = values_.data();
    uint32_t* const sums = sums_.data();
#pragma omp simd reduction(inscan, + : sum)
    for (int64_t i = first; i < last; ++i) {
      sum += values[i];
#pragma omp scan inclusive(sum)
      sums[i] = sum;
    }
  }
};

const Registration kRegistration("scan", make<OpenmpScan>);

}  // namespace
}  // namespace km::bench
