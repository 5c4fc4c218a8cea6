// What the machine's memory and caches can do: the bounds of streaming kernels. The size is the
// number of floats in an array; small ones stay in a cache.
#include <cstring>
#include <numeric>

#include <immintrin.h>

#include "common/pages.h"

namespace km::bench {
namespace {

/// STREAM's triad a = b + s c, 12 bytes per element, by plain or by non-temporal stores.
class Triad : public Benchmark {
 public:
  explicit Triad(uint64_t count)
      : count_(static_cast<int64_t>(count)),
        a_(count, [](uint64_t) { return 0.0f; }),
        b_(count, [](uint64_t) { return 1.0f; }),
        c_(count, [](uint64_t) { return 2.0f; }) {}
  double value(double seconds) const override {
    return 12.0 * static_cast<double>(count_) / seconds * 1e-9;
  }
  std::string check() override { return a_[count_ - 1] == 7.0f ? "" : "triad"; }

 protected:
  const int64_t count_;
  Pages<float> a_, b_, c_;
};

class TriadPlain : public Triad {
 public:
  using Triad::Triad;
  void run() override {
    float* const a = a_.data();
    const float *b = b_.data(), *c = c_.data();
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < count_; ++i) a[i] = b[i] + 3.0f * c[i];
  }
};

class TriadStreaming : public Triad {
 public:
  using Triad::Triad;
  void run() override {
    float* const a = a_.data();
    const float *b = b_.data(), *c = c_.data();
    const __m128 factor = _mm_set1_ps(3.0f);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count_; i += 16) {
      for (int64_t k = i; k < i + 16; k += 4) {
        const __m128 sum = _mm_add_ps(_mm_load_ps(b + k), _mm_mul_ps(factor, _mm_load_ps(c + k)));
        _mm_stream_ps(a + k, sum);
      }
    }
    _mm_sfence();
  }
};

/// Two arrays, each thread with a part of its own.
class TwoArrays : public Benchmark {
 public:
  explicit TwoArrays(uint64_t count)
      : count_(static_cast<int64_t>(count)),
        from_(count, [](uint64_t i) { return static_cast<float>(i % 128); }),
        to_(count, [](uint64_t) { return 0.0f; }) {}

 protected:
  const int64_t count_;
  Pages<float> from_, to_;
};

class Copy : public TwoArrays {
 public:
  using TwoArrays::TwoArrays;
  void run() override {
    constexpr int64_t kPart = 1 << 16;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count_; i += kPart) {
      const int64_t part = i + kPart < count_ ? kPart : count_ - i;
      std::memcpy(to_.data() + i, from_.data() + i, 4 * part);
    }
  }
  std::string check() override { return to_[count_ - 1] == from_[count_ - 1] ? "" : "copy"; }
  double value(double seconds) const override {
    return 8.0 * static_cast<double>(count_) / seconds * 1e-9;
  }
};

class CopyStreaming : public Copy {
 public:
  using Copy::Copy;
  void run() override {
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count_; i += 16) {
      for (int64_t k = i; k < i + 16; k += 4) {
        _mm_stream_ps(to_.data() + k, _mm_load_ps(from_.data() + k));
      }
    }
    _mm_sfence();
  }
};

class Fill : public TwoArrays {
 public:
  using TwoArrays::TwoArrays;
  void run() override {
    constexpr int64_t kPart = 1 << 16;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count_; i += kPart) {
      const int64_t part = i + kPart < count_ ? kPart : count_ - i;
      std::memset(to_.data() + i, 1, 4 * part);
    }
  }
  std::string check() override { return to_[count_ - 1] != 0.0f ? "" : "fill"; }
  double value(double seconds) const override {
    return 4.0 * static_cast<double>(count_) / seconds * 1e-9;
  }
};

class FillStreaming : public Fill {
 public:
  using Fill::Fill;
  void run() override {
    const __m128 value = _mm_set1_ps(1.0f);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count_; i += 16) {
      for (int64_t k = i; k < i + 16; k += 4) _mm_stream_ps(to_.data() + k, value);
    }
    _mm_sfence();
  }
};

/// Sums as integers, which compilers vectorise without leave to reorder.
class Read : public TwoArrays {
 public:
  using TwoArrays::TwoArrays;
  void run() override {
    const auto* words = reinterpret_cast<const uint32_t*>(from_.data());
    uint32_t sum = 0;
#pragma omp parallel for simd reduction(+ : sum) schedule(static)
    for (int64_t i = 0; i < count_; ++i) sum += words[i];
    sum_ = sum;
  }
  std::string check() override {
    const auto* words = reinterpret_cast<const uint32_t*>(from_.data());
    return sum_ == std::accumulate(words, words + count_, 0u) ? "" : "read";
  }
  double value(double seconds) const override {
    return 4.0 * static_cast<double>(count_) / seconds * 1e-9;
  }

 private:
  uint32_t sum_ = 0;
};

const Registration kPlain("triad", make<TriadPlain>);
const Registration kStreaming("triad_streaming", make<TriadStreaming>);
const Registration kCopy("copy", make<Copy>);
const Registration kCopyStreaming("copy_streaming", make<CopyStreaming>);
const Registration kFill("fill", make<Fill>);
const Registration kFillStreaming("fill_streaming", make<FillStreaming>);
const Registration kRead("read", make<Read>);

}  // namespace
}  // namespace km::bench
