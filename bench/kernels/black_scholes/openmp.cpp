#include "kernels/black_scholes/problem.h"

namespace km::bench {
namespace {

inline float normal(float d) {
  const float k = 1.0f / (1.0f + 0.2316419f * std::fabs(d));
  const float polynomial =
      k * (0.31938153f +
           k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
  const float tail = 0.39894228040143267794f * std::exp(-0.5f * d * d) * polynomial;
  return d > 0.0f ? 1.0f - tail : tail;
}

class OpenmpBlackScholes : public BlackScholes {
 public:
  using BlackScholes::BlackScholes;
  void run() override {
    const float *prices = price_.data(), *strikes = strike_.data(), *years = years_.data();
    float *calls = call_.data(), *puts = put_.data();
    const float rate = kRate, volatility = kVolatility;
#pragma omp parallel for simd schedule(static)
    for (int i = 0; i < count_; ++i) {
      const float price = prices[i], strike = strikes[i], time = years[i];
      const float root = std::sqrt(time);
      const float d1 = (std::log(price / strike) + (rate + 0.5f * volatility * volatility) * time) /
                       (volatility * root);
      const float d2 = d1 - volatility * root;
      const float normal1 = normal(d1), normal2 = normal(d2);
      const float discounted = strike * std::exp(-rate * time);
      calls[i] = price * normal1 - discounted * normal2;
      puts[i] = discounted * (1.0f - normal2) - price * (1.0f - normal1);
    }
  }
};

const Registration kRegistration("black_scholes", make<OpenmpBlackScholes>);

}  // namespace
}  // namespace km::bench
