// mma of f16, bf16, tf32 and fp8: products are exact, and all terms of a step, including the
// accumulator, are aligned to the largest exponent and truncated there, as in tensor cores.
#include <array>
#include <cmath>
#include <cstring>

#include "simt/runtime/mma_real_tile.h"

namespace km::simt::tensor {
namespace {

using HalfInts [[gnu::vector_size(16)]] = int32_t;
using HalfFloats [[gnu::vector_size(16)]] = float;
using Doubles [[gnu::vector_size(32)]] = double;
using Longs [[gnu::vector_size(32)]] = int64_t;

constexpr uint32_t kHalf = kBlockRows / 2;
/// The number of terms that fit into a 32-bit sum: each is below 2^27.
constexpr uint32_t kTermsAtOnce = 8;

template <class Vector, class Element>
KM_MMA_INLINE void load(Vector* vector, const Element* from) {
  std::memcpy(vector, from, sizeof *vector);
}

/// One step for one row of A and eight columns of B.
template <class Real>
struct Step {
  const RealTile<Real>* tile;
  const MmaRule* rule;
  uint32_t a;              // index of the first term in A
  const uint8_t* columns;  // columns of the terms
  uint32_t count;          // number of terms
  uint32_t n, first_column;
  bool half_sums;  // D is f16

