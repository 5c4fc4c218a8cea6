#include "kernels/stencil7/problem.h"

namespace km::bench {
namespace {

class OpenmpStencil7 : public Stencil7 {
 public:
  using Stencil7::Stencil7;
  void run() override {
    const int n = edge_;
#pragma omp parallel for collapse(2) schedule(static)
    for (int z = 1; z < n - 1; ++z) {
      for (int y = 1; y < n - 1; ++y)
        row(from_.data() + (z * n + y) * n, to_.data() + (z * n + y) * n, n);
    }
  }

 private:
  static void row(const float* from, float* to, int n) {
#pragma omp simd
    for (int x = 1; x < n - 1; ++x) {
      to[x] = kCentre * from[x] + kNeighbour * (from[x - 1] + from[x + 1] + from[x - n] +
                                                from[x + n] + from[x - n * n] + from[x + n * n]);
    }
  }
};

const Registration kRegistration("stencil7", make<OpenmpStencil7>);

}  // namespace
}  // namespace km::bench
