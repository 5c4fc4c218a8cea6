#include "common/parallel.h"
#include "common/vector_math.h"
#include "kernels/sincos_exp/problem.h"

namespace km::bench {
namespace {

class SpmdSincosExp : public SincosExp {
 public:
  using SincosExp::SincosExp;
  void run() override {
    parallel_for(count_ / kLanes, 0, [this](int64_t vector) {
      const Floats x = load<Floats>(x_.data() + vector * kLanes);
      store(y_.data() + vector * kLanes, sin(x) + exp(x));
    });
  }
};

const Registration kRegistration("sincos_exp", make<SpmdSincosExp>);

}  // namespace
}  // namespace km::bench
