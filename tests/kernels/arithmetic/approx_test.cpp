#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "harness/compare.h"
#include "harness/inputs.h"
#include "harness/session.h"
#include "harness/soft_float.h"

namespace km::kernels {
namespace {

using std::vector;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

Module& kernels() { return session().cuda("arithmetic/approx.cu"); }

/// Results of a two-column kernel: plain and .ftz.
vector<float> run(const char* kernel, const vector<float>& a) {
  const auto n = static_cast<uint32_t>(a.size());
  Buffer<float> in(session(), a), out(session(), 2 * n);
  kernels().run(kernel, cover(n), in, out, n);
  return out.read();
}

struct Special {
  float in, plain, flushed;
};

/// Values that the manual's tables give exactly.
void expect_special(const char* kernel, const vector<Special>& cases) {
  vector<float> a, want;
  for (const Special& special : cases) {
    a.push_back(special.in);
    want.insert(want.end(), {special.plain, special.flushed});
  }
  expect_values(kernel, run(kernel, a), want, [&](uint64_t i) { return text_of(a[i / 2]); });
}

/// Fails where error(got, a) exceeds `bound`.
void expect_error(const char* kernel, const vector<float>& a, const char* unit, double bound,
                  const std::function<double(float, float)>& error) {
  const vector<float> got = run(kernel, a);
  double worst = 0;
  float worst_at = 0, worst_got = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const double e = error(got[i], a[i / 2]);
    if (!(e <= worst)) {
      worst = e;
      worst_at = a[i / 2];
      worst_got = got[i];
    }
  }
  EXPECT_LE(worst, bound) << kernel << " in " << unit << " at " << text_of(worst_at) << " gives "
                          << text_of(worst_got);
}

/// Normal numbers of any exponent in [low, high], both signs if wanted.
vector<float> normals(uint64_t seed, int low, int high, bool both_signs) {
  Random random(seed);
  vector<float> values;
  for (int i = 0; i < 20000; ++i) {
    const int exponent =
        low + static_cast<int>(random.below(static_cast<uint32_t>(high - low + 1)));
    const float value = std::ldexp(random.uniform(1.0f, 2.0f), exponent);
    values.push_back(both_signs && (random.bits32() & 1) != 0 ? -value : value);
  }
  return values;
}

TEST(Approx, Reciprocal) {
  const Exact exact = [](mpfr_t out, const mpfr_t in) { mpfr_ui_div(out, 1, in, MPFR_RNDN); };
  // Results below 2^-126 would be flushed by .ftz.
  expect_error("approx_rcp", normals(1, -126, 125, true), "ulp", 1,
               [&](float got, float a) { return ulp_error(got, a, exact); });
  expect_special("approx_rcp", {{kInf, 0, 0},
                                {-kInf, -0.0f, -0.0f},
                                {0, kInf, kInf},
                                {-0.0f, -kInf, -kInf},
                                {kNaN, kNaN, kNaN}});
}

TEST(Approx, SquareRoot) {
  const Exact exact = [](mpfr_t out, const mpfr_t in) { mpfr_sqrt(out, in, MPFR_RNDN); };
  expect_error("approx_sqrt", normals(2, -126, 127, false), "relative error", 0x1p-23,
               [&](float got, float a) { return relative_error(got, a, exact); });
  expect_special("approx_sqrt", {{kInf, kInf, kInf},
                                 {-kInf, kNaN, kNaN},
                                 {0, 0, 0},
                                 {-0.0f, -0.0f, -0.0f},
                                 {kNaN, kNaN, kNaN},
                                 {-1, kNaN, kNaN}});
}

TEST(Approx, ReciprocalSquareRoot) {
  const Exact exact = [](mpfr_t out, const mpfr_t in) { mpfr_rec_sqrt(out, in, MPFR_RNDN); };
  expect_error("approx_rsqrt", normals(3, -126, 127, false), "relative error", std::exp2(-22.9),
               [&](float got, float a) { return relative_error(got, a, exact); });
  expect_special("approx_rsqrt", {{kInf, 0, 0},
                                  {-kInf, kNaN, kNaN},
                                  {0, kInf, kInf},
                                  {-0.0f, -kInf, -kInf},
                                  {kNaN, kNaN, kNaN},
                                  {-2, kNaN, kNaN},
                                  {0x1p-140f, 0x1p70f, kInf}});
}

TEST(Approx, SineAndCosine) {
  const auto a = random_f32(20000, 4, -6.2831853f, 6.2831853f);
  expect_error("approx_sin", a, "absolute error", std::exp2(-20.5), [&](float got, float x) {
    return absolute_error(got, x, [](mpfr_t o, const mpfr_t in) { mpfr_sin(o, in, MPFR_RNDN); });
  });
  expect_error("approx_cos", a, "absolute error", std::exp2(-20.5), [&](float got, float x) {
    return absolute_error(got, x, [](mpfr_t o, const mpfr_t in) { mpfr_cos(o, in, MPFR_RNDN); });
  });
  expect_special("approx_sin", {{0, 0, 0},
                                {-0.0f, -0.0f, -0.0f},
                                {kInf, kNaN, kNaN},
                                {-kInf, kNaN, kNaN},
                                {kNaN, kNaN, kNaN}});
  expect_special("approx_cos", {{0, 1, 1},
                                {-0.0f, 1, 1},
                                {kInf, kNaN, kNaN},
                                {0x1p-140f, 1, 1},
                                {-kInf, kNaN, kNaN},
                                {kNaN, kNaN, kNaN}});
}

TEST(Approx, SineAndCosineOfLargeArguments) {
  const auto a = random_f32(20000, 5, -314.0f, 314.0f);
  expect_error("approx_sin", a, "absolute error", std::exp2(-14.7), [&](float got, float x) {
    return absolute_error(got, x, [](mpfr_t o, const mpfr_t in) { mpfr_sin(o, in, MPFR_RNDN); });
  });
  expect_error("approx_cos", a, "absolute error", std::exp2(-14.7), [&](float got, float x) {
    return absolute_error(got, x, [](mpfr_t o, const mpfr_t in) { mpfr_cos(o, in, MPFR_RNDN); });
  });
}

TEST(Approx, Logarithm) {
  const Exact exact = [](mpfr_t out, const mpfr_t in) { mpfr_log2(out, in, MPFR_RNDN); };
  expect_error("approx_lg2", random_f32(20000, 6, 0.5f, 2.0f), "absolute error", 0x1p-22,
               [&](float got, float a) { return absolute_error(got, a, exact); });
  expect_error("approx_lg2", normals(7, 1, 127, false), "relative error", 0x1p-22,
               [&](float got, float a) { return relative_error(got, a, exact); });
  expect_error("approx_lg2", normals(8, -126, -2, false), "relative error", 0x1p-22,
               [&](float got, float a) { return relative_error(got, a, exact); });
  expect_special("approx_lg2", {{0, -kInf, -kInf},
                                {-0.0f, -kInf, -kInf},
                                {kInf, kInf, kInf},
                                {-1, kNaN, kNaN},
                                {-kInf, kNaN, kNaN},
                                {kNaN, kNaN, kNaN},
                                {1, 0, 0},
                                {8, 3, 3},
                                {0x1p-149f, -149, -kInf}});
}

TEST(Approx, Exponential) {
  const Exact exact = [](mpfr_t out, const mpfr_t in) { mpfr_exp2(out, in, MPFR_RNDN); };
  expect_error("approx_ex2", random_f32(20000, 9, -125.9f, 127.9f), "ulp", 2,
               [&](float got, float a) { return ulp_error(got, a, exact); });
  expect_error("approx_ex2", random_f32(5000, 10, -1.0f, 1.0f), "ulp", 2,
               [&](float got, float a) { return ulp_error(got, a, exact); });
  expect_special("approx_ex2", {{0, 1, 1},
                                {-0.0f, 1, 1},
                                {kInf, kInf, kInf},
                                {-kInf, 0, 0},
                                {kNaN, kNaN, kNaN},
                                {128, kInf, kInf},
                                {-200, 0, 0},
                                {0x1p-149f, 1, 1},
                                {-130, 0x1p-130f, 0},
                                {5, 32, 32}});
}

TEST(Approx, Division) {
  const auto a = normals(11, -40, 40, true), b = normals(12, -60, 60, true);
  const auto n = static_cast<uint32_t>(a.size());
  Buffer<float> in_a(session(), a), in_b(session(), b), out(session(), 2 * n);
  kernels().run("approx_div", cover(n), in_a, in_b, out, n);
  const auto got = out.read();
  const Exact2 exact = [](mpfr_t o, const mpfr_t x, const mpfr_t y) {
    mpfr_div(o, x, y, MPFR_RNDN);
  };
  double worst = 0;
  for (uint32_t i = 0; i < 2 * n; ++i) {
    worst = std::fmax(worst, ulp_error(got[i], a[i / 2], b[i / 2], exact));
  }
  EXPECT_LE(worst, 2);
}

TEST(Approx, HyperbolicTangent) {
  auto a = random_f32(20000, 13, -10.0f, 10.0f);
  a.insert(a.end(), {kInf, -kInf, 0.0f, 40.0f, -40.0f});
  const auto n = static_cast<uint32_t>(a.size());
  Buffer<float> in(session(), a), out(session(), n);
  kernels().run("approx_tanh", cover(n), in, out, n);
  const auto got = out.read();
  const Exact exact = [](mpfr_t o, const mpfr_t x) { mpfr_tanh(o, x, MPFR_RNDN); };
  double worst = 0;
  for (uint32_t i = 0; i + 5 < n; ++i) {
    worst = std::fmax(worst, relative_error(got[i], a[i], exact));
  }
  EXPECT_LE(worst, 0x1p-11);
  const vector<float> ends(got.end() - 5, got.end());
  expect_bits("tanh at its ends", ends, vector<float>{1.0f, -1.0f, 0.0f, 1.0f, -1.0f});
}

}  // namespace
}  // namespace km::kernels
