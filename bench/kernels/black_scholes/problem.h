// Prices of European options by the Black-Scholes formula: exponentials, logarithms, roots and
// divisions. The normal distribution is the usual polynomial of fifth degree.
#pragma once

#include <cmath>

#include "common/pages.h"

namespace km::bench {

class BlackScholes : public Benchmark {
 public:
  static constexpr uint32_t kBlock = 256;
  static constexpr float kRate = 0.02f, kVolatility = 0.3f;

  explicit BlackScholes(uint64_t count)
      : count_(static_cast<int>(count)),
        price_(count, RandomFloats(5, 5.0f, 30.0f)),
        strike_(count, RandomFloats(6, 1.0f, 100.0f)),
        years_(count, RandomFloats(8, 0.25f, 10.0f)),
        call_(count),
        put_(count) {}

  /// Options per microsecond.
  double value(double seconds) const override { return count_ / seconds * 1e-6; }

  std::string check() override {
    for (int i = 0; i < count_; i += 17) {
      const double root = std::sqrt(double{years_[i]});
      const double d1 = (std::log(double{price_[i]} / strike_[i]) +
                         (double{kRate} + 0.5 * kVolatility * kVolatility) * years_[i]) /
                        (kVolatility * root);
      const double d2 = d1 - kVolatility * root;
      const double discounted = strike_[i] * std::exp(-double{kRate} * years_[i]);
      const double call = price_[i] * exact_normal(d1) - discounted * exact_normal(d2);
      const double put = call - price_[i] + discounted;
      if (!(std::fabs(call_[i] - call) <= 1e-4) || !(std::fabs(put_[i] - put) <= 1e-4)) {
        return "option " + std::to_string(i);
      }
    }
    return {};
  }

 protected:
  const int count_;
  const Pages<float> price_, strike_, years_;
  Pages<float> call_, put_;

 private:
  static double exact_normal(double d) { return 0.5 * std::erfc(-d * std::sqrt(0.5)); }
};

}  // namespace km::bench
