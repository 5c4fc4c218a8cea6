#include "kernels/transpose/problem.h"

namespace km::bench {
namespace {

class OpenmpTranspose : public Transpose {
 public:
  using Transpose::Transpose;
  void run() override {
    const int n = edge_;
#pragma omp parallel for collapse(2) schedule(static)
    for (int y = 0; y < n; y += kEdge) {
      for (int x = 0; x < n; x += kEdge)
        move_tile(from_.data() + y * n + x, to_.data() + x * n + y, n);
    }
  }

 private:
  static constexpr int kEdge = kTile;

  /// By way of a tile with odd rows: whole rows are read and whole rows are written.
  static void move_tile(const float* from, float* to, int n) {
    float tile[kEdge][kEdge + 1];
    for (int y = 0; y < kEdge; ++y) {
      for (int x = 0; x < kEdge; ++x) tile[x][y] = from[y * n + x];
    }
    for (int x = 0; x < kEdge; ++x) {
      for (int y = 0; y < kEdge; ++y) to[x * n + y] = tile[x][y];
    }
  }
};

const Registration kRegistration("transpose", make<OpenmpTranspose>);

}  // namespace
}  // namespace km::bench
