#include <arm_neon.h>

#include "simt/runtime/mma_fast_tile.h"

namespace km::simt::tensor {

void sum_block(const MmaForm& form, FastTile* tile, uint32_t row, uint32_t column) {
  constexpr uint32_t kLanes = 4;
  const uint32_t stored = form.stored_k(), n = form.n;
  for (uint32_t r = 0; r < kBlockRows; ++r) {
    float* const sums = tile->sums + (row + r) * n + column;
    float32x4_t low = vld1q_f32(sums), high = vld1q_f32(sums + kLanes);
    for (uint32_t t = 0; t < stored; ++t) {
      const uint32_t source = form.sparse ? row + r : row;
      const float* const b = tile->b + tile->columns.row(source)[t] * n + column;
      const float a = tile->a[(row + r) * stored + t];
      low = vfmaq_n_f32(low, vld1q_f32(b), a);
      high = vfmaq_n_f32(high, vld1q_f32(b + kLanes), a);
    }
    vst1q_f32(sums, low);
    vst1q_f32(sums + kLanes, high);
  }
}

}  // namespace km::simt::tensor
