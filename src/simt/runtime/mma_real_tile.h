// The operands of mma of f16, bf16, tf32 and fp8, converted to numbers and exponents.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>

#include "simt/runtime/mma_tile.h"

namespace km::simt::tensor {

// The compiler's vector types. They are used for local variables only, so that no ABI depends on
// them.
using Floats [[gnu::vector_size(32)]] = float;
using Ints [[gnu::vector_size(32)]] = int32_t;

constexpr uint32_t kMaxReals = 512;  // elements of A, of B

// Pseudo-exponents; sums of them with any exponent stay below kLowestTop.
constexpr int32_t kZero = -1000;
// KSpecial minus a Special other than kFinite is the pseudo-exponent of infinities and NaNs.
constexpr int32_t kSpecial = -2000;
enum Special : int32_t { kFinite = 0, kPlusInfinity = 1, kMinusInfinity = 2, kNan = 3 };
constexpr int32_t kLowestTop = -126;  // the exponent of a term that is zero

/// Products of Real are exact: float suffices for f16 and fp8, but not for the range of bf16 and
/// tf32.
template <class Real>
struct RealTile {
  static constexpr bool kExact = true;  // exponents are stored too
  alignas(64) Real a[kMaxReals];        // m x stored_k()
  alignas(64) Real b[kMaxReals];        // k x n
  alignas(64) int32_t a_exponent[kMaxReals];
  alignas(64) int32_t b_exponent[kMaxReals];
  alignas(64) float sums[kMaxSums];  // m x n
  Columns columns;
  bool special = false;  // A or B contains infinities or NaNs
};

/// The class of the number with the given f32 bits.
inline Special special_of(uint32_t bits_f32) {
  if ((~bits_f32 & 0x7f800000) != 0) return kFinite;
  if ((bits_f32 & 0x7fffff) != 0) return kNan;
  return bits_f32 >> 31 ? kMinusInfinity : kPlusInfinity;
}

KM_MMA_INLINE uint32_t f16_to_f32(uint32_t half) {
  const uint32_t magnitude = (half & 0x7fff) << 13;
  const float scaled = std::bit_cast<float>(magnitude) * 0x1p112f;
  const bool finite = (half & 0x7c00) != 0x7c00;
  const uint32_t bits = finite ? std::bit_cast<uint32_t>(scaled) : magnitude | 0x7f800000;
  return bits | (half & 0x8000) << 16;
}

/// Splits an f16 element into number and exponent; false if it is infinite or NaN.
inline bool take_f16(uint32_t half, float* value, int32_t* exponent) {
  const uint32_t bits = f16_to_f32(half);
  const Special special = special_of(bits);
  *value = special == kFinite ? std::bit_cast<float>(bits) : 0.0f;
  *exponent = special != kFinite ? kSpecial - special
              : bits << 1 == 0   ? kZero
                                 : std::max(static_cast<int32_t>(bits >> 23 & 255) - 127, -14);
  return special == kFinite;
}

template <MmaType kType>
constexpr int32_t kLowestExponent = kType == MmaType::f16 || kType == MmaType::e5m2 ? -14
                                    : kType == MmaType::e4m3                        ? -6
                                                                                    : -126;

/// Eight elements of a register over all lanes, unconverted.
template <MmaType kType>
KM_MMA_INLINE void load_raw(const uint32_t* lanes, uint32_t index, Ints* out_raw) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(lanes) + index * element_bits(kType) / 8;
  if constexpr (element_bits(kType) == 32) {
    std::memcpy(out_raw, bytes, sizeof *out_raw);
  } else if constexpr (element_bits(kType) == 16) {
    using Halves [[gnu::vector_size(16)]] = uint16_t;
    Halves halves;
    std::memcpy(&halves, bytes, sizeof halves);
    *out_raw = __builtin_convertvector(halves, Ints);
  } else {
    using Bytes [[gnu::vector_size(8)]] = uint8_t;
    Bytes packed;
    std::memcpy(&packed, bytes, sizeof packed);
    *out_raw = __builtin_convertvector(packed, Ints);
  }
}

