#include <algorithm>

#include "kernels/sgemm/problem.h"

namespace km::bench {
namespace {

/// Rows in parallel, k in blocks that keep part of B in the second-level cache, j vectorised.
class OpenmpSgemm : public Sgemm {
 public:
  using Sgemm::Sgemm;
  void run() override { multiply(a_.data(), b_.data(), c_.data(), edge_); }

 private:
  static void multiply(const float* a, const float* b, float* c, int n) {
    constexpr int kRows = 16, kDepth = 128;
#pragma omp parallel for schedule(static)
    for (int first_row = 0; first_row < n; first_row += kRows) {
      std::fill(c + first_row * n, c + (first_row + kRows) * n, 0.0f);
      for (int first = 0; first < n; first += kDepth) {
        const int last = std::min(first + kDepth, n);
        for (int i = first_row; i < first_row + kRows; ++i) {
          add_rows(a + i * n, b, c + i * n, first, last, n);
        }
      }
    }
  }

  static void add_rows(const float* factors, const float* b, float* row, int first, int last,
                       int n) {
    for (int k = first; k < last; ++k) {
      const float factor = factors[k];
#pragma omp simd
      for (int j = 0; j < n; ++j) row[j] += factor * b[k * n + j];
    }
  }
};

/// Tiles of 4 x 32 sums in registers: as far as plain C++ goes.
class OpenmpSgemmTiles : public Sgemm {
 public:
  using Sgemm::Sgemm;
  void run() override {
    const float *a = a_.data(), *b = b_.data();
    float* const c = c_.data();
    const int n = edge_;
#pragma omp parallel for collapse(2) schedule(static)
    for (int row = 0; row < n; row += kBlock) {
      for (int column = 0; column < n; column += kColumns) {
        for (int i = row; i < row + kBlock; i += kRows)
          tile(a + i * n, b + column, c + i * n + column, n);
      }
    }
  }

 private:
  static constexpr int kBlock = 64, kRows = 4, kColumns = 32;

  static void tile(const float* a, const float* b, float* c, int n) {
    float sums[kRows][kColumns] = {};
    for (int k = 0; k < n; ++k) {
      for (int i = 0; i < kRows; ++i) {
#pragma omp simd
        for (int j = 0; j < kColumns; ++j) sums[i][j] += a[i * n + k] * b[k * n + j];
      }
    }
    for (int i = 0; i < kRows; ++i) std::copy(sums[i], sums[i] + kColumns, c + i * n);
  }
};

const Registration kTiled16("sgemm_tiled16", make<OpenmpSgemm>);
const Registration kBlock64("sgemm_block64", make<OpenmpSgemmTiles>);

}  // namespace
}  // namespace km::bench
