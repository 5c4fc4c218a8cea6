// The rows of the table that are not sweeps over one f32.
#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "cases.h"
#include "ptx/approx.h"
#include "reference/inputs.h"
#include "reference/values.h"
#include "reference/variants.h"
#include "support/native_ops.h"

namespace km::reference {
namespace {

using support::NativeOps;

constexpr uint64_t kSeed = 1;

/// The value of a 16-bit encoding.
double half_value(const Format& format, uint64_t bits) {
  const Number number = decode(format, bits);
  if (number.is_nan()) return std::nan("");
  if (number.is_infinite()) return number.negative ? -INFINITY : INFINITY;
  const double magnitude =
      std::ldexp(static_cast<double>(static_cast<uint64_t>(number.significand)), number.exponent);
  return number.negative ? -magnitude : magnitude;
}

double largest(const Format& format) {
  const uint64_t infinity = ((uint64_t{1} << format.exponent_bits) - 1) << format.fraction_bits;
  return half_value(format, infinity - 1);
}

struct HalfCase {
  const char* mnemonic;
  Measure measure;
  double bound;
  const char* bound_text;
  double (*exact)(double);
};

/// All 2^16 inputs; results that the type cannot hold, or holds as subnormals only, are left out.
Row half_row(const HalfCase& wanted, const Variant& variant) {
  const Instruction& in = variant.instruction();
  const Format& format = *format_of(in.type());
  const double least = std::ldexp(1.0, 1 - format.bias());
  double worst = 0;
  for (uint64_t bits = 0; bits < 0x10000; ++bits) {
    const double x = half_value(format, bits), exact = wanted.exact(x);
    const Bits source[] = {bits};
    const Outcome outcome = find_handler(in)({in, source, false});
    const double got = half_value(format, static_cast<uint64_t>(outcome.d));
    const bool too_large = std::isinf(got) && exact > largest(format);
    if (std::isnan(x) || too_large || got == exact) continue;
    if (wanted.measure == Measure::relative && std::fabs(exact) < least) continue;
    const double distance = std::fabs(got - exact);
    worst = std::max(worst, wanted.measure == Measure::relative ? distance / exact : distance);
  }
  return {wanted.mnemonic, "all", error_text(wanted.measure, worst), wanted.bound_text,
          worst <= wanted.bound};
}

double uniform_double(Random& random, int low, int high) {
  const int exponent = low + static_cast<int>(random.bits() % static_cast<uint64_t>(high - low));
  const double fraction = 1 + static_cast<double>(random.bits() >> 12) * 0x1p-52;
  return std::ldexp(fraction, exponent);
}

using Coarse = ptx::Approx64<NativeOps>;

Row f64_row(const char* name, const char* bound, uint64_t count, double (*value)(Coarse&, double),
            long double (*exact)(long double)) {
  NativeOps ops;
  Coarse approx(ops);
  Random random(kSeed);
  double worst = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const double x = uniform_double(random, -1000, 1000);
    const long double wanted = exact(x), distance = std::fabs(value(approx, x) - wanted);
    worst = std::max(worst, static_cast<double>(distance / wanted));
  }
  return {name, std::to_string(count) + " random", error_text(Measure::relative, worst), bound,
          true};
}

double mpfr_error(double got, mpfr_t exact) {
  mpfr_t difference;
  mpfr_init2(difference, 120);
  mpfr_sub_d(difference, exact, got, MPFR_RNDN);
  mpfr_div(difference, difference, exact, MPFR_RNDN);
  const double error = std::fabs(mpfr_get_d(difference, MPFR_RNDN));
  mpfr_clear(difference);
  return error;
}

}  // namespace

