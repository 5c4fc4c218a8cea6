#include "kernels/saxpy/problem.h"

namespace km::bench {
namespace {

void saxpy(float a, const float* x, float* y, int n) {
#pragma omp parallel for simd schedule(static)
  for (int i = 0; i < n; ++i) y[i] = a * x[i] + y[i];
}

class OpenmpSaxpy : public Saxpy {
 public:
  using Saxpy::Saxpy;
  void run() override { saxpy(kFactor, x_.data(), y_.data(), count_); }
};

const Registration kRegistration("saxpy", make<OpenmpSaxpy>);

}  // namespace
}  // namespace km::bench
