#include "common/parallel.h"
#include "common/vectors.h"
#include "kernels/reduce/problem.h"

namespace km::bench {
namespace {

/// The passes of the kernel: blocks of 256 threads add 512 neighbours by a tree.
class SpmdReduce : public Reduce {
 public:
  explicit SpmdReduce(uint64_t count)
      : Reduce(count), sums_{Pages<float>(count), Pages<float>(count)} {}

  void run() override {
    const float* from = values_.data();
    int pass = 0;
    for (int left = count_; left > 1; ++pass) {
      const int blocks = (left + 511) / 512;
      float* const to = sums_[pass % 2].data();
      parallel_for(blocks, blocks > 512 ? 64 : blocks, [=](int64_t block) {
        to[block] = sum_of_block(from + block * 512, left - static_cast<int>(block) * 512);
      });
      from = to;
      left = blocks;
    }
    sum_[0] = from[0];
  }

 private:
  static float sum_of_block(const float* values, int count) {
    alignas(64) float tree[kBlock];
    if (count >= 512) {
      for (int t = 0; t < 256; t += kLanes) {
        store(tree + t, load<Floats>(values + t) + load<Floats>(values + t + 256));
      }
    } else {
      for (int t = 0; t < 256; ++t) {
        tree[t] = (t < count ? values[t] : 0.0f) + (t + 256 < count ? values[t + 256] : 0.0f);
      }
    }
    for (int half = 128; half >= kLanes; half /= 2) {
      for (int t = 0; t < half; t += kLanes) {
        store(tree + t, load<Floats>(tree + t) + load<Floats>(tree + t + half));
      }
    }
    const Floats last = load<Floats>(tree);
#if defined(__AVX512F__)
    const FloatsOf<8> eight = last.lo + last.hi;
#else
    const FloatsOf<8> eight = last;
#endif
    const FloatsOf<4> four = eight.lo + eight.hi;
    const FloatsOf<2> two = four.lo + four.hi;
    return two.x + two.y;
  }

  Pages<float> sums_[2];
};

const Registration kRegistration("reduce_tree", make<SpmdReduce>);

}  // namespace
}  // namespace km::bench
