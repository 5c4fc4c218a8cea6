#include "harness/soft_float.h"

#include <cmath>
#include <limits>
#include <type_traits>

namespace km::kernels {
namespace {

constexpr mpfr_prec_t kWide = 256;

/// An mpfr_t with a lifetime.
struct Number {
  mpfr_t value;
  explicit Number(mpfr_prec_t precision = kWide) { mpfr_init2(value, precision); }
  Number(const Number&) = delete;
  Number& operator=(const Number&) = delete;
  ~Number() { mpfr_clear(value); }
};

mpfr_rnd_t mode_of(Round round) {
  switch (round) {
    case Round::rz:
      return MPFR_RNDZ;
    case Round::rm:
      return MPFR_RNDD;
    case Round::rp:
      return MPFR_RNDU;
    case Round::rn:
      break;
  }
  return MPFR_RNDN;
}

template <class F>
constexpr mpfr_prec_t kPrecision = std::is_same_v<F, float> ? 24 : 53;

/// Limits MPFR's exponents while it lives.
class ExponentRange {
 public:
  ExponentRange(mpfr_exp_t emin, mpfr_exp_t emax) : emin_(mpfr_get_emin()), emax_(mpfr_get_emax()) {
    mpfr_set_emin(emin);
    mpfr_set_emax(emax);
  }
  ~ExponentRange() {
    mpfr_set_emin(emin_);
    mpfr_set_emax(emax_);
  }
  ExponentRange(const ExponentRange&) = delete;
  ExponentRange& operator=(const ExponentRange&) = delete;

 private:
  mpfr_exp_t emin_, emax_;
};

/// To the exponents of F.
template <class F>
ExponentRange format_range() {
  constexpr bool kSingle = std::is_same_v<F, float>;
  return ExponentRange(kSingle ? -148 : -1073, kSingle ? 128 : 1024);
}

/// Far beyond the exponents of double but small enough for MPFR: at the ends of its full range some
/// functions ask for absurd precisions.
ExponentRange wide_range() { return ExponentRange(-(1 << 20), 1 << 20); }

/// Runs `operation(result, mode)` (which returns MPFR's ternary value) with F's format.
template <class F, class Operation>
F rounded(Round round, const Operation& operation) {
  Number result(kPrecision<F>);
  const mpfr_rnd_t mode = mode_of(round);
  const ExponentRange range = format_range<F>();
  // mpfr_set keeps exponents that are out of range: hence the check.
  const int ternary = mpfr_check_range(result.value, operation(result.value, mode), mode);
  mpfr_subnormalize(result.value, ternary, mode);
  return static_cast<F>(mpfr_get_d(result.value, MPFR_RNDN));
}

template <class F>
void load(Number& number, F value) {
  mpfr_set_d(number.value, static_cast<double>(value), MPFR_RNDN);
}

template <class F, class Operation>
F binary(F a, F b, Round round, const Operation& operation) {
  Number x, y;
  load(x, a);
  load(y, b);
  return rounded<F>(
      round, [&](mpfr_t out, mpfr_rnd_t mode) { return operation(out, x.value, y.value, mode); });
}

/// The exponent of F's ulp at |exact|: values below the normal range share the smallest ulp.
template <class F>
long ulp_exponent(const mpfr_t exact) {
  const long least = std::is_same_v<F, float> ? -149 : -1074;
  if (mpfr_zero_p(exact)) return least;
  const long exponent = mpfr_get_exp(exact) - kPrecision<F>;
  return exponent < least ? least : exponent;
}

template <class F>
double error_in_ulps(F got, const mpfr_t exact) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  if (mpfr_nan_p(exact) || std::isnan(got)) {
    return mpfr_nan_p(exact) && std::isnan(got) ? 0 : kInfinite;
  }
  const F nearest = rounded<F>(
      Round::rn, [&](mpfr_t out, mpfr_rnd_t mode) { return mpfr_set(out, exact, mode); });
  if (got == nearest) return 0;
  if (std::isinf(got) || mpfr_inf_p(exact)) return kInfinite;
  Number error;
  mpfr_set_d(error.value, static_cast<double>(got), MPFR_RNDN);
  mpfr_sub(error.value, error.value, exact, MPFR_RNDN);
  mpfr_mul_2si(error.value, error.value, -ulp_exponent<F>(exact), MPFR_RNDN);
  return std::fabs(mpfr_get_d(error.value, MPFR_RNDN));
}

template <class F>
double unary_error(F got, F a, const Exact& exact) {
  const ExponentRange range = wide_range();
  Number in, out;
  load(in, a);
  exact(out.value, in.value);
  return error_in_ulps(got, out.value);
}

template <class F>
double binary_error(F got, F a, F b, const Exact2& exact) {
  const ExponentRange range = wide_range();
  Number x, y, out;
  load(x, a);
  load(y, b);
  exact(out.value, x.value, y.value);
  return error_in_ulps(got, out.value);
}

}  // namespace

template <class F>
F soft_add(F a, F b, Round round) {
  return binary(a, b, round, [](auto... args) { return mpfr_add(args...); });
}

