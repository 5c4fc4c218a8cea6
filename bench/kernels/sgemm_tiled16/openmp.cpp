#include <algorithm>

#include "common/pages.h"
#include "kernels/sgemm_tiled16/problem.h"

namespace km::bench {
namespace {

/// Rows in parallel, k in blocks that keep part of B in the second-level cache, j vectorised.
void multiply(const float* a, const float* b, float* c, int n) {
  constexpr int kRows = 16, kDepth = 128;
#pragma omp parallel for schedule(static)
  for (int first_row = 0; first_row < n; first_row += kRows) {
    std::fill(c + first_row * n, c + (first_row + kRows) * n, 0.0f);
    for (int first = 0; first < n; first += kDepth) {
      for (int i = first_row; i < first_row + kRows; ++i) {
        float* const row = c + i * n;
        for (int k = first; k < first + kDepth; ++k) {
          const float factor = a[i * n + k];
#pragma omp simd
          for (int j = 0; j < n; ++j) row[j] += factor * b[k * n + j];
        }
      }
    }
  }
}

class OpenmpSgemm : public SgemmTiled16 {
 public:
  OpenmpSgemm() {
    std::copy(a_.begin(), a_.end(), in_a_.data());
    std::copy(b_.begin(), b_.end(), in_b_.data());
  }
  void run() override { multiply(in_a_.data(), in_b_.data(), c_.data(), kSize); }
  std::string check() override { return check_product(c_.data()); }

 private:
  Pages<float> in_a_{kElements}, in_b_{kElements}, c_{kElements};
};

const Registration kRegistration("sgemm_tiled16", make<OpenmpSgemm>);

}  // namespace
}  // namespace km::bench
