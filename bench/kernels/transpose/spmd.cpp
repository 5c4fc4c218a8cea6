#include "common/parallel.h"
#include "common/vectors.h"
#include "kernels/transpose/problem.h"

namespace km::bench {
namespace {

#if defined(__AVX512F__)
Floats low_of(Floats a, Floats b) {
  return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
Floats high_of(Floats a, Floats b) {
  return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15,
                                 31);
}
#else
Floats low_of(Floats a, Floats b) {
  return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
}
Floats high_of(Floats a, Floats b) {
  return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
}
#endif

/// Shuffling rows with those half a tile away, as often as halving gives one, turns rows to
/// columns.
void turn(Floats (&rows)[kLanes]) {
  for (int step = 1; step < kLanes; step *= 2) {
    Floats next[kLanes];
    for (int i = 0; i < kLanes / 2; ++i) {
      next[2 * i] = low_of(rows[i], rows[i + kLanes / 2]);
      next[2 * i + 1] = high_of(rows[i], rows[i + kLanes / 2]);
    }
    for (int i = 0; i < kLanes; ++i) rows[i] = next[i];
  }
}

/// The tile of the kernel, its columns read by registers instead of gathers.
class SpmdTranspose : public Transpose {
 public:
  using Transpose::Transpose;
  void run() override {
    const int64_t tiles = edge_ / kTile;
    parallel_for(tiles * tiles, tiles, [=, this](int64_t block) {
      run_block(static_cast<int>(block % tiles) * kTile, static_cast<int>(block / tiles) * kTile);
    });
  }

 private:
  void run_block(int x, int y) {
    constexpr int kEdge = kTile;
    float tile[kEdge][kEdge];
    for (int part_x = 0; part_x < kEdge; part_x += kLanes) {
      for (int part_y = 0; part_y < kEdge; part_y += kLanes) {
        Floats rows[kLanes];
        for (int k = 0; k < kLanes; ++k) {
          rows[k] = load<Floats>(from_.data() + int64_t{y + part_y + k} * edge_ + x + part_x);
        }
        turn(rows);
        for (int k = 0; k < kLanes; ++k) store(&tile[part_x + k][part_y], rows[k]);
      }
    }
    for (int k = 0; k < kEdge; ++k) {
      std::memcpy(to_.data() + int64_t{x + k} * edge_ + y, tile[k], sizeof tile[k]);
    }
  }
};

const Registration kRegistration("transpose", make<SpmdTranspose>);

}  // namespace
}  // namespace km::bench
