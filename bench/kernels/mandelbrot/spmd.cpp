#include "common/parallel.h"
#include "common/vectors.h"
#include "kernels/mandelbrot/problem.h"

namespace km::bench {
namespace {

class SpmdMandelbrot : public Mandelbrot {
 public:
  using Mandelbrot::Mandelbrot;
  void run() override {
    const int per_row = edge_ / (2 * kLanes);
    parallel_for(int64_t{edge_} * per_row, 64, [=, this](int64_t group) {
      run_group(static_cast<int>(group % per_row) * 2 * kLanes, static_cast<int>(group / per_row));
    });
  }

 private:
  void run_group(int px, int py) {
    const float step = 3.0f / static_cast<float>(edge_);
    const FloatPair cx = -2.0f + (static_cast<float>(px) + lane_numbers<FloatPair>()) * step;
    const FloatPair cy = -1.5f + static_cast<float>(py) * step;
    FloatPair x = 0.0f, y = 0.0f;
    IntPair count = 0;
    for (int k = 0; k < kLimit; ++k) {
      const IntPair active = x * x + y * y <= 4.0f;
      if (!__builtin_reduce_or(active)) break;
      count -= active;  // lanes that go on are -1
      const FloatPair next = x * x - y * y + cx;
      y = 2.0f * x * y + cy;
      x = next;
    }
    std::memcpy(iterations_.data() + py * edge_ + px, &count, sizeof count);
  }
};

const Registration kRegistration("mandelbrot", make<SpmdMandelbrot>);

}  // namespace
}  // namespace km::bench
