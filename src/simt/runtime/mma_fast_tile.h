// The matrices of one mma whose sums are chains of fused multiply-adds in f32.
#pragma once

#include "simt/runtime/mma_real_tile.h"

namespace km::simt::tensor {

/// The multiplicands and the sums.
struct FastTile {
  static constexpr bool kExact = false;
  alignas(64) float a[kMaxReals];    // m x stored_k()
  alignas(64) float b[kMaxReals];    // k x n
  alignas(64) float sums[kMaxSums];  // m x n
  Columns columns;
};

/// Adds up eight rows and columns from `row` and `column` on, by the registers of KernelSet::wide.
void sum_block(const MmaForm& form, FastTile* tile, uint32_t row, uint32_t column);
/// Adds up all rows and columns. Sums that are NaN become the NaN of tensor cores.
void sum_fast(const MmaForm& form, FastTile* tile);

}  // namespace km::simt::tensor
