#include "unit/reference/mpfr_format.h"

#include <cstdlib>

namespace km::reference {
namespace {

constexpr mpfr_prec_t kExact = 64;

struct Number3 {
  mpfr_t values[3];
  Number3() {
    for (mpfr_t& value : values) mpfr_init2(value, kExact);
  }
  ~Number3() {
    for (mpfr_t& value : values) mpfr_clear(value);
  }
  Number3(const Number3&) = delete;
  Number3& operator=(const Number3&) = delete;
};

mpfr_rnd_t mode_of(Round round) {
  switch (round) {
    case Round::rz:
      return MPFR_RNDZ;
    case Round::rm:
      return MPFR_RNDD;
    case Round::rp:
      return MPFR_RNDU;
    default:
      return MPFR_RNDN;
  }
}

/// Reads an encoding field by field, without the code under test.
void load(mpfr_t out, const Format& format, uint64_t bits) {
  bits >>= format.low_zeros;
  const unsigned width = format.width - format.low_zeros;
  const bool negative = (bits >> (width - 1) & 1) != 0;
  const uint64_t exponent = bits >> format.fraction_bits & ((1u << format.exponent_bits) - 1);
  const uint64_t fraction = bits & ((uint64_t{1} << format.fraction_bits) - 1);
  const bool top = exponent == (1u << format.exponent_bits) - 1;
  if (format.has_infinity && top) {
    fraction ? mpfr_set_nan(out) : mpfr_set_inf(out, negative ? -1 : 1);
    return;
  }
  if (!format.has_infinity && top && fraction == (uint64_t{1} << format.fraction_bits) - 1) {
    return mpfr_set_nan(out);
  }
  const uint64_t significand = exponent ? fraction | uint64_t{1} << format.fraction_bits : fraction;
  const long weight = static_cast<long>(exponent ? exponent : 1) - format.bias() -
                      static_cast<long>(format.fraction_bits);
  mpfr_set_ui_2exp(out, significand, weight, MPFR_RNDN);
  mpfr_setsign(out, out, negative, MPFR_RNDN);
}

/// Writes a number that the format holds.
uint64_t store(const Format& format, const mpfr_t number) {
  const uint64_t sign =
      mpfr_signbit(number) ? uint64_t{1} << (format.width - format.low_zeros - 1) : 0;
  const uint64_t ones = (uint64_t{1} << format.exponent_bits) - 1;
  if (mpfr_nan_p(number)) return format.canonical_nan;
  if (mpfr_inf_p(number)) return (sign | ones << format.fraction_bits) << format.low_zeros;
  if (mpfr_zero_p(number)) return sign << format.low_zeros;
  mpfr_t scaled;
  mpfr_init2(scaled, kExact);
  mpfr_abs(scaled, number, MPFR_RNDN);
  const long exponent = mpfr_get_exp(scaled) - 1 + format.bias();
  const long field = exponent > 0 ? exponent : 0;
  const long last = (field ? field : 1) - format.bias() - static_cast<long>(format.fraction_bits);
  mpfr_mul_2si(scaled, scaled, -last, MPFR_RNDN);
  const uint64_t significand = mpfr_get_ui(scaled, MPFR_RNDN);
  mpfr_clear(scaled);
  const uint64_t fraction = significand & ((uint64_t{1} << format.fraction_bits) - 1);
  return (sign | static_cast<uint64_t>(field) << format.fraction_bits | fraction)
         << format.low_zeros;
}

}  // namespace

uint64_t mpfr_result(const Format& from, const Format& to, Round round, const uint64_t* operands,
                     unsigned count, const MpfrOperation& operation) {
  Number3 in;
  for (unsigned i = 0; i < count; ++i) load(in.values[i], from, operands[i]);
  const mpfr_exp_t least = mpfr_get_emin(), most = mpfr_get_emax();
  mpfr_t out;
  mpfr_init2(out, to.fraction_bits + 1);
  mpfr_set_emin(to.least_exponent() + 1);
  mpfr_set_emax(to.bias() + 1);
  const mpfr_rnd_t mode = mode_of(round);
  int ternary = operation(out, in.values, mode);
  ternary = mpfr_check_range(out, ternary, mode);
  mpfr_subnormalize(out, ternary, mode);
  mpfr_set_emin(least);
  mpfr_set_emax(most);
  const uint64_t result = store(to, out);
  mpfr_clear(out);
  return result;
}

bool is_long_run() { return std::getenv("KM_TEST_LONG") != nullptr; }

uint64_t random_count() { return is_long_run() ? 1000000 : 10000; }

}  // namespace km::reference
