#include "common/pages.h"
#include "kernels/saxpy_dram/problem.h"

namespace km::bench {
namespace {

void saxpy(float a, const float* x, float* y, int n) {
#pragma omp parallel for simd schedule(static)
  for (int i = 0; i < n; ++i) y[i] = a * x[i] + y[i];
}

class OpenmpSaxpyDram : public SaxpyDram {
 public:
  OpenmpSaxpyDram() : x_(kCount), y_(kCount) { fill(x_.data(), y_.data()); }
  void run() override { saxpy(kFactor, x_.data(), y_.data(), kCount); }
  std::string check() override { return check_values(y_.data()); }

 private:
  Pages<float> x_, y_;
};

const Registration kRegistration("saxpy_dram", make<OpenmpSaxpyDram>);

}  // namespace
}  // namespace km::bench
