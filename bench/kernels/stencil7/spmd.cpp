#include "common/parallel.h"
#include "common/vectors.h"
#include "kernels/stencil7/problem.h"

namespace km::bench {
namespace {

/// Blocks of 32 x 8 threads in the kernel's order.
class SpmdStencil7 : public Stencil7 {
 public:
  using Stencil7::Stencil7;
  void run() override {
    const int64_t across = edge_ / kBlockX, down = edge_ / kBlockY;
    parallel_for(across * down * edge_, across * down, [=, this](int64_t block) {
      const int z = static_cast<int>(block / (across * down));
      const int y = static_cast<int>(block / across % down) * kBlockY;
      if (z > 0 && z < edge_ - 1) run_block(static_cast<int>(block % across) * kBlockX, y, z);
    });
  }

 private:
  void run_block(int x, int first_y, int z) {
    const int row = edge_;
    for (int y = std::max(first_y, 1); y < std::min(first_y + int{kBlockY}, edge_ - 1); ++y) {
      const int64_t i = (int64_t{z} * row + y) * row + x;
      for (int lane = 0; lane < int{kBlockX}; lane += kLanes) {
        Floats value = points(i + lane);
        // Border points stay; no other thread writes this part of the row.
        if (x + lane == 0) value[0] = to_[i];
        if (x + lane + kLanes == row) value[kLanes - 1] = to_[i + lane + kLanes - 1];
        store(to_.data() + i + lane, value);
      }
    }
  }

  Floats points(int64_t i) const {
    const float* const at = from_.data() + i;
    const int row = edge_, plane = edge_ * edge_;
    const Floats around = load<Floats>(at - 1) + load<Floats>(at + 1) + load<Floats>(at - row) +
                          load<Floats>(at + row) + load<Floats>(at - plane) +
                          load<Floats>(at + plane);
    return kCentre * load<Floats>(at) + kNeighbour * around;
  }
};

const Registration kRegistration("stencil7", make<SpmdStencil7>);

}  // namespace
}  // namespace km::bench
