#include "common/cuda_math.h"
#include "common/parallel.h"
#include "kernels/black_scholes/problem.h"

namespace km::bench {
namespace {

using Vector = FloatPair;
constexpr int kWidth = sizeof(Vector) / 4;

Vector normal(Vector d) {
  const Vector k = 1.0f / (1.0f + 0.2316419f * __builtin_elementwise_abs(d));
  const Vector polynomial =
      k * (0.31938153f +
           k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
  const Vector tail = 0.39894228040143267794f * expf(-0.5f * d * d) * polynomial;
  return d > 0.0f ? 1.0f - tail : tail;
}

/// The number of options is a multiple of the lanes.
class SpmdBlackScholes : public BlackScholes {
 public:
  using BlackScholes::BlackScholes;
  void run() override {
    parallel_for(count_ / kWidth, 0, [this](int64_t vector) { run_vector(vector * kWidth); });
  }

 private:
  void run_vector(int64_t i) {
    const Vector price = load<Vector>(price_.data() + i), strike = load<Vector>(strike_.data() + i);
    const Vector time = load<Vector>(years_.data() + i);
    const Vector root = __builtin_elementwise_sqrt(time);
    const Vector d1 = (logf(price / strike) + (kRate + 0.5f * kVolatility * kVolatility) * time) /
                      (kVolatility * root);
    const Vector d2 = d1 - kVolatility * root;
    const Vector normal1 = normal(d1), normal2 = normal(d2);
    const Vector discounted = strike * expf(-kRate * time);
    store(call_.data() + i, price * normal1 - discounted * normal2);
    store(put_.data() + i, discounted * (1.0f - normal2) - price * (1.0f - normal1));
  }
};

const Registration kRegistration("black_scholes", make<SpmdBlackScholes>);

}  // namespace
}  // namespace km::bench
