// mma of f16, bf16, tf32 and fp8 in the fastest way on a CPU: each element of D is a chain of fused
// multiply-adds in f32 that starts with C, in the order of k. Results are the same on every
// processor.
#include <cmath>

#include "simt/runtime/mma_fast_tile.h"

namespace km::simt::tensor {
namespace {

KM_MMA_WIDE void load_wide(const MmaForm& form, const Registers& registers, FastTile* tile) {
  load_multiplicands(form, registers, tile);
}

void sum_wide(const MmaForm& form, FastTile* tile) {
  for (uint32_t row = 0; row < form.m; row += kBlockRows) {
    for (uint32_t column = 0; column < form.n; column += kBlockRows) {
      sum_block(form, tile, row, column);
    }
  }
}

void sum_narrow(const MmaForm& form, FastTile* tile) {
  const uint32_t stored = form.stored_k(), n = form.n;
  for (uint32_t i = 0; i < form.m; ++i) {
    for (uint32_t t = 0; t < stored; ++t) {
      const float a = tile->a[i * stored + t];
      const float* b = tile->b + tile->columns.row(i)[t] * n;
      for (uint32_t j = 0; j < n; ++j) {
        tile->sums[i * n + j] = std::fma(a, b[j], tile->sums[i * n + j]);
      }
    }
  }
}

}  // namespace

void sum_fast(const MmaForm& form, FastTile* tile) {
  if (form.wide) {
    sum_wide(form, tile);
  } else {
    sum_narrow(form, tile);
  }
  for (uint32_t i = 0; i < uint32_t{form.m} * form.n; i += kBlockRows) {
    Floats some;
    std::memcpy(&some, tile->sums + i, sizeof some);
    const Ints bits = some == some ? (Ints)some : Ints{} + 0x7fffffff;
    std::memcpy(tile->sums + i, &bits, sizeof bits);
  }
}

void multiply_fast(const MmaForm& form, const uint32_t* operands, uint32_t* results) {
  const Registers registers = registers_of(form, operands);
  FastTile tile;
  find_columns(form, registers.metadata, &tile.columns);
  load_c(form, registers.c, tile.sums);
  if (form.wide) {
    load_wide(form, registers, &tile);
  } else {
    load_multiplicands(form, registers, &tile);
  }
  sum_fast(form, &tile);
  store_sums(form, tile.sums, results);
}

}  // namespace km::simt::tensor
