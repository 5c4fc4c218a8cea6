// What the machine's memory can do: the bounds of streaming kernels.
#include <immintrin.h>

#include "common/pages.h"

namespace km::bench {
namespace {

constexpr int64_t kCount = 64 << 20;

/// STREAM's triad a = b + s c, 12 bytes per element, by plain or by non-temporal stores.
class Triad : public Benchmark {
 public:
  Triad() : a_(kCount), b_(kCount), c_(kCount) {
    float *a = a_.data(), *b = b_.data(), *c = c_.data();
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < kCount; ++i) {
      a[i] = 0.0f;
      b[i] = 1.0f;
      c[i] = 2.0f;
    }
  }
  double value(double seconds) const override { return 12.0 * kCount / seconds * 1e-9; }
  std::string check() override { return a_[kCount - 1] == 7.0f ? "" : "triad"; }

 protected:
  Pages<float> a_, b_, c_;
};

class TriadPlain : public Triad {
 public:
  void run() override {
    float* const a = a_.data();
    const float *b = b_.data(), *c = c_.data();
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < kCount; ++i) a[i] = b[i] + 3.0f * c[i];
  }
};

class TriadStreaming : public Triad {
 public:
  void run() override {
    float* const a = a_.data();
    const float *b = b_.data(), *c = c_.data();
    const __m128 factor = _mm_set1_ps(3.0f);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < kCount; i += 16) {
      for (int64_t k = i; k < i + 16; k += 4) {
        const __m128 sum = _mm_add_ps(_mm_load_ps(b + k), _mm_mul_ps(factor, _mm_load_ps(c + k)));
        _mm_stream_ps(a + k, sum);
      }
    }
    _mm_sfence();
  }
};

const Registration kPlain("triad", make<TriadPlain>);
const Registration kStreaming("triad_streaming", make<TriadStreaming>);

}  // namespace
}  // namespace km::bench
