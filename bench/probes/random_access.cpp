// What scattered accesses cost: gathers from an array, and locked additions to 256 counters.
#include <atomic>

#include "common/pages.h"

namespace km::bench {
namespace {

uint32_t scramble(uint32_t i) {
  i *= 0x9E3779B1u;
  return i ^ i >> 15;
}

/// Elements per nanosecond, read at random from an array of `size` floats.
class Gather : public Benchmark {
 public:
  explicit Gather(uint64_t count)
      : table_(count, [](uint64_t) { return 1.0f; }),
        indices_(kReads, [=](uint64_t i) { return scramble(static_cast<uint32_t>(i)) % count; }) {}
  void run() override {
    float sum = 0;
    const float* const table = table_.data();
    const uint32_t* const indices = indices_.data();
#pragma omp parallel for simd reduction(+ : sum) schedule(static)
    for (int64_t i = 0; i < kReads; ++i) sum += table[indices[i]];
    sum_ = sum;
  }
  std::string check() override { return sum_ > 0 ? "" : "gather"; }
  double value(double seconds) const override { return kReads / seconds * 1e-9; }

 private:
  static constexpr int64_t kReads = 4 << 20;
  Pages<float> table_;
  Pages<uint32_t> indices_;
  float sum_ = 0;
};

/// Locked additions per nanosecond, by all threads, to 256 counters in random order.
class LockedAdd : public Benchmark {
 public:
  explicit LockedAdd(uint64_t) {}
  void run() override {
    const uint8_t* const counters = counters_.data();
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < kAdds; ++i) {
      std::atomic_ref<uint32_t>(values_[counters[i]]).fetch_add(1, std::memory_order_relaxed);
    }
  }
  std::string check() override { return values_[0] > 0 ? "" : "locked add"; }
  double value(double seconds) const override { return kAdds / seconds * 1e-9; }

 private:
  static constexpr int64_t kAdds = 4 << 20;
  Pages<uint8_t> counters_{kAdds, [](uint64_t i) { return scramble(static_cast<uint32_t>(i)); }};
  alignas(64) uint32_t values_[256] = {};
};

const Registration kGather("gather", make<Gather>);
const Registration kLockedAdd("locked_add", make<LockedAdd>);

}  // namespace
}  // namespace km::bench