/// The values of these elements as f32 bits.
template <MmaType kType>
KM_MMA_INLINE void widen(Ints* bits) {
  if constexpr (kType == MmaType::tf32) {
    *bits &= ~0x1fff;
  } else if constexpr (kType == MmaType::bf16) {
    *bits <<= 16;
  } else if constexpr (kType == MmaType::e4m3) {
    const Ints magnitude = *bits & 0x7f, sign = (*bits & 0x80) << 24;
    const Floats scaled = (Floats)(magnitude << 20) * 0x1p120f;
    *bits = (magnitude == 0x7f ? Ints{} + 0x7fffffff : (Ints)scaled) | sign;
  } else {
    const Ints half = kType == MmaType::e5m2 ? *bits << 8 : *bits;
    const Ints magnitude = (half & 0x7fff) << 13, sign = (half & 0x8000) << 16;
    const Floats scaled = (Floats)magnitude * 0x1p112f;
    const Ints finite = (half & 0x7c00) != 0x7c00;
    *bits = (finite ? (Ints)scaled : magnitude | 0x7f800000) | sign;
  }
}

/// Numbers and exponents from f32 bits. Subnormal numbers have the exponent of the smallest normal
/// number. Infinities and NaNs set bits of *special.
template <MmaType kType>
KM_MMA_INLINE void take(const Ints& bits, float* values, int32_t* exponents, Ints* special) {
  const Ints infinite = (bits & 0x7f800000) == 0x7f800000;
  const Ints kind =
      (bits & 0x7fffff) != 0 ? Ints{} + int32_t{kNan} : int32_t{kPlusInfinity} - (bits >> 31);
  Ints exponent = ((bits >> 23) & 255) - 127;
  exponent = exponent > kLowestExponent<kType> ? exponent : Ints{} + kLowestExponent<kType>;
  exponent = (bits << 1) == 0 ? Ints{} + kZero : exponent;
  exponent = infinite ? kSpecial - kind : exponent;
  const Ints value = infinite ? Ints{} : bits;
  *special |= infinite;
  std::memcpy(values, &value, sizeof value);
  std::memcpy(exponents, &exponent, sizeof exponent);
}

/// Converts one register over all lanes: eight rows of kWidth elements. kExact: infinities and NaNs
/// become zero with a pseudo-exponent; otherwise they stay.
template <MmaType kType, bool kExact>
struct Block {
  static constexpr uint32_t kWidth = 4 * elements_per_register(kType);
  alignas(32) float values[kBlockRows * kWidth];
  alignas(32) int32_t exponents[kBlockRows * kWidth];

  KM_MMA_INLINE bool load(const uint32_t* lanes) {
    Ints special = {};
    for (uint32_t i = 0; i < kBlockRows * kWidth; i += 8) {
      Ints bits;
      load_raw<kType>(lanes, i, &bits);
      widen<kType>(&bits);
      if constexpr (kExact) {
        take<kType>(bits, values + i, exponents + i, &special);
      } else {
        std::memcpy(values + i, &bits, sizeof bits);
      }
    }
    int32_t any = 0;
    for (uint32_t i = 0; i < 8; ++i) any |= special[i];
    return any != 0;
  }
};

template <MmaType kType, class Tile>
KM_MMA_INLINE void load_a(const MmaForm& form, const uint32_t* words, Tile* tile) {
  Block<kType, Tile::kExact> block;
  constexpr uint32_t kWidth = block.kWidth;
  const uint32_t stored = form.stored_k();
  for (uint32_t r = 0; r < form.m * stored / (kBlockRows * kWidth); ++r) {
    const MmaBlock at = block_of_a(form.m, stored, kWidth / 4, r);
    const bool special = block.load(words + r * kWarpLanes);
    if constexpr (Tile::kExact) tile->special |= special;
    for (uint32_t g = 0; g < kBlockRows; ++g) {
      const uint32_t place = (at.row + g) * stored + at.column;
#pragma GCC unroll 16
      for (uint32_t e = 0; e < kWidth; ++e) {
        tile->a[place + e] = block.values[g * kWidth + e];
        if constexpr (Tile::kExact) tile->a_exponent[place + e] = block.exponents[g * kWidth + e];
      }
    }
  }
}

