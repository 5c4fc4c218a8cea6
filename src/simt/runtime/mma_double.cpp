// mma of f64: a chain of fma in the order of k, as the hardware does it.
#include <bit>
#include <cmath>

#include "base/arch/float_control.h"
#include "simt/runtime/mma_tile.h"

namespace km::simt::tensor {
namespace {

constexpr uint64_t kNan64 = 0xfff8000000000000;

struct Tile {
  double a[16 * 16];  // m x k
  double b[16 * 8];   // k x n
  double sums[16 * 8];
};

void load(const MmaForm& form, const uint32_t* operands, Tile* tile) {
  const Registers registers = registers_of(form, operands);
  auto lane_of = [](const uint32_t* words, uint32_t index, uint32_t lane) {
    const uint32_t* at = words + 2 * (index * kWarpLanes + lane);
    return std::bit_cast<double>(uint64_t{at[1]} << 32 | at[0]);
  };
  for (uint32_t lane = 0; lane < kWarpLanes; ++lane) {
    const uint32_t g = lane / 4, t = lane % 4;
    for (uint32_t r = 0; r < form.a_registers; ++r) {
      const MmaBlock at = block_of_a(form.m, form.k, 1, r);
      tile->a[(at.row + g) * form.k + at.column + t] = lane_of(registers.a, r, lane);
    }
    for (uint32_t r = 0; r < form.b_registers; ++r) {
      const MmaBlock at = block_of_b(form.n, form.k, 1, r);
      tile->b[(at.column + t) * form.n + at.row + g] = lane_of(registers.b, r, lane);
    }
    for (uint32_t r = 0; r < form.c_registers; ++r) {
      const MmaBlock at = block_of_c(form.m, r / 2);
      tile->sums[(at.row + g) * form.n + at.column + 2 * t + r % 2] = lane_of(registers.c, r, lane);
    }
  }
}

void store(const MmaForm& form, const Tile& tile, uint32_t* results) {
  for (uint32_t r = 0; r < form.d_registers; ++r) {
    const MmaBlock at = block_of_c(form.m, r / 2);
    for (uint32_t lane = 0; lane < kWarpLanes; ++lane) {
      const double sum =
          tile.sums[(at.row + lane / 4) * form.n + at.column + 2 * (lane % 4) + r % 2];
      const uint64_t bits = std::isnan(sum) ? kNan64 : std::bit_cast<uint64_t>(sum);
      results[2 * (r * kWarpLanes + lane)] = static_cast<uint32_t>(bits);
      results[2 * (r * kWarpLanes + lane) + 1] = static_cast<uint32_t>(bits >> 32);
    }
  }
}

KM_MMA_INLINE void chain(const MmaForm& form, Tile* tile) {
  for (uint32_t i = 0; i < form.m; ++i) {
    double* sums = tile->sums + i * kBlockRows;
    for (uint32_t t = 0; t < form.k; ++t) {
      const double a = tile->a[i * form.k + t];
      const double* b = tile->b + t * kBlockRows;
      for (uint32_t j = 0; j < kBlockRows; ++j) sums[j] = __builtin_fma(a, b[j], sums[j]);
    }
  }
}

// It is not inlined, so that the arithmetic stays between the changes of the rounding mode.
__attribute__((noinline)) KM_MMA_WIDE void chain_wide(const MmaForm& form, Tile* tile) {
  chain(form, tile);
}
__attribute__((noinline)) void chain_narrow(const MmaForm& form, Tile* tile) { chain(form, tile); }

}  // namespace

void multiply_doubles(const MmaForm& form, const uint32_t* operands, uint32_t* results) {
  Tile tile;
  load(form, operands, &tile);
  const arch::FloatControl control = arch::float_control();
  if (form.rounding != 0) {
    const auto rounding = static_cast<arch::FloatRounding>(form.rounding);
    arch::set_float_control(arch::with_rounding(control, rounding));
  }
  if (form.wide) {
    chain_wide(form, &tile);
  } else {
    chain_narrow(form, &tile);
  }
  if (form.rounding != 0) arch::set_float_control(control);
  store(form, tile, results);
}

}  // namespace km::simt::tensor
