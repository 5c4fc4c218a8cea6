// The operands of mma of f16, bf16, tf32 and fp8 as numbers and exponents.
#pragma once

#include <algorithm>
#include <bit>
#include <type_traits>

#include "simt/runtime/mma_tile.h"

namespace km::simt::tensor {

constexpr uint32_t kMaxReals = 512;  // elements of A, of B

// Exponents that are none; sums of them with any other stay below kLowestTop.
constexpr int32_t kZero = -1000;
constexpr int32_t kSpecial = -2000;  // less one of:
enum Special : int32_t { kFinite = 0, kPlusInfinity = 1, kMinusInfinity = 2, kNan = 3 };
constexpr int32_t kLowestTop = -126;  // what a term that is zero counts for

/// Products of Real are exact: float holds those of f16 and fp8, bf16 and tf32 have too large a
/// range for it.
template <class Real>
struct RealTile {
  alignas(64) Real a[kMaxReals];  // m x stored k
  alignas(64) Real b[kMaxReals];  // k x n
  alignas(64) int32_t a_exponent[kMaxReals];
  alignas(64) int32_t b_exponent[kMaxReals];
  alignas(64) float sums[kMaxSums];  // m x n
  Columns columns;
  bool special = false;  // A or B holds what is not finite
};

/// What the bits of an f32 stand for.
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

KM_MMA_INLINE uint32_t e4m3_to_f32(uint32_t byte) {
  const float scaled = std::bit_cast<float>((byte & 0x7f) << 20) * 0x1p120f;
  const bool finite = (byte & 0x7f) != 0x7f;
  const uint32_t bits = finite ? std::bit_cast<uint32_t>(scaled) : 0x7fffffff;
  return bits | (byte & 0x80) << 24;
}

/// Element `index` of a register over all lanes, as the bits of an f32.
template <MmaType kType>
KM_MMA_INLINE uint32_t element_f32(const uint32_t* lanes, uint32_t index) {
  if constexpr (kType == MmaType::tf32) return lanes[index] & ~0x1fffu;
  const auto* halves = reinterpret_cast<const uint16_t*>(lanes);
  const auto* bytes = reinterpret_cast<const uint8_t*>(lanes);
  if constexpr (kType == MmaType::f16) return f16_to_f32(halves[index]);
  if constexpr (kType == MmaType::bf16) return uint32_t{halves[index]} << 16;
  if constexpr (kType == MmaType::e5m2) return f16_to_f32(uint32_t{bytes[index]} << 8);
  return e4m3_to_f32(bytes[index]);
}

template <MmaType kType>
constexpr int32_t kLowestExponent = kType == MmaType::f16 || kType == MmaType::e5m2 ? -14
                                    : kType == MmaType::e4m3                        ? -6
                                                                                    : -126;

/// Subnormal numbers have the exponent of the smallest normal one. Returns 1 for what is finite.
template <MmaType kType, class Real>
KM_MMA_INLINE uint32_t take(uint32_t bits, Real* value, int32_t* exponent) {
  const bool finite = (bits & 0x7f800000) != 0x7f800000;
  const int32_t field = static_cast<int32_t>(bits >> 23 & 255) - 127;
  const int32_t special =
      (bits & 0x7fffff) != 0 ? kNan : kPlusInfinity + static_cast<int32_t>(bits >> 31);
  const int32_t number = field > kLowestExponent<kType> ? field : kLowestExponent<kType>;
  *value = std::bit_cast<float>(finite ? bits : 0);
  *exponent = finite ? (bits << 1 == 0 ? kZero : number) : kSpecial - special;
  return finite;
}

template <MmaType kType, class Real>
KM_MMA_INLINE void load_a(const MmaForm& form, const uint32_t* words, RealTile<Real>* tile) {
  constexpr uint32_t per_register = elements_per_register(kType), kWidth = 4 * per_register;
  const uint32_t stored = form.stored_k();
  uint32_t finite = 1;
  for (uint32_t r = 0; r < form.m * stored / (kBlockRows * kWidth); ++r) {
    const MmaBlock at = block_of_a(form.m, stored, per_register, r);
    for (uint32_t g = 0; g < kBlockRows; ++g) {
      const uint32_t place = (at.row + g) * stored + at.column;
      for (uint32_t e = 0; e < kWidth; ++e) {
        const uint32_t bits = element_f32<kType>(words + r * kWarpLanes, g * kWidth + e);
        finite &= take<kType>(bits, tile->a + place + e, tile->a_exponent + place + e);
      }
    }
  }
  tile->special |= finite == 0;
}

template <MmaType kType, class Real>
KM_MMA_INLINE void load_b(const MmaForm& form, const uint32_t* words, RealTile<Real>* tile) {
  constexpr uint32_t per_register = elements_per_register(kType), kWidth = 4 * per_register;
  uint32_t finite = 1;
  for (uint32_t r = 0; r < uint32_t{form.n} * form.k / (kBlockRows * kWidth); ++r) {
    const MmaBlock at = block_of_b(form.n, form.k, per_register, r);
    for (uint32_t e = 0; e < kWidth; ++e) {
      const uint32_t place = (at.column + e) * form.n + at.row;
      for (uint32_t g = 0; g < kBlockRows; ++g) {
        const uint32_t bits = element_f32<kType>(words + r * kWarpLanes, g * kWidth + e);
        finite &= take<kType>(bits, tile->b + place + g, tile->b_exponent + place + g);
      }
    }
  }
  tile->special |= finite == 0;
}

/// The sums begin with C.
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

uint32_t f16_nearest(float value);  // its bits, ties to even

/// Steps over all rows and columns, on top of the sums.
void sum_reals(const MmaForm& form, const MmaRule& rule, RealTile<float>* tile);

}  // namespace km::simt::tensor
