#include "common/cuda_math.h"
#include "common/parallel.h"
#include "kernels/sincos_exp/problem.h"

namespace km::bench {
namespace {

class SpmdSincosExp : public SincosExp {
  using Vector = FloatPair;
  static constexpr int kWidth = sizeof(Vector) / 4;

 public:
  using SincosExp::SincosExp;
  void run() override {
    parallel_for(count_ / kWidth, 0, [this](int64_t vector) {
      const Vector x = load<Vector>(x_.data() + vector * kWidth);
      store(y_.data() + vector * kWidth, sinf(x) + expf(x));
    });
  }
};

const Registration kRegistration("sincos_exp", make<SpmdSincosExp>);

}  // namespace
}  // namespace km::bench
