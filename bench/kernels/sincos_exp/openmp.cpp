#include "kernels/sincos_exp/problem.h"

namespace km::bench {
namespace {

class OpenmpSincosExp : public SincosExp {
 public:
  using SincosExp::SincosExp;
  void run() override {
    const float* const x = x_.data();
    float* const y = y_.data();
#pragma omp parallel for simd schedule(static)
    for (int i = 0; i < count_; ++i) y[i] = std::sin(x[i]) + std::exp(x[i]);
  }
};

const Registration kRegistration("sincos_exp", make<OpenmpSincosExp>);

}  // namespace
}  // namespace km::bench
