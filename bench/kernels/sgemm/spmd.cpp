#include "common/parallel.h"
#include "common/vectors.h"
#include "kernels/sgemm/problem.h"

namespace km::bench {
namespace {

/// One vector per row of a tile; its sums stay in registers for as many rows as there is room.
class SpmdSgemm : public Sgemm {
 public:
  using Sgemm::Sgemm;
  void run() override {
    const int64_t tiles = edge_ / kTile;
    parallel_for(tiles * tiles, 8, [=, this](int64_t tile) {
      run_block(static_cast<int>(tile / tiles) * kTile, static_cast<int>(tile % tiles) * kTile);
    });
  }

 private:
  static constexpr int kTile = 16, kRows = kLanes / 2;
  using Row = FloatsOf<kTile>;

  void run_block(int row, int column) {
    Row sums[kTile] = {};
    for (int start = 0; start < edge_; start += kTile) {
      Row as[kTile], bs[kTile];
      for (int k = 0; k < kTile; ++k) {
        as[k] = load<Row>(a_.data() + (row + k) * edge_ + start);
        bs[k] = load<Row>(b_.data() + (start + k) * edge_ + column);
      }
      const auto* factors = reinterpret_cast<const float*>(as);
      for (int k = 0; k < kTile; k += kRows) add_rows(factors + k * kTile, bs, sums + k);
    }
    for (int k = 0; k < kTile; ++k) store(c_.data() + (row + k) * edge_ + column, sums[k]);
  }

  static void add_rows(const float* as, const Row* bs, Row* sums) {
    Row own[kRows];
    for (int i = 0; i < kRows; ++i) own[i] = sums[i];
    for (int k = 0; k < kTile; ++k) {
      for (int i = 0; i < kRows; ++i) own[i] += as[i * kTile + k] * bs[k];
    }
    for (int i = 0; i < kRows; ++i) sums[i] = own[i];
  }
};

const Registration kRegistration("sgemm_tiled16", make<SpmdSgemm>);

}  // namespace
}  // namespace km::bench
