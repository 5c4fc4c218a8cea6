// Reference arithmetic by MPFR: correctly rounded in each of PTX's modes, independent of the host's
// floating-point unit, and error bounds of approximate functions in units in the last place.
#pragma once

#include <cstdint>
#include <functional>

#define MPFR_USE_INTMAX_T
#include <mpfr.h>

namespace km::kernels {

enum class Round { rn, rz, rm, rp };

/// F is float or double. NaN results are the canonical quiet NaN of the host.
template <class F>
F soft_add(F a, F b, Round round);
template <class F>
F soft_sub(F a, F b, Round round);
template <class F>
F soft_mul(F a, F b, Round round);
template <class F>
F soft_div(F a, F b, Round round);
template <class F>
F soft_fma(F a, F b, F c, Round round);
template <class F>
F soft_sqrt(F a, Round round);

/// f64 to f32, and f32 to f32 or f64 to f64 as they are.
float soft_narrow(double a, Round round);
/// An integer to a floating-point number.
template <class F>
F soft_from_s64(int64_t a, Round round);
template <class F>
F soft_from_u64(uint64_t a, Round round);

/// cvt.{rni,rzi,rmi,rpi} to an integer of `bits` bits: saturates; NaN gives `nan_result`.
/// The result is sign- or zero-extended to 64 bits.
uint64_t soft_to_integer(double a, Round round, bool is_signed, int bits, uint64_t nan_result);
/// cvt.{rni,rzi,rmi,rpi}.f64.f64 (and .f32.f32: exact in double).
double soft_round_to_integral(double a, Round round);

/// Subnormals become zeros of the same sign, as .ftz does it to inputs and results.
float flush(float a);

/// A function of one argument at high precision: out = f(in).
using Exact = std::function<void(mpfr_t out, const mpfr_t in)>;
using Exact2 = std::function<void(mpfr_t out, const mpfr_t in1, const mpfr_t in2)>;

/// Distance of `got` from the exact value in ulps of F at the exact value; 0 where both are the
/// same infinity, zero or NaN, infinite where only one is.
double ulp_error(float got, float a, const Exact& exact);
double ulp_error(double got, double a, const Exact& exact);
double ulp_error(float got, float a, float b, const Exact2& exact);
double ulp_error(double got, double a, double b, const Exact2& exact);
/// |got - exact|, and the same divided by |exact|.
double absolute_error(float got, float a, const Exact& exact);
double relative_error(float got, float a, const Exact& exact);

}  // namespace km::kernels
