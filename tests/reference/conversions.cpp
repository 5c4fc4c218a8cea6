#include "reference/conversions.h"

#include <algorithm>
#include <bit>

#include "reference/values.h"

namespace km::reference {
namespace {

/// significand * 2^exponent: 24 bits of an f32, or an integer and 2^0.
struct Small {
  bool is_nan = false, is_infinite = false, negative = false;
  int exponent = 0;
  uint64_t significand = 0;
};

/// What a conversion does, the same for all of its operands.
struct Plan {
  bool from_float = false, from_signed = false;
  bool integral = false, ftz_source = false, ftz_result = false;
  bool sat = false, finite_only = false, relu = false;
  unsigned result_bits = 0, register_bits = 0;
  bool result_signed = false;
  uint64_t integer_of_nan = 0;
  const Instruction* passes_nan = nullptr;  // set if passed_nan() gives the NaNs
  Format format;                            // of a result in floating point,
  uint64_t largest = 0;                     // its largest finite magnitude,
  uint64_t one = 0;                         // and 1
};

/// value / 2^shift, for a shift of at least 1.
template <Round kRound>
uint64_t rounded(uint64_t value, int shift, bool negative) {
  if (shift > 64) return rounds_up(kRound, negative, false, false, value != 0) ? 1 : 0;
  const uint64_t halves = value >> (shift - 1);
  const bool rest = halves << (shift - 1) != value;
  const uint64_t whole = halves >> 1;
  return whole + (rounds_up(kRound, negative, whole & 1, halves & 1, rest) ? 1 : 0);
}

inline Small decode_f32(uint32_t bits, bool ftz) {
  Small number;
  number.negative = bits >> 31 != 0;
  const uint32_t field = bits >> 23 & 0xff, fraction = bits & 0x7fffff;
  if (field == 0xff) {
    number.is_nan = fraction != 0;
    number.is_infinite = fraction == 0;
    return number;
  }
  number.exponent = static_cast<int>(std::max(field, 1u)) - 150;
  if (field != 0) number.significand = fraction | 0x800000;
  if (field == 0 && !ftz) number.significand = fraction;
  return number;
}

inline Small decode_integer(uint32_t bits, bool is_signed) {
  Small number;
  number.negative = is_signed && bits >> 31 != 0;
  number.significand = number.negative ? uint32_t{0} - bits : bits;
  return number;
}

template <Round kRound>
uint64_t magnitude_of(const Plan& plan, const Small& number) {
  const uint64_t infinity = plan.finite_only ? plan.largest : plan.largest + 1;
  if (number.is_infinite) return infinity;
  if (number.significand == 0) return 0;
  const int up = std::countl_zero(number.significand);
  const uint64_t significand = number.significand << up;
  const int exponent = number.exponent - up, least = plan.format.least_exponent();
  const int fraction_bits = static_cast<int>(plan.format.fraction_bits);
  int last = std::max(least, exponent + 63 - fraction_bits);
  uint64_t kept = rounded<kRound>(significand, last - exponent, number.negative);
  if (kept >> (fraction_bits + 1) != 0) {
    kept >>= 1;
    ++last;
  }
  const auto field = static_cast<uint64_t>(last - least);
  const uint64_t magnitude = (field << fraction_bits) + kept;
  if (magnitude <= plan.largest) return magnitude;
  const bool toward_zero = kRound == Round::rz || (kRound == Round::rm && !number.negative) ||
                           (kRound == Round::rp && number.negative);
  return toward_zero ? plan.largest : infinity;
}

template <Round kRound>
uint64_t to_float(const Plan& plan, Small number) {
  if (number.is_nan) return plan.sat ? 0 : plan.format.canonical_nan;
  if (plan.integral && !number.is_infinite && number.exponent < 0) {
    number.significand = rounded<kRound>(number.significand, -number.exponent, number.negative);
    number.exponent = 0;
  }
  if (plan.relu && number.negative) return 0;
  uint64_t magnitude = magnitude_of<kRound>(plan, number);
  if (plan.sat) return number.negative ? 0 : std::min(magnitude, plan.one);
  const bool subnormal = magnitude >> plan.format.fraction_bits == 0;
  if (plan.ftz_result && subnormal) magnitude = 0;
  const uint64_t sign = uint64_t{number.negative} << (plan.format.width - 1);
  return sign | magnitude << plan.format.low_zeros;
}

template <Round kRound>
uint64_t to_integer(const Plan& plan, const Small& number) {
  if (number.is_nan) return plan.integer_of_nan;
  const unsigned bits = plan.result_bits - (plan.result_signed ? 1 : 0);
  uint64_t most = ~uint64_t{0} >> (64 - bits);
  if (number.negative) most = plan.result_signed ? most + 1 : 0;
  uint64_t magnitude = most;
  if (number.exponent < 0) {
    magnitude = rounded<kRound>(number.significand, -number.exponent, number.negative);
  } else if (!number.is_infinite && number.exponent <= 40) {  // 24 bits: fits
    magnitude = number.significand << number.exponent;
  }
  magnitude = std::min(magnitude, most);
  return number.negative ? uint64_t{0} - magnitude : magnitude;
}

/// As fill_register() does.
uint64_t fill(const Plan& plan, uint64_t value) {
  const unsigned up = 64 - plan.result_bits;
  const uint64_t filled = plan.result_signed
                              ? static_cast<uint64_t>(static_cast<int64_t>(value << up) >> up)
                              : value << up >> up;
  return filled & ~uint64_t{0} >> (64 - plan.register_bits);
}

template <Round kRound, bool kFromFloat, bool kToFloat>
void run(const Plan& shared, std::span<const uint64_t> sources, std::span<uint64_t> results) {
  const Plan plan = shared;  // which no result can overwrite: it stays in registers
  for (size_t i = 0; i < sources.size(); ++i) {
    const auto bits = static_cast<uint32_t>(sources[i]);
    const Small number =
        kFromFloat ? decode_f32(bits, plan.ftz_source) : decode_integer(bits, plan.from_signed);
    if (kFromFloat && kToFloat && number.is_nan && plan.passes_nan != nullptr) {
      results[i] = fill(plan, *passed_nan(*plan.passes_nan, bits));
      continue;
    }
    results[i] =
        fill(plan, kToFloat ? to_float<kRound>(plan, number) : to_integer<kRound>(plan, number));
  }
}

using Run = void (*)(const Plan&, std::span<const uint64_t>, std::span<uint64_t>);

template <bool kFromFloat, bool kToFloat>
Run run_of(Round round) {
  switch (round) {
    case Round::rn:
      return run<Round::rn, kFromFloat, kToFloat>;
    case Round::rna:
      return run<Round::rna, kFromFloat, kToFloat>;
    case Round::rz:
      return run<Round::rz, kFromFloat, kToFloat>;
    case Round::rm:
      return run<Round::rm, kFromFloat, kToFloat>;
    case Round::rp:
      return run<Round::rp, kFromFloat, kToFloat>;
  }
  return nullptr;
}

Plan plan_of(const Instruction& in, Type to, Type from, unsigned register_bits) {
  Plan plan;
  plan.from_float = from == Type::f32;
  plan.from_signed = from == Type::s32;
  plan.integral = rounds_to_integral(in);
  plan.ftz_source = in.has(Modifier::ftz) && plan.from_float;
  plan.ftz_result = in.has(Modifier::ftz) && to == Type::f32;
  plan.sat = in.has(Modifier::sat);
  plan.finite_only = in.has(Modifier::satfinite);
  plan.relu = in.has(Modifier::relu);
  plan.result_bits = ptx::size_bits(to);
  plan.register_bits = register_bits;
  plan.result_signed = ptx::is_signed(to);
  plan.integer_of_nan = static_cast<uint64_t>(integer_of_nan(to, from));
  if (plan.from_float && passed_nan(in, kF32.canonical_nan)) plan.passes_nan = &in;
  if (const Format* const format = format_of(to)) {
    plan.format = *format;
    plan.largest = largest_finite(*format);
    plan.one = static_cast<uint64_t>(format->bias()) << format->fraction_bits;
  }
  return plan;
}

}  // namespace

bool convert_all(const Instruction& in, unsigned register_bits, std::span<const uint64_t> sources,
                 std::span<uint64_t> results) {
  if (in.opcode != Opcode::cvt || in.type_count != 2 || in.has(Modifier::rs)) return false;
  const Type to = in.type(0), from = in.type(1);
  const bool to_integer = is_plain_integer(to);
  if (from != Type::f32 && (to_integer || (from != Type::s32 && from != Type::u32))) return false;
  if (is_packed(to) || (!to_integer && !format_of(to)) || in.has(Modifier::pack)) return false;
  const Plan plan = plan_of(in, to, from, register_bits);
  const Round round = round_of(in);
  Run run = run_of<true, true>(round);
  if (to_integer) run = run_of<true, false>(round);
  if (!plan.from_float) run = run_of<false, true>(round);
  run(plan, sources, results);
  return true;
}

}  // namespace km::reference
