#include <immintrin.h>

#include "common/parallel.h"
#include "common/vectors.h"
#include "kernels/nbody/problem.h"

namespace km::bench {
namespace {

struct Exact {
  static FloatPair inverse_root(FloatPair x) { return 1.0f / __builtin_elementwise_sqrt(x); }
};

/// The machine's estimate and a Newton step.
struct Approximate {
  static FloatPair inverse_root(FloatPair x) {
    FloatPair y;
    y.lo = estimate(x.lo);
    y.hi = estimate(x.hi);
    return y * (1.5f - 0.5f * x * y * y);
  }
#if defined(__AVX512F__)
  static Floats estimate(Floats x) { return __builtin_bit_cast(Floats, _mm512_rsqrt14_ps(x)); }
#else
  static Floats estimate(Floats x) { return __builtin_bit_cast(Floats, _mm256_rsqrt_ps(x)); }
#endif
};

/// What the threads of one block hold.
struct Block {
  static constexpr int kVectors = Nbody::kBlock / (2 * kLanes);
  FloatPair own[kVectors][3];
  FloatPair sums[kVectors][3];
};

template <class Root>
class SpmdNbody : public Nbody {
 public:
  using Nbody::Nbody;
  void run() override {
    parallel_for(count_ / kBlock, 1, [this](int64_t block) { run_block(block * kBlock); });
  }

 private:
  void run_block(int64_t first) {
    Block block{};
    for (int t = 0; t < kBlock; ++t) {
      for (int c = 0; c < 3; ++c) {
        block.own[t / (2 * kLanes)][c][t % (2 * kLanes)] = bodies_[4 * (first + t) + c];
      }
    }
    for (int start = 0; start < count_; start += kBlock) {
      float tile[4 * kBlock];
      std::memcpy(tile, bodies_.data() + 4 * start, sizeof tile);
      for (int v = 0; v < Block::kVectors; ++v) add_tile(block.own[v], tile, block.sums[v]);
    }
    for (int t = 0; t < kBlock; ++t) {
      for (int c = 0; c < 3; ++c) {
        accelerations_[4 * (first + t) + c] = block.sums[t / (2 * kLanes)][c][t % (2 * kLanes)];
      }
    }
  }

  static void add_tile(const FloatPair own[3], const float* tile, FloatPair sums[3]) {
    const FloatPair x = own[0], y = own[1], z = own[2];
    FloatPair ax = sums[0], ay = sums[1], az = sums[2];
    for (int k = 0; k < 4 * kBlock; k += 4) {
      const FloatPair dx = tile[k] - x, dy = tile[k + 1] - y, dz = tile[k + 2] - z;
      const FloatPair inverse = Root::inverse_root(dx * dx + dy * dy + dz * dz + 1e-3f);
      const FloatPair scale = tile[k + 3] * inverse * inverse * inverse;
      ax += dx * scale;
      ay += dy * scale;
      az += dz * scale;
    }
    sums[0] = ax;
    sums[1] = ay;
    sums[2] = az;
  }
};

const Registration kExact("nbody", make<SpmdNbody<Exact>>);
const Registration kApproximate("nbody_rsqrt", make<SpmdNbody<Approximate>>);

}  // namespace
}  // namespace km::bench
