// Approximate instructions: one definition, the same bits on scalars and vectors of every
// instruction set, and the error bounds and special cases of the PTX ISA.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "ptx/approx.h"
#include "support/native_ops.h"
#include "unit/simt/arithmetic/arith_harness.h"

namespace km::simt::arith {
namespace {

using In = std::span<const uint64_t>;

using ScalarOps = support::NativeOps;
using Scalar = ptx::Approx<ScalarOps>;

float as_float(uint64_t word) { return std::bit_cast<float>(static_cast<uint32_t>(word)); }
uint64_t word_of(float x) { return std::bit_cast<uint32_t>(x); }

struct Unary {
  const char* name;
  float (*value)(Scalar&, float, bool);
};

const Unary kUnary[] = {
    {"rcp", [](Scalar& a, float x, bool z) { return a.rcp(x, z); }},
    {"sqrt", [](Scalar& a, float x, bool z) { return a.sqrt(x, z); }},
    {"rsqrt", [](Scalar& a, float x, bool z) { return a.rsqrt(x, z); }},
    {"sin", [](Scalar& a, float x, bool z) { return a.sin(x, z); }},
    {"cos", [](Scalar& a, float x, bool z) { return a.cos(x, z); }},
    {"lg2", [](Scalar& a, float x, bool z) { return a.lg2(x, z); }},
    {"ex2", [](Scalar& a, float x, bool z) { return a.ex2(x, z); }},
};

TEST(ArithApprox, LanesAgreeWithScalars) {
  ScalarOps ops;
  Scalar approx(ops);
  for (const Unary& u : kUnary) {
    for (bool ftz : {false, true}) {
      expect_same(
          {std::string(u.name) + (ftz ? ".approx.ftz.f32" : ".approx.f32"), 1},
          [&](In x) -> Row { return {word_of(u.value(approx, as_float(x[0]), ftz))}; }, 100000);
    }
  }
  expect_same(
      {"tanh.approx.f32", 1}, [&](In x) -> Row { return {word_of(approx.tanh(as_float(x[0])))}; },
      100000);
  for (bool ftz : {false, true}) {
    std::string type = ftz ? ".ftz.f32" : ".f32";
    expect_same({"div.approx" + type, 2}, [&](In x) -> Row {
      return {word_of(approx.div(as_float(x[0]), as_float(x[1]), ftz))};
    });
    expect_same({"div.full" + type, 2}, [&](In x) -> Row {
      return {word_of(approx.div_full(as_float(x[0]), as_float(x[1]), ftz))};
    });
  }
}

TEST(ArithApprox, LanesAgreeWithScalarsInF64) {
  ScalarOps ops;
  ptx::Approx64<ScalarOps> approx(ops);
  auto f64 = [](uint64_t word) { return std::bit_cast<double>(word); };
  auto row = [](double x) { return Row{std::bit_cast<uint64_t>(x)}; };
  expect_same({"rcp.approx.ftz.f64", 1}, [&](In x) { return row(approx.rcp_ftz(f64(x[0]))); });
  expect_same({"rsqrt.approx.ftz.f64", 1}, [&](In x) { return row(approx.rsqrt_ftz(f64(x[0]))); });
  expect_same({"rsqrt.approx.f64", 1}, [&](In x) { return row(approx.rsqrt(f64(x[0]))); });
}

/// Every `step`-th f32 (of any kind) through `check(x)`.
template <class F>
void sweep(uint32_t step, F check) {
  for (uint64_t word = 0; word <= UINT32_MAX; word += step) check(as_float(word));
}

constexpr uint32_t kStep = 1009;

double relative(double got, double exact) { return std::fabs(got - exact) / std::fabs(exact); }

bool is_normal(double x) { return std::fabs(x) >= 0x1p-126 && std::fabs(x) < 0x1p128; }

TEST(ArithApprox, RelativeErrors) {
  ScalarOps ops;
  Scalar approx(ops);
  double rcp = 0, sqrt = 0, rsqrt = 0, ex2 = 0, tanh = 0;
  sweep(kStep, [&](float x) {
    auto note = [](double& worst, float got, double exact) {
      if (is_normal(exact)) worst = std::max(worst, relative(got, exact));
    };
    if (std::isnan(x) || x == 0) return;
    note(rcp, approx.rcp(x, false), 1.0 / x);
    note(ex2, approx.ex2(x, false), std::exp2(static_cast<double>(x)));
    note(tanh, approx.tanh(x), std::tanh(static_cast<double>(x)));
    if (x < 0) return;
    note(sqrt, approx.sqrt(x, false), std::sqrt(static_cast<double>(x)));
    note(rsqrt, approx.rsqrt(x, false), 1.0 / std::sqrt(static_cast<double>(x)));
  });
  EXPECT_LE(rcp, 0x1p-23);
  EXPECT_LE(sqrt, 0x1p-23);
  EXPECT_LE(std::log2(rsqrt), -22.9);
  EXPECT_LE(ex2, 0x1p-22);
  EXPECT_LE(tanh, 0x1p-11);
}

TEST(ArithApprox, Logarithm) {
  ScalarOps ops;
  Scalar approx(ops);
  double near_one = 0, elsewhere = 0;
  sweep(kStep, [&](float x) {
    if (!(x > 0) || std::isinf(x)) return;
    double exact = std::log2(static_cast<double>(x)), got = approx.lg2(x, false);
    if (x > 0.5f && x < 2.0f) {
      near_one = std::max(near_one, std::fabs(got - exact));
    } else {
      elsewhere = std::max(elsewhere, relative(got, exact));
    }
  });
  EXPECT_LE(near_one, 0x1p-22);
  EXPECT_LE(elsewhere, 0x1p-22);
}

TEST(ArithApprox, SineAndCosine) {
  ScalarOps ops;
  Scalar approx(ops);
  const double pi = 3.14159265358979323846;
  double one_turn = 0, fifty = 0;
  for (int64_t n = -1000000; n <= 1000000; ++n) {
    for (double limit : {2 * pi, 100 * pi}) {
      auto x = static_cast<float>(limit * static_cast<double>(n) / 1e6);
      if (std::fabs(static_cast<double>(x)) > limit) continue;
      double error = std::max(std::fabs(approx.sin(x, false) - std::sin(static_cast<double>(x))),
                              std::fabs(approx.cos(x, false) - std::cos(static_cast<double>(x))));
      double& worst = limit < 7 ? one_turn : fifty;
      worst = std::max(worst, error);
    }
  }
  EXPECT_LE(std::log2(one_turn), -20.5);
  EXPECT_LE(std::log2(fifty), -14.7);
  sweep(kStep, [&](float x) {
    if (!std::isfinite(x)) return;
    EXPECT_LE(std::fabs(approx.sin(x, false)), 1.0f) << x;
    EXPECT_LE(std::fabs(approx.cos(x, true)), 1.0f) << x;
  });
}

TEST(ArithApprox, Division) {
  ScalarOps ops;
  Scalar approx(ops);
  auto ulp = [](double exact) { return std::ldexp(1.0, std::max(std::ilogb(exact), -126) - 23); };
  for (int n = 0; n < 2000000; ++n) {
    float a = as_float(random_value(ptx::Type::f32)), b = as_float(random_value(ptx::Type::f32));
    double exact = static_cast<double>(a) / b;
    if (!std::isfinite(exact) || std::fabs(exact) >= 0x1p128 || b == 0 || exact == 0) continue;
    EXPECT_LE(std::fabs(approx.div_full(a, b, false) - exact), 2 * ulp(exact)) << a << " / " << b;
    if (std::fabs(b) < 0x1p-126f || std::fabs(b) > 0x1p126f) continue;
    if (std::fabs(exact) >= 0x1.fffffcp127) continue;
    EXPECT_LE(std::fabs(approx.div(a, b, false) - exact), 2 * ulp(exact)) << a << " / " << b;
  }
}

struct Special {
  float x;
  float plain, flushed;
};

void expect_specials(const char* name, float (*value)(Scalar&, float, bool),
                     std::initializer_list<Special> cases) {
  ScalarOps ops;
  Scalar approx(ops);
  for (const Special& special : cases) {
    for (bool ftz : {false, true}) {
      float got = value(approx, special.x, ftz), want = ftz ? special.flushed : special.plain;
      bool same = std::isnan(want) ? std::isnan(got) : word_of(got) == word_of(want);
      EXPECT_TRUE(same) << name << " of " << special.x << (ftz ? " ftz" : "") << ": " << got;
    }
  }
}

TEST(ArithApprox, SpecialCasesOfTheIsa) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  const float tiny = 0x1p-140f;
  expect_specials("rcp", kUnary[0].value,
                  {{-inf, -0.f, -0.f},
                   {-0.f, -inf, -inf},
                   {0.f, inf, inf},
                   {inf, 0.f, 0.f},
                   {nan, nan, nan},
                   {-tiny, -inf, -inf},
                   {tiny, inf, inf}});
  expect_specials("sqrt", kUnary[1].value,
                  {{-inf, nan, nan},
                   {-1.f, nan, nan},
                   {-tiny, nan, -0.f},
                   {-0.f, -0.f, -0.f},
                   {0.f, 0.f, 0.f},
                   {tiny, 0x1p-70f, 0.f},
                   {inf, inf, inf},
                   {nan, nan, nan}});
  expect_specials("rsqrt", kUnary[2].value,
                  {{-inf, nan, nan},
                   {-1.f, nan, nan},
                   {-tiny, nan, -inf},
                   {-0.f, -inf, -inf},
                   {0.f, inf, inf},
                   {tiny, 0x1p70f, inf},
                   {inf, 0.f, 0.f},
                   {nan, nan, nan}});
  expect_specials(
      "sin", kUnary[3].value,
      {{-inf, nan, nan}, {-0.f, -0.f, -0.f}, {0.f, 0.f, 0.f}, {inf, nan, nan}, {nan, nan, nan}});
  expect_specials("cos", kUnary[4].value,
                  {{-inf, nan, nan},
                   {-tiny, 1.f, 1.f},
                   {-0.f, 1.f, 1.f},
                   {0.f, 1.f, 1.f},
                   {tiny, 1.f, 1.f},
                   {inf, nan, nan},
                   {nan, nan, nan}});
  expect_specials("lg2", kUnary[5].value,
                  {{-inf, nan, nan},
                   {-1.f, nan, nan},
                   {-tiny, nan, -inf},
                   {-0.f, -inf, -inf},
                   {0.f, -inf, -inf},
                   {tiny, -140.f, -inf},
                   {1.f, 0.f, 0.f},
                   {8.f, 3.f, 3.f},
                   {inf, inf, inf},
                   {nan, nan, nan}});
  expect_specials("ex2", kUnary[6].value,
                  {{-inf, 0.f, 0.f},
                   {-tiny, 1.f, 1.f},
                   {-0.f, 1.f, 1.f},
                   {0.f, 1.f, 1.f},
                   {tiny, 1.f, 1.f},
                   {inf, inf, inf},
                   {nan, nan, nan},
                   {-140.f, tiny, 0.f},
                   {-149.f, 0x1p-149f, 0.f},
                   {-150.5f, 0.f, 0.f},
                   {127.f, 0x1p127f, 0x1p127f},
                   {128.f, inf, inf}});
}

TEST(ArithApprox, RsqrtOfDoubles) {
  ScalarOps ops;
  ptx::Approx64<ScalarOps> approx(ops);
  long double worst = 0;
  for (int n = 0; n < 1000000; ++n) {
    auto x = std::fabs(std::bit_cast<double>(random_value(ptx::Type::f64)));
    if (!std::isfinite(x) || x == 0) continue;
    long double exact = 1.0L / std::sqrt(static_cast<long double>(x));
    worst = std::max(worst,
                     std::fabs(approx.rsqrt(x) - exact) / std::ldexp(1.0L, std::ilogb(exact) - 52));
  }
  EXPECT_LE(worst, 0.51L);
  EXPECT_EQ(approx.rsqrt(0.0), HUGE_VAL);
  EXPECT_EQ(approx.rsqrt(-0.0), -HUGE_VAL);
  EXPECT_EQ(approx.rsqrt(HUGE_VAL), 0.0);
  EXPECT_TRUE(std::isnan(approx.rsqrt(-1.0)));
}

TEST(ArithApprox, DivisionByHugeNumbersIsZero) {
  const float inf = std::numeric_limits<float>::infinity();
  ScalarOps ops;
  Scalar approx(ops);
  EXPECT_EQ(word_of(approx.div(0x1p127f, 0x1.8p126f, false)), word_of(0.0f));
  EXPECT_TRUE(std::isnan(approx.div(inf, 0x1p127f, false)));
  EXPECT_EQ(approx.div(1.0f, inf, false), 0.0f);
  EXPECT_TRUE(std::isnan(approx.div(1.0f, std::nanf(""), false)));
  EXPECT_EQ(approx.div(0x1p-149f, 0x1p-149f, false), 1.0f);
  EXPECT_EQ(approx.div(1.0f, -0x1p-149f, true), -inf);
  EXPECT_EQ(approx.div_full(0x1p127f, 0x1p127f, false), 1.0f);
}

}  // namespace
}  // namespace km::simt::arith