std::vector<Row> half_rows() {
  const auto exp2 = static_cast<double (*)(double)>(std::exp2);
  const auto tanh = static_cast<double (*)(double)>(std::tanh);
  const auto relative = Measure::relative, absolute = Measure::absolute;
  const HalfCase wanted[] = {
      {"ex2.approx.f16", relative, std::exp2(-9.9), "2^-9.9 relative", exp2},
      {"ex2.approx.ftz.bf16", relative, 0x1p-7, "2^-7 relative", exp2},
      {"tanh.approx.f16", absolute, std::exp2(-10.987), "2^-10.987 absolute", tanh},
      {"tanh.approx.bf16", absolute, 0x1p-8, "2^-8 absolute", tanh},
  };
  std::map<std::string, Variant> variants;
  for (Variant& variant : all_variants()) {
    std::string name = variant.mnemonic;
    variants.emplace(std::move(name), std::move(variant));
  }
  std::vector<Row> rows;
  for (const HalfCase& half : wanted) rows.push_back(half_row(half, variants.at(half.mnemonic)));
  return rows;
}

std::vector<Row> f64_rows(uint64_t count) {
  const auto reciprocal = [](long double x) { return 1 / x; };
  const auto reciprocal_root = [](long double x) { return 1 / std::sqrt(x); };
  return {
      f64_row(
          "rcp.approx.ftz.f64", "none given", count,
          [](Coarse& a, double x) { return a.rcp_ftz(x); }, reciprocal),
      f64_row(
          "rsqrt.approx.ftz.f64", "none given", count,
          [](Coarse& a, double x) { return a.rsqrt_ftz(x); }, reciprocal_root),
      f64_row(
          "rsqrt.approx.f64", "none given", count, [](Coarse& a, double x) { return a.rsqrt(x); },
          reciprocal_root),
  };
}

std::vector<Row> division_rows(uint64_t count) {
  NativeOps ops;
  ptx::Approx<NativeOps> approx(ops);
  Random random(kSeed);
  double plain = 0, full = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t word = random.bits();
    const auto a = std::bit_cast<float>(static_cast<uint32_t>(word));
    const auto b = std::bit_cast<float>(static_cast<uint32_t>(word >> 32));
    const double exact = static_cast<double>(a) / b;
    if (!std::isfinite(a) || !std::isfinite(b) || b == 0 || std::fabs(exact) > 0x1.fffffep127) {
      continue;
    }
    full = std::max(full, error_of(Measure::ulp, approx.div_full(a, b, false), exact));
    if (std::fabs(b) < 0x1p-126f || std::fabs(b) > 0x1p126f) continue;
    plain = std::max(plain, error_of(Measure::ulp, approx.div(a, b, false), exact));
  }
  const std::string inputs = std::to_string(count) + " random";
  return {{"div.approx.f32", inputs + ", 2^-126 <= \\|b\\| <= 2^126",
           error_text(Measure::ulp, plain), "2 ulp", plain <= 2},
          {"div.full.f32", inputs, error_text(Measure::ulp, full), "2 ulp", full <= 2}};
}

double host_error(uint64_t count) {
  using Exact = int (*)(mpfr_t, const mpfr_t, mpfr_rnd_t);
  struct Function {
    double (*host)(double);
    Exact exact;
    int low, high;  // exponents
  };
  const Function functions[] = {
      {std::sin, mpfr_sin, -20, 8},      {std::cos, mpfr_cos, -20, 8},
      {std::log2, mpfr_log2, -126, 127}, {std::exp2, mpfr_exp2, -20, 6},
      {std::tanh, mpfr_tanh, -20, 4},
  };
  Random random(kSeed);
  double worst = 0;
  mpfr_t x, exact;
  mpfr_inits2(120, x, exact, nullptr);
  for (const Function& function : functions) {
    for (uint64_t i = 0; i < count; ++i) {
      const auto point = static_cast<float>(uniform_double(random, function.low, function.high));
      mpfr_set_flt(x, point, MPFR_RNDN);
      function.exact(exact, x, MPFR_RNDN);
      worst = std::max(worst, mpfr_error(function.host(static_cast<double>(point)), exact));
    }
  }
  mpfr_clears(x, exact, nullptr);
  return worst;
}

}  // namespace km::reference
