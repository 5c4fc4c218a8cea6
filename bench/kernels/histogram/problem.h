// How often each byte occurs: atomics in shared memory (histogram_shared) or in global memory only
// (histogram_global).
#pragma once

#include "common/pages.h"

namespace km::bench {

class Histogram : public Benchmark {
 public:
  static constexpr uint32_t kBins = 256, kBlock = 256;

  /// `count` bytes, a multiple of four.
  explicit Histogram(uint64_t count)
      : words_(count / 4, word_at), bins_(kBins, [](uint64_t) { return 0u; }) {}

  double value(double seconds) const override {
    return static_cast<double>(words_.size_bytes()) / seconds * 1e-9;
  }

  std::string check() override {
    std::vector<uint32_t> expected(kBins);
    for (uint64_t i = 0; i < words_.count(); ++i) {
      for (int shift = 0; shift < 32; shift += 8) ++expected[words_[i] >> shift & 255];
    }
    for (uint32_t bin = 0; bin < kBins; ++bin) {
      if (bins_[bin] != expected[bin]) return "bin " + std::to_string(bin);
    }
    return {};
  }

 protected:
  static uint32_t word_at(uint64_t i) {
    auto mixed = static_cast<uint32_t>(i) * 0x9E3779B1u;
    mixed ^= mixed >> 15;
    mixed *= 0x85EBCA77u;
    return mixed ^ mixed >> 13;
  }

  const Pages<uint32_t> words_;
  Pages<uint32_t> bins_;
};

}  // namespace km::bench
