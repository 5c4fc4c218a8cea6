// One launch of an empty kernel (one block of 32 threads) and the wait for it: latency.
#pragma once

#include "common/benchmark.h"

namespace km::bench {

class LaunchSync : public Benchmark {
 public:
  static constexpr int kBlock = 32;

  /// Microseconds.
  double value(double seconds) const override { return seconds * 1e6; }
  std::string check() override { return {}; }

  /// The distribution over many launches; its median is the sample.
  Figures sample(double least_seconds) override {
    std::vector<double> times;
    run();
    const double start = now_seconds();
    for (double before = start; before - start < least_seconds;) {
      run();
      const double after = now_seconds();
      times.push_back(value(after - before));
      before = after;
    }
    return {{"value", quantile(times, 0.5)},
            {"p10", quantile(times, 0.1)},
            {"p90", quantile(times, 0.9)}};
  }
};

}  // namespace km::bench
