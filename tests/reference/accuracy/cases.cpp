#include "cases.h"

#include <cmath>
#include <cstdio>
#include <limits>

#include "ptx/approx.h"
#include "support/native_ops.h"

namespace km::reference {
namespace {

using support::NativeOps;

constexpr double kTurn = 6.283185307179586;  // 2 pi
constexpr double kBeyondF32 = 0x1p128;

NativeOps g_ops;

ptx::Approx<NativeOps> approx() { return ptx::Approx<NativeOps>(g_ops); }

bool any(float x) { return std::isfinite(x) && x != 0; }
bool positive(float x) { return std::isfinite(x) && x > 0; }
bool one_turn(float x) { return std::fabs(static_cast<double>(x)) <= kTurn; }
bool fifty_turns(float x) { return std::fabs(static_cast<double>(x)) <= 50 * kTurn; }
bool near_one(float x) { return x > 0.5f && x < 2.0f; }
bool far_from_one(float x) { return positive(x) && !near_one(x); }

float rcp(float x) { return approx().rcp(x, false); }
float square_root_of(float x) { return approx().sqrt(x, false); }
float rsqrt(float x) { return approx().rsqrt(x, false); }
float sine(float x) { return approx().sin(x, false); }
float cosine(float x) { return approx().cos(x, false); }
float lg2(float x) { return approx().lg2(x, false); }
float ex2(float x) { return approx().ex2(x, false); }
float tangent(float x) { return approx().tanh(x); }

double exact_rcp(double x) { return 1 / x; }
double exact_rsqrt(double x) { return 1 / std::sqrt(x); }

}  // namespace

std::vector<Case> f32_cases() {
  const auto absolute = Measure::absolute, relative = Measure::relative;
  const double bound_20_5 = std::exp2(-20.5), bound_14_7 = std::exp2(-14.7);
  using Function = double (*)(double);
  const auto sin = static_cast<Function>(std::sin), cos = static_cast<Function>(std::cos);
  const auto log2 = static_cast<Function>(std::log2);
  return {
      {"rcp.approx.f32", "all", Measure::ulp, 1, "1 ulp", any, rcp, exact_rcp},
      {"sqrt.approx.f32", "positive", relative, 0x1p-23, "2^-23 relative", positive, square_root_of,
       static_cast<Function>(std::sqrt)},
      {"rsqrt.approx.f32", "positive", relative, std::exp2(-22.9), "2^-22.9 relative", positive,
       rsqrt, exact_rsqrt},
      {"sin.approx.f32", "[-2 pi, 2 pi]", absolute, bound_20_5, "2^-20.5 absolute", one_turn, sine,
       sin},
      {"sin.approx.f32", "[-100 pi, 100 pi]", absolute, bound_14_7, "2^-14.7 absolute", fifty_turns,
       sine, sin},
      {"cos.approx.f32", "[-2 pi, 2 pi]", absolute, bound_20_5, "2^-20.5 absolute", one_turn,
       cosine, cos},
      {"cos.approx.f32", "[-100 pi, 100 pi]", absolute, bound_14_7, "2^-14.7 absolute", fifty_turns,
       cosine, cos},
      {"lg2.approx.f32", "(0.5, 2)", absolute, 0x1p-22, "2^-22 absolute", near_one, lg2, log2},
      {"lg2.approx.f32", "other positive", relative, 0x1p-22, "2^-22 relative", far_from_one, lg2,
       log2},
      {"ex2.approx.f32", "all", Measure::ulp, 2, "2 ulp", any, ex2,
       static_cast<Function>(std::exp2)},
      {"tanh.approx.f32", "all", relative, 0x1p-11, "2^-11 relative", any, tangent,
       static_cast<Function>(std::tanh)},
  };
}

std::string error_text(Measure measure, double error) {
  char text[64];
  if (measure == Measure::ulp) {
    std::snprintf(text, sizeof text, "%.4f ulp", error);
  } else {
    std::snprintf(text, sizeof text, "2^%.2f %s", std::log2(error),
                  measure == Measure::absolute ? "absolute" : "relative");
  }
  return text;
}

double error_of(Measure measure, float got, double exact) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (std::isnan(got)) return kInfinity;
  if (std::fabs(exact) >= kBeyondF32) return std::isinf(got) ? 0 : kInfinity;
  const double distance = std::fabs(static_cast<double>(got) - exact);
  switch (measure) {
    case Measure::absolute:
      return distance;
    case Measure::relative:
      return exact == 0 ? distance : distance / std::fabs(exact);
    case Measure::ulp:
      break;
  }
  const int exponent = exact == 0 ? -126 : std::max(std::ilogb(exact), -126);
  return std::ldexp(distance, 23 - exponent);
}

}  // namespace km::reference
