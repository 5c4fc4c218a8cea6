#include <immintrin.h>

#include "simt/runtime/mma_fast_tile.h"

namespace km::simt::tensor {
namespace {

/// All rows meet the same rows of B, or each of them its own.
template <bool kSparse>
KM_MMA_WIDE void sum_rows(const MmaForm& form, FastTile* tile, uint32_t row, uint32_t column) {
  const uint32_t stored = form.stored_k(), n = form.n;
  __m256 sums[kBlockRows];
#pragma GCC unroll 8
  for (uint32_t r = 0; r < kBlockRows; ++r) {
    sums[r] = _mm256_load_ps(tile->sums + (row + r) * n + column);
  }
  for (uint32_t t = 0; t < stored; ++t) {
    __m256 b = _mm256_load_ps(tile->b + tile->columns.row(row)[t] * n + column);
#pragma GCC unroll 8
    for (uint32_t r = 0; r < kBlockRows; ++r) {
      if (kSparse) b = _mm256_load_ps(tile->b + tile->columns.row(row + r)[t] * n + column);
      const __m256 a = _mm256_broadcast_ss(tile->a + (row + r) * stored + t);
      sums[r] = _mm256_fmadd_ps(a, b, sums[r]);
    }
  }
#pragma GCC unroll 8
  for (uint32_t r = 0; r < kBlockRows; ++r) {
    _mm256_store_ps(tile->sums + (row + r) * n + column, sums[r]);
  }
}

}  // namespace

void sum_block(const MmaForm& form, FastTile* tile, uint32_t row, uint32_t column) {
  if (form.sparse) {
    sum_rows<true>(form, tile, row, column);
  } else {
    sum_rows<false>(form, tile, row, column);
  }
}

}  // namespace km::simt::tensor
