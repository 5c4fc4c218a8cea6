// What launching costs: kernels that do nothing, or nearly nothing.
#pragma once

#include "common/pages.h"

namespace km::bench {

/// Microseconds, with their distribution over many runs.
class Latency : public Benchmark {
 public:
  std::string check() override { return {}; }
  double value(double seconds) const override { return seconds * 1e6; }

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

/// One launch of an empty kernel of so many blocks of 32 threads, and the wait for it.
class EmptyBlocks : public Latency {
 public:
  explicit EmptyBlocks(uint64_t blocks) : blocks_(static_cast<uint32_t>(blocks)) {}

 protected:
  const uint32_t blocks_;
};

/// So many launches of an empty kernel, then one wait: the time of one launch.
class Pipelined : public Latency {
 public:
  explicit Pipelined(uint64_t launches) : launches_(launches) {}
  double value(double seconds) const override {
    return seconds * 1e6 / static_cast<double>(launches_);
  }

 protected:
  const uint64_t launches_;
};

/// So many small kernels, each of which adds one to what the one before it left.
class Chain : public Latency {
 public:
  static constexpr int kCount = 4096, kBlock = 256;

  explicit Chain(uint64_t launches) : launches_(launches) {}
  std::string check() override {
    for (int i = 0; i < kCount; ++i) {
      if (data_[i] != static_cast<float>(i + launches_)) return "element " + std::to_string(i);
    }
    return {};
  }

 protected:
  const uint64_t launches_;
  Pages<float> data_{kCount, [](uint64_t i) { return static_cast<float>(i); }};
};

}  // namespace km::bench