template <class F>
F soft_sub(F a, F b, Round round) {
  return binary(a, b, round, [](auto... args) { return mpfr_sub(args...); });
}

template <class F>
F soft_mul(F a, F b, Round round) {
  return binary(a, b, round, [](auto... args) { return mpfr_mul(args...); });
}

template <class F>
F soft_div(F a, F b, Round round) {
  return binary(a, b, round, [](auto... args) { return mpfr_div(args...); });
}

template <class F>
F soft_fma(F a, F b, F c, Round round) {
  Number x, y, z;
  load(x, a);
  load(y, b);
  load(z, c);
  return rounded<F>(round, [&](mpfr_t out, mpfr_rnd_t mode) {
    return mpfr_fma(out, x.value, y.value, z.value, mode);
  });
}

template <class F>
F soft_sqrt(F a, Round round) {
  Number x;
  load(x, a);
  return rounded<F>(round,
                    [&](mpfr_t out, mpfr_rnd_t mode) { return mpfr_sqrt(out, x.value, mode); });
}

float soft_narrow(double a, Round round) {
  Number x;
  load(x, a);
  return rounded<float>(round,
                        [&](mpfr_t out, mpfr_rnd_t mode) { return mpfr_set(out, x.value, mode); });
}

template <class F>
F soft_from_s64(int64_t a, Round round) {
  return rounded<F>(round, [&](mpfr_t out, mpfr_rnd_t mode) { return mpfr_set_sj(out, a, mode); });
}

template <class F>
F soft_from_u64(uint64_t a, Round round) {
  return rounded<F>(round, [&](mpfr_t out, mpfr_rnd_t mode) { return mpfr_set_uj(out, a, mode); });
}

double soft_round_to_integral(double a, Round round) {
  if (std::isnan(a)) return std::numeric_limits<double>::quiet_NaN();
  Number x;
  load(x, a);
  mpfr_rint(x.value, x.value, mode_of(round));
  return std::copysign(mpfr_get_d(x.value, MPFR_RNDN), a);
}

uint64_t soft_to_integer(double a, Round round, bool is_signed, int bits, uint64_t nan_result) {
  if (std::isnan(a)) return nan_result;
  Number x;
  load(x, soft_round_to_integral(a, round));
  const uint64_t ones = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  if (!is_signed) {
    if (mpfr_sgn(x.value) < 0) return 0;
    return mpfr_cmp_ui(x.value, ones) > 0 ? ones : mpfr_get_uj(x.value, MPFR_RNDZ);
  }
  const int64_t most = static_cast<int64_t>(ones >> 1);
  const int64_t least = -most - 1;
  if (mpfr_cmp_si(x.value, most) > 0) return static_cast<uint64_t>(most);
  if (mpfr_cmp_si(x.value, least) < 0) return static_cast<uint64_t>(least);
  return static_cast<uint64_t>(mpfr_get_sj(x.value, MPFR_RNDZ));
}

float flush(float a) { return std::fpclassify(a) == FP_SUBNORMAL ? std::copysign(0.0f, a) : a; }

double ulp_error(float got, float a, const Exact& exact) { return unary_error(got, a, exact); }
double ulp_error(double got, double a, const Exact& exact) { return unary_error(got, a, exact); }
double ulp_error(float got, float a, float b, const Exact2& exact) {
  return binary_error(got, a, b, exact);
}
double ulp_error(double got, double a, double b, const Exact2& exact) {
  return binary_error(got, a, b, exact);
}

double absolute_error(float got, float a, const Exact& exact) {
  Number in, out, error;
  load(in, a);
  exact(out.value, in.value);
  mpfr_set_flt(error.value, got, MPFR_RNDN);
  mpfr_sub(error.value, error.value, out.value, MPFR_RNDN);
  return std::fabs(mpfr_get_d(error.value, MPFR_RNDN));
}

double relative_error(float got, float a, const Exact& exact) {
  Number in, out, error;
  load(in, a);
  exact(out.value, in.value);
  mpfr_set_flt(error.value, got, MPFR_RNDN);
  mpfr_sub(error.value, error.value, out.value, MPFR_RNDN);
  mpfr_div(error.value, error.value, out.value, MPFR_RNDN);
  return std::fabs(mpfr_get_d(error.value, MPFR_RNDN));
}

template float soft_add(float, float, Round);
template double soft_add(double, double, Round);
template float soft_sub(float, float, Round);
template double soft_sub(double, double, Round);
template float soft_mul(float, float, Round);
template double soft_mul(double, double, Round);
template float soft_div(float, float, Round);
template double soft_div(double, double, Round);
template float soft_fma(float, float, float, Round);
template double soft_fma(double, double, double, Round);
template float soft_sqrt(float, Round);
template double soft_sqrt(double, Round);
template float soft_from_s64(int64_t, Round);
template double soft_from_s64(int64_t, Round);
template float soft_from_u64(uint64_t, Round);
template double soft_from_u64(uint64_t, Round);

}  // namespace km::kernels
