// mma of integers and single bits: exact, then wrapped or clamped to 32 bits.
#include <algorithm>
#include <bit>
#include <limits>

#include "simt/runtime/mma_tile.h"

namespace km::simt::tensor {
namespace {

/// Products and their sums stay below 2^24, so they are exact in f32, whose multiplication is
/// faster.
struct Tile {
  alignas(64) float a[kMaxStored];  // m x stored k
  alignas(64) float b[kMaxStored];  // k x n
  alignas(64) float sums[kMaxSums];
  Columns columns;
};

template <MmaType kType>
KM_MMA_INLINE float element(const uint32_t* lanes, uint32_t index) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(lanes);
  if constexpr (kType == MmaType::u8) return bytes[index];
  if constexpr (kType == MmaType::s8) return static_cast<int8_t>(bytes[index]);
  const uint32_t nibble = bytes[index / 2] >> (index % 2 * 4) & 15;
  if constexpr (kType == MmaType::u4) return static_cast<float>(nibble);
  return static_cast<float>(static_cast<int32_t>(nibble ^ 8) - 8);
}

template <MmaType kType>
KM_MMA_INLINE void load_a(const MmaForm& form, const uint32_t* words, float* a) {
  constexpr uint32_t per_register = elements_per_register(kType), kWidth = 4 * per_register;
  const uint32_t stored = form.stored_k();
  for (uint32_t r = 0; r < form.m * stored / (kBlockRows * kWidth); ++r) {
    const MmaBlock at = block_of_a(form.m, stored, per_register, r);
    for (uint32_t g = 0; g < kBlockRows; ++g) {
      float* row = a + (at.row + g) * stored + at.column;
      for (uint32_t e = 0; e < kWidth; ++e) {
        row[e] = element<kType>(words + r * kWarpLanes, g * kWidth + e);
      }
    }
  }
}

template <MmaType kType>
KM_MMA_INLINE void load_b(const MmaForm& form, const uint32_t* words, float* b) {
  constexpr uint32_t per_register = elements_per_register(kType), kWidth = 4 * per_register;
  for (uint32_t r = 0; r < uint32_t{form.n} * form.k / (kBlockRows * kWidth); ++r) {
    const MmaBlock at = block_of_b(form.n, form.k, per_register, r);
    for (uint32_t e = 0; e < kWidth; ++e) {
      float* row = b + (at.column + e) * form.n + at.row;
      for (uint32_t g = 0; g < kBlockRows; ++g) {
        row[g] = element<kType>(words + r * kWarpLanes, g * kWidth + e);
      }
    }
  }
}

template <class Load>
KM_MMA_INLINE void by_type(MmaType type, Load load) {
  switch (type) {
    case MmaType::s8:
      return load.template operator()<MmaType::s8>();
    case MmaType::u8:
      return load.template operator()<MmaType::u8>();
    case MmaType::s4:
      return load.template operator()<MmaType::s4>();
    default:
      return load.template operator()<MmaType::u4>();
  }
}

KM_MMA_INLINE void sum_up(const MmaForm& form, Tile* tile) {
  const uint32_t stored = form.stored_k();
  for (uint32_t j0 = 0; j0 < form.n; j0 += kBlockRows) {
    for (uint32_t i = 0; i < form.m; ++i) {
      const uint8_t* columns = tile->columns.row(i);
      float sums[kBlockRows] = {};
      for (uint32_t t = 0; t < stored; ++t) {
        const float a = tile->a[i * stored + t];
        const float* b = tile->b + columns[t] * form.n + j0;
        for (uint32_t j = 0; j < kBlockRows; ++j) sums[j] += a * b[j];
      }
      for (uint32_t j = 0; j < kBlockRows; ++j) tile->sums[i * form.n + j0 + j] = sums[j];
    }
  }
}

KM_MMA_INLINE void multiply(const MmaForm& form, const Registers& registers, Tile* tile) {
  by_type(form.a, [&]<MmaType kType>() __attribute__((always_inline)) {
    load_a<kType>(form, registers.a, tile->a);
  });
  by_type(form.b, [&]<MmaType kType>() __attribute__((always_inline)) {
    load_b<kType>(form, registers.b, tile->b);
  });
  sum_up(form, tile);
}

KM_MMA_WIDE void multiply_wide(const MmaForm& form, const Registers& registers, Tile* tile) {
  multiply(form, registers, tile);
}
void multiply_narrow(const MmaForm& form, const Registers& registers, Tile* tile) {
  multiply(form, registers, tile);
}

/// Adds `sum(row, column)` to C.
template <class Sum>
void add_to_c(const MmaForm& form, const uint32_t* c, uint32_t* results, Sum sum) {
  for (uint32_t r = 0; r < form.d_registers; ++r) {
    const MmaBlock at = block_of_c(form.m, r / 2);
    for (uint32_t lane = 0; lane < kWarpLanes; ++lane) {
      const uint32_t place = r * kWarpLanes + lane;
      const int32_t product = sum(at.row + lane / 4, at.column + 2 * (lane % 4) + r % 2);
      int64_t total = int64_t{static_cast<int32_t>(c[place])} + product;
      if (form.saturates) {
        total = std::clamp<int64_t>(total, std::numeric_limits<int32_t>::min(),
                                    std::numeric_limits<int32_t>::max());
      }
      results[place] = static_cast<uint32_t>(total);
    }
  }
}

/// The dot product of a row of A and a column of B, with 32 elements per word.
KM_MMA_INLINE uint32_t count_bits(const MmaForm& form, const Registers& registers, uint32_t row,
                                  uint32_t column) {
  uint32_t count = 0;
  for (uint32_t word = 0; word < form.k / 32u; ++word) {
    const uint32_t halves = form.m / 8;  // in A, rows g and g + 8 are in adjacent registers
    const uint32_t a_register = word / 4 * halves + row / 8;
    const uint32_t a = registers.a[a_register * kWarpLanes + row % 8 * 4 + word % 4];
    const uint32_t b = registers.b[word / 4 * kWarpLanes + column * 4 + word % 4];
    count += static_cast<uint32_t>(std::popcount(form.popc_and ? a & b : a ^ b));
  }
  return count;
}

KM_MMA_INLINE void count_all(const MmaForm& form, const Registers& registers, uint32_t* counts) {
  for (uint32_t i = 0; i < form.m; ++i) {
    for (uint32_t j = 0; j < form.n; ++j) {
      counts[i * form.n + j] = count_bits(form, registers, i, j);
    }
  }
}
KM_MMA_WIDE void count_all_wide(const MmaForm& form, const Registers& registers, uint32_t* counts) {
  count_all(form, registers, counts);
}

}  // namespace

void multiply_integers(const MmaForm& form, const uint32_t* operands, uint32_t* results) {
  const Registers registers = registers_of(form, operands);
  Tile tile;
  find_columns(form, registers.metadata, &tile.columns);
  if (form.wide) {
    multiply_wide(form, registers, &tile);
  } else {
    multiply_narrow(form, registers, &tile);
  }
  add_to_c(form, registers.c, results, [&](uint32_t row, uint32_t column) {
    return static_cast<int32_t>(tile.sums[row * form.n + column]);
  });
}

void multiply_bits(const MmaForm& form, const uint32_t* operands, uint32_t* results) {
  const Registers registers = registers_of(form, operands);
  uint32_t counts[kMaxSums];
  if (form.wide) {
    count_all_wide(form, registers, counts);
  } else {
    count_all(form, registers, counts);
  }
  add_to_c(form, registers.c, results, [&](uint32_t row, uint32_t column) {
    return static_cast<int32_t>(counts[row * form.n + column]);
  });
}

}  // namespace km::simt::tensor