  KM_MMA_INLINE uint32_t b(uint32_t term) const { return columns[term] * n + first_column; }
};

/// The largest exponent of terms and accumulators.
template <class Real>
KM_MMA_INLINE void find_top(const Step<Real>& step, const float* sums, int32_t* out_top) {
  Ints bits, top;
  load(&bits, sums);
  const Ints lowest = Ints{} + (step.half_sums ? -14 : kLowestTop);
  Ints exponent = ((bits >> 23) & 255) - 127;
  exponent = exponent > lowest ? exponent : lowest;
  top = (bits << 1) == 0 ? Ints{} + kLowestTop : exponent;
  for (uint32_t t = 0; t < step.count; ++t) {
    Ints sum;
    load(&sum, step.tile->b_exponent + step.b(t));
    sum += step.tile->a_exponent[step.a + t];
    top = sum > top ? sum : top;
  }
  std::memcpy(out_top, &top, sizeof top);
}

/// Adds terms truncated to integers, in units of 2^(top - fraction_bits).
KM_MMA_INLINE void add_terms(const Step<float>& step, const int32_t* tops, uint32_t first,
                             uint32_t last, int32_t* out_sums) {
  Ints top, sums = {};
  load(&top, tops);
  Ints exponent = static_cast<int32_t>(step.rule->fraction_bits) - top;
  // From this exponent on all products are zero.
  exponent = exponent > 127 ? Ints{} + 127 : exponent;
  const auto scale = (Floats)((exponent + 127) << 23);
  for (uint32_t t = first; t < last; ++t) {
    Floats b;
    load(&b, step.tile->b + step.b(t));
    sums += __builtin_convertvector(b * step.tile->a[step.a + t] * scale, Ints);
  }
  std::memcpy(out_sums, &sums, sizeof sums);
}

KM_MMA_INLINE void power_of_two(const int32_t* exponents, Doubles* out_power) {
  HalfInts exponent;
  load(&exponent, exponents);
  *out_power = (Doubles)((__builtin_convertvector(exponent, Longs) + 1023) << 52);
}

KM_MMA_INLINE void add_terms(const Step<double>& step, const int32_t* tops, uint32_t first,
                             uint32_t last, int32_t* out_sums) {
  for (uint32_t half = 0; half < kBlockRows; half += kHalf) {
    int32_t exponents[kHalf];
    for (uint32_t j = 0; j < kHalf; ++j) {
      exponents[j] = static_cast<int32_t>(step.rule->fraction_bits) - tops[half + j];
    }
    Doubles scale;
    power_of_two(exponents, &scale);
    HalfInts sums = {};
    for (uint32_t t = first; t < last; ++t) {
      Doubles b;
      load(&b, step.tile->b + step.b(t) + half);
      sums += __builtin_convertvector(b * step.tile->a[step.a + t] * scale, HalfInts);
    }
    std::memcpy(out_sums + half, &sums, sizeof sums);
  }
}

/// Rounds toward zero, to 23 or (`short_result`) 13 fraction bits; overflow becomes infinity.
KM_MMA_INLINE void round_to_f32(bool short_result, Doubles* value) {
  const Longs bits = (Longs)*value, sign = bits & INT64_MIN;
  const auto magnitude = (Doubles)(bits ^ sign);
  const int64_t dropped = short_result ? 39 : 29;
  const auto cut = (Doubles)(bits & -(int64_t{1} << dropped));
  const double unit = short_result ? 0x1p-139 : 0x1p-149, per_unit = 1 / unit;
  const Longs is_small = magnitude < 0x1p-126;
  const Doubles units = is_small ? magnitude * per_unit : Doubles{};
  const Doubles whole = __builtin_convertvector(__builtin_convertvector(units, HalfInts), Doubles);
  const auto small = (Doubles)((Longs)(whole * unit) | sign);
  *value = is_small ? small : cut;
}

/// Rounds to the nearest f16, ties to even.
KM_MMA_INLINE void round_f16_nearest(Doubles* value) {
  const Longs bits = (Longs)*value, sign = bits & INT64_MIN;
  Longs exponent = (bits >> 52 & 2047) - 1023;
  exponent = exponent > -14 ? exponent : Longs{} - 14;
  // Adding this number rounds away the bits below the last one of the result.
  const auto magic = (Doubles)(((exponent + 52 - 10 + 1023) << 52) | (int64_t{1} << 51));
  const Doubles magnitude = (Doubles)(bits ^ sign);
  Doubles rounded = (magnitude + magic) - magic;
  rounded = rounded >= 65536.0 ? Doubles{} + HUGE_VAL : rounded;
  *value = (Doubles)((Longs)rounded | sign);
}

/// The result of a step with a term or accumulator that is infinite or NaN; kFinite if there is
/// none.
template <class Real>
Special special_sum(const Step<Real>& step, float sum, uint32_t column) {
  uint32_t seen = uint32_t{1} << special_of(std::bit_cast<uint32_t>(sum));
  for (uint32_t t = 0; t < step.count; ++t) {
    const uint32_t a = step.a + t, b = step.b(t) + column;
    const int32_t exponents[] = {step.tile->a_exponent[a], step.tile->b_exponent[b]};
    const Real values[] = {step.tile->a[a], step.tile->b[b]};
    bool infinite = false, nan = false, negative = false;
    for (int side = 0; side < 2; ++side) {
      const int32_t kind = exponents[side] <= kSpecial ? kSpecial - exponents[side] : kFinite;
      nan |= kind == kNan || (kind != kFinite && exponents[1 - side] == kZero);
      infinite |= kind != kFinite;
      negative ^= kind == kMinusInfinity || (kind == kFinite && std::signbit(values[side]));
    }
    if (infinite) seen |= uint32_t{1} << (nan ? kNan : negative ? kMinusInfinity : kPlusInfinity);
  }
  const bool plus = seen >> kPlusInfinity & 1, minus = seen >> kMinusInfinity & 1;
  if (seen >> kNan & 1 || (plus && minus)) return kNan;
  return plus ? kPlusInfinity : minus ? kMinusInfinity : kFinite;
}

template <class Real>
__attribute__((noinline)) void replace_special(const Step<Real>& step, const float* before,
                                               float* sums) {
  for (uint32_t j = 0; j < kBlockRows; ++j) {
    const Special special = special_sum(step, before[j], j);
    if (special == kFinite) continue;
    if (special == kNan) sums[j] = std::bit_cast<float>(0x7fffffffu);
    if (special == kPlusInfinity) sums[j] = HUGE_VALF;
    if (special == kMinusInfinity) sums[j] = -HUGE_VALF;
  }
}

template <class Real>
KM_MMA_INLINE void run_step(const Step<Real>& step, float* sums) {
  float before[kBlockRows], finite[kBlockRows];
  bool special = step.tile->special;
  for (uint32_t j = 0; j < kBlockRows; ++j) {
    before[j] = finite[j] = sums[j];
    if (std::isfinite(before[j])) continue;
    special = true;
    finite[j] = 0;
  }
  int32_t tops[kBlockRows], terms[kBlockRows], down[kBlockRows], up[kBlockRows];
  find_top(step, finite, tops);
  for (uint32_t j = 0; j < kBlockRows; ++j) {
    up[j] = static_cast<int32_t>(step.rule->fraction_bits) - tops[j];
    down[j] = -up[j];
  }
  Doubles totals[2], power;
  for (uint32_t h = 0; h < 2; ++h) {
    HalfFloats c;
    load(&c, finite + h * kHalf);
    power_of_two(up + h * kHalf, &power);
    const HalfInts cut =
        __builtin_convertvector(__builtin_convertvector(c, Doubles) * power, HalfInts);
    totals[h] = __builtin_convertvector(cut, Doubles);
  }
  for (uint32_t first = 0; first < step.count; first += kTermsAtOnce) {
    add_terms(step, tops, first, std::min(first + kTermsAtOnce, step.count), terms);
    for (uint32_t h = 0; h < 2; ++h) {
      HalfInts part;
      load(&part, terms + h * kHalf);
      totals[h] += __builtin_convertvector(part, Doubles);
    }
  }
  for (uint32_t h = 0; h < 2; ++h) {
    power_of_two(down + h * kHalf, &power);
    totals[h] *= power;
    if (step.half_sums) {
      round_f16_nearest(&totals[h]);
    } else {
      round_to_f32(step.rule->short_result, &totals[h]);
    }
    const HalfFloats result = __builtin_convertvector(totals[h], HalfFloats);
    std::memcpy(sums + h * kHalf, &result, sizeof result);
  }
  if (special) replace_special(step, before, sums);
}

template <class Real>
KM_MMA_INLINE void sum_up(const MmaForm& form, const MmaRule& rule, RealTile<Real>* tile) {
  const uint32_t stored = form.stored_k();
  const uint32_t most = rule.step_bytes * 8 / element_bits(form.a);
  const bool half_sums = form.c == MmaType::f16 && form.d == MmaType::f16;
  for (uint32_t i = 0; i < form.m; ++i) {
    for (uint32_t j = 0; j < form.n; j += kBlockRows) {
      for (uint32_t t = 0; t < stored; t += most) {
        const Step<Real> step{
            tile,   &rule, i * stored + t, tile->columns.row(i) + t, std::min(most, stored - t),
            form.n, j,     half_sums};
        run_step(step, tile->sums + i * form.n + j);
      }
    }
  }
}

template <class Real>
KM_MMA_INLINE void multiply(const MmaForm& form, const MmaRule& rule, const Registers& registers,
                            RealTile<Real>* tile) {
  load_multiplicands(form, registers, tile);
  sum_up(form, rule, tile);
}

template <class Real>
KM_MMA_WIDE void multiply_wide(const MmaForm& form, const MmaRule& rule, const Registers& registers,
                               RealTile<Real>* tile) {
  multiply(form, rule, registers, tile);
}
template <class Real>
void multiply_narrow(const MmaForm& form, const MmaRule& rule, const Registers& registers,
                     RealTile<Real>* tile) {
  multiply(form, rule, registers, tile);
}

template <class Real>
void multiply_as(const MmaForm& form, const MmaRule& rule, const uint32_t* operands,
                 uint32_t* results) {
  const Registers registers = registers_of(form, operands);
  RealTile<Real> tile;
  find_columns(form, registers.metadata, &tile.columns);
  load_c(form, registers.c, tile.sums);
  if (form.wide) {
    multiply_wide(form, rule, registers, &tile);
  } else {
    multiply_narrow(form, rule, registers, &tile);
  }
  store_sums(form, tile.sums, results);
}

template <class Real>
KM_MMA_WIDE void sum_reals_wide(const MmaForm& form, const MmaRule& rule, RealTile<Real>* tile) {
  sum_up(form, rule, tile);
}

}  // namespace

void sum_reals(const MmaForm& form, const MmaRule& rule, RealTile<float>* tile) {
  if (form.wide) return sum_reals_wide(form, rule, tile);
  sum_up(form, rule, tile);
}

void sum_reals(const MmaForm& form, const MmaRule& rule, RealTile<double>* tile) {
  if (form.wide) return sum_reals_wide(form, rule, tile);
  sum_up(form, rule, tile);
}

void store_sums(const MmaForm& form, const float* sums, uint32_t* results) {
  const bool packed = form.d == MmaType::f16;
  const uint32_t pairs = uint32_t{form.m} * form.n / 64;
  for (uint32_t pair = 0; pair < pairs; ++pair) {
    const MmaBlock at = block_of_c(form.m, pair);
    for (uint32_t lane = 0; lane < kWarpLanes; ++lane) {
      const float* from = sums + (at.row + lane / 4) * form.n + at.column + 2 * (lane % 4);
      if (packed) {
        results[pair * kWarpLanes + lane] = f16_nearest(from[0]) | f16_nearest(from[1]) << 16;
      } else {
        results[2 * pair * kWarpLanes + lane] = std::bit_cast<uint32_t>(from[0]);
        results[(2 * pair + 1) * kWarpLanes + lane] = std::bit_cast<uint32_t>(from[1]);
      }
    }
  }
}

uint32_t f16_nearest(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value), sign = bits >> 16 & 0x8000;
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return 0x7fff;
  if (magnitude >= 0x477ff000) return sign | 0x7c00;
  if (magnitude < 0x38800000) {  // subnormal: the addition rounds
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000);
  }
  const uint32_t rounded = magnitude + 0xfff + (magnitude >> 13 & 1);
  return sign | ((rounded - 0x38000000) >> 13);
}

void multiply_reals(const MmaForm& form, const MmaRule& rule, const uint32_t* operands,
                    uint32_t* results) {
  if (form.quads) return multiply_quads(form, rule, operands, results);
  if (rule.fast) return multiply_fast(form, operands, results);
  if (form.a == MmaType::bf16 || form.a == MmaType::tf32) {
    return multiply_as<double>(form, rule, operands, results);
  }
  multiply_as<float>(form, rule, operands, results);
}

}  // namespace km::simt::tensor