template <MmaType kType, class Tile>
KM_MMA_INLINE void load_b(const MmaForm& form, const uint32_t* words, Tile* tile) {
  Block<kType, Tile::kExact> block;
  constexpr uint32_t kWidth = block.kWidth;
  for (uint32_t r = 0; r < uint32_t{form.n} * form.k / (kBlockRows * kWidth); ++r) {
    const MmaBlock at = block_of_b(form.n, form.k, kWidth / 4, r);
    const bool special = block.load(words + r * kWarpLanes);
    if constexpr (Tile::kExact) tile->special |= special;
    for (uint32_t e = 0; e < kWidth; ++e) {
      const uint32_t place = (at.column + e) * form.n + at.row;
#pragma GCC unroll 8
      for (uint32_t g = 0; g < kBlockRows; ++g) {
        tile->b[place + g] = block.values[g * kWidth + e];
        if constexpr (Tile::kExact) tile->b_exponent[place + g] = block.exponents[g * kWidth + e];
      }
    }
  }
}

/// Initialises the sums with C.
inline void load_c(const MmaForm& form, const uint32_t* words, float* sums) {
  const bool packed = form.c == MmaType::f16;
  const uint32_t pairs = uint32_t{form.m} * form.n / 64;
  for (uint32_t pair = 0; pair < pairs; ++pair) {
    const MmaBlock at = block_of_c(form.m, pair);
    for (uint32_t lane = 0; lane < kWarpLanes; ++lane) {
      float* to = sums + (at.row + lane / 4) * form.n + at.column + 2 * (lane % 4);
      uint32_t low = 0, high = 0;
      if (packed) {
        const uint32_t word = words[pair * kWarpLanes + lane];
        low = f16_to_f32(word & 0xffff);
        high = f16_to_f32(word >> 16);
      } else {
        low = words[2 * pair * kWarpLanes + lane];
        high = words[(2 * pair + 1) * kWarpLanes + lane];
      }
      to[0] = std::bit_cast<float>(low);
      to[1] = std::bit_cast<float>(high);
    }
  }
}

template <class Load>
KM_MMA_INLINE void by_type(MmaType type, Load load) {
  switch (type) {
    case MmaType::f16:
      return load.template operator()<MmaType::f16>();
    case MmaType::e4m3:
      return load.template operator()<MmaType::e4m3>();
    case MmaType::e5m2:
      return load.template operator()<MmaType::e5m2>();
    case MmaType::bf16:
      return load.template operator()<MmaType::bf16>();
    default:
      return load.template operator()<MmaType::tf32>();
  }
}

/// Loads A and B.
template <class Tile>
KM_MMA_INLINE void load_multiplicands(const MmaForm& form, const Registers& registers, Tile* tile) {
  by_type(form.a, [&]<MmaType kType>()
                      __attribute__((always_inline)) { load_a<kType>(form, registers.a, tile); });
  by_type(form.b, [&]<MmaType kType>()
                      __attribute__((always_inline)) { load_b<kType>(form, registers.b, tile); });
}

void store_sums(const MmaForm& form, const float* sums, uint32_t* results);
uint32_t f16_nearest(float value);  // the nearest f16, ties to even

/// Adds the products of all steps, rows and columns to the sums.
void sum_reals(const MmaForm& form, const MmaRule& rule, RealTile<float>* tile);
void sum_reals(const MmaForm& form, const MmaRule& rule, RealTile<double>* tile);

}  // namespace km::simt::tensor
