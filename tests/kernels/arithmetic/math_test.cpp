// Bounds are the maximum errors, in ulps, that the CUDA programming guide states for each function.
#include <cmath>

#include <gtest/gtest.h>

#include "harness/compare.h"
#include "harness/inputs.h"
#include "harness/session.h"
#include "harness/soft_float.h"

namespace km::kernels {
namespace {

using std::vector;

using Function = int (*)(mpfr_t, const mpfr_t, mpfr_rnd_t);
using Function2 = int (*)(mpfr_t, const mpfr_t, const mpfr_t, mpfr_rnd_t);

struct Column {
  const char* name;
  Function function;
  double ulps;
};

struct Column2 {
  const char* name;
  Function2 function;
  double ulps;
};

Module& kernels() { return session().cuda("arithmetic/math.cu"); }

template <class F>
struct Worst {
  double error = 0;
  std::string where;
  void see(double e, F got, const std::string& inputs) {
    if (e <= error) return;
    error = e;
    where = "f(" + inputs + ") = " + text_of(got);
  }
};

template <class F>
void check(const char* kernel, const vector<F>& a, const vector<Column>& columns) {
  const auto n = static_cast<uint32_t>(a.size());
  Buffer<F> in(session(), a), out(session(), n * columns.size());
  kernels().run(kernel, cover(n), in, out, n);
  const vector<F> got = out.read();
  for (size_t k = 0; k < columns.size(); ++k) {
    Worst<F> worst;
    for (uint32_t i = 0; i < n; ++i) {
      const Exact exact = [&](mpfr_t o, const mpfr_t x) { columns[k].function(o, x, MPFR_RNDN); };
      const F value = got[k * n + i];
      worst.see(ulp_error(value, a[i], exact), value, text_of(a[i]));
    }
    EXPECT_LE(worst.error, columns[k].ulps) << columns[k].name << ": " << worst.where;
  }
}

template <class F>
void check2(const char* kernel, const vector<F>& a, const vector<F>& b,
            const vector<Column2>& columns, uint32_t first_column = 0) {
  const auto n = static_cast<uint32_t>(a.size());
  Buffer<F> in_a(session(), a), in_b(session(), b);
  Buffer<F> out(session(), n * (first_column + columns.size()));
  kernels().run(kernel, cover(n), in_a, in_b, out, n);
  const vector<F> got = out.read();
  for (size_t k = 0; k < columns.size(); ++k) {
    Worst<F> worst;
    for (uint32_t i = 0; i < n; ++i) {
      const Exact2 exact = [&](mpfr_t o, const mpfr_t x, const mpfr_t y) {
        columns[k].function(o, x, y, MPFR_RNDN);
      };
      const F value = got[(first_column + k) * n + i];
      worst.see(ulp_error(value, a[i], b[i], exact), value, text_of(a[i]) + ", " + text_of(b[i]));
    }
    EXPECT_LE(worst.error, columns[k].ulps) << columns[k].name << ": " << worst.where;
  }
}

/// mpfr_rec_sqrt, but 1/sqrt(-0) is -infinity as IEEE 754 has it.
int reciprocal_root(mpfr_t out, const mpfr_t in, mpfr_rnd_t mode) {
  const int ternary = mpfr_rec_sqrt(out, in, mode);
  if (mpfr_zero_p(in)) mpfr_setsign(out, out, mpfr_signbit(in), mode);
  return ternary;
}

/// Common sizes, every size, and the special values.
vector<float> wide_range(uint64_t seed) {
  auto values = random_f32(3000, seed, -10.0f, 10.0f);
  for (const float x : random_f32(1000, seed + 1, -1e5f, 1e5f)) values.push_back(x);
  for (const float x : random_bits_f32(2000, seed + 2)) values.push_back(x);
  for (const float x : corners_f32()) values.push_back(x);
  return values;
}

vector<double> wide_range64(uint64_t seed) {
  auto values = random_f64(1000, seed, -10.0, 10.0);
  for (const double x : random_f64(500, seed + 1, -1e6, 1e6)) values.push_back(x);
  for (const double x : random_bits_f64(500, seed + 2)) {
    if (std::fabs(x) < 1e100) values.push_back(x);  // MPFR reduces larger ones too slowly
  }
  return values;
}

TEST(Math, Trigonometric32) {
  check("f32_trigonometric", wide_range(1),
        {{"sinf", mpfr_sin, 2},
         {"cosf", mpfr_cos, 2},
         {"tanf", mpfr_tan, 4},
         {"atanf", mpfr_atan, 2}});
}

TEST(Math, InverseTrigonometric32) {
  auto a = random_f32(4000, 2, -1.0f, 1.0f), b = random_f32(4000, 3, -2.0f, 2.0f);
  a.insert(a.end(), {1.0f, -1.0f, 0.0f, 1.5f, 0.5f});
  b.insert(b.end(), {0.0f, -1.0f, 1.0f, 1e-30f, -1e30f});
  const auto n = static_cast<uint32_t>(a.size());
  Buffer<float> in_a(session(), a), in_b(session(), b), out(session(), 3 * n);
  kernels().run("f32_inverse_trigonometric", cover(n), in_a, in_b, out, n);
  const auto got = out.read();
  Worst<float> arc_sine, arc_cosine;
  for (uint32_t i = 0; i < n; ++i) {
    const auto arcsin = [](mpfr_t o, const mpfr_t x) { mpfr_asin(o, x, MPFR_RNDN); };
    const auto arccos = [](mpfr_t o, const mpfr_t x) { mpfr_acos(o, x, MPFR_RNDN); };
    arc_sine.see(ulp_error(got[i], a[i], arcsin), got[i], text_of(a[i]));
    arc_cosine.see(ulp_error(got[n + i], a[i], arccos), got[n + i], text_of(a[i]));
  }
  EXPECT_LE(arc_sine.error, 2) << arc_sine.where;
  EXPECT_LE(arc_cosine.error, 2) << arc_cosine.where;
  check2("f32_inverse_trigonometric", a, b, {{"atan2f", mpfr_atan2, 3}}, 2);
}

TEST(Math, Exponential32) {
  check("f32_exponential", wide_range(4),
        {{"expf", mpfr_exp, 2},
         {"exp2f", mpfr_exp2, 2},
         {"exp10f", mpfr_exp10, 2},
         {"expm1f", mpfr_expm1, 1},
         {"sinhf", mpfr_sinh, 3},
         {"coshf", mpfr_cosh, 2},
         {"tanhf", mpfr_tanh, 2}});
}

TEST(Math, Logarithm32) {
  check("f32_logarithm", wide_range(7),
        {{"logf", mpfr_log, 1},
         {"log2f", mpfr_log2, 1},
         {"log10f", mpfr_log10, 2},
         {"log1pf", mpfr_log1p, 1},
         {"cbrtf", mpfr_cbrt, 1},
         {"rsqrtf", reciprocal_root, 2}});
}

TEST(Math, Special32) {
  auto a = random_f32(4000, 10, -6.0f, 12.0f);
  for (const float x : random_f32(1000, 11, -1e-3f, 1e-3f)) a.push_back(x);
  check("f32_special", a,
        {{"erff", mpfr_erf, 2}, {"erfcf", mpfr_erfc, 4}, {"tgammaf", mpfr_gamma, 5}});
}

TEST(Math, Power32) {
  auto a = random_f32(4000, 12, 0.0f, 20.0f), b = random_f32(4000, 13, -20.0f, 20.0f);
  const auto corners = pairs(corners_f32(), vector<float>{0, 1, -1, 2, -3, 0.5f, 1e10f, -0.0f});
  a.insert(a.end(), corners.first.begin(), corners.first.end());
  b.insert(b.end(), corners.second.begin(), corners.second.end());
  check2("f32_power", a, b, {{"powf", mpfr_pow, 4}, {"hypotf", mpfr_hypot, 3}});
}

TEST(Math, SineAndCosineTogether) {
  check("f32_sincos", wide_range(14), {{"sincosf", mpfr_sin, 2}, {"sincosf", mpfr_cos, 2}});
}

TEST(Math, Trigonometric64) {
  check("f64_trigonometric", wide_range64(15),
        {{"sin", mpfr_sin, 2}, {"cos", mpfr_cos, 2}, {"tan", mpfr_tan, 2}, {"atan", mpfr_atan, 2}});
}

TEST(Math, Exponential64) {
  check("f64_exponential", wide_range64(18),
        {{"exp", mpfr_exp, 1},
         {"expm1", mpfr_expm1, 1},
         {"sinh", mpfr_sinh, 2},
         {"tanh", mpfr_tanh, 1}});
}

TEST(Math, Logarithm64) {
  check("f64_logarithm", wide_range64(21),
        {{"log", mpfr_log, 1},
         {"log1p", mpfr_log1p, 1},
         {"cbrt", mpfr_cbrt, 1},
         {"rsqrt", reciprocal_root, 1}});
}

TEST(Math, Special64) {
  check("f64_special", random_f64(800, 24, -5.0, 20.0),
        {{"erf", mpfr_erf, 2}, {"erfc", mpfr_erfc, 5}, {"tgamma", mpfr_gamma, 10}});
}

TEST(Math, Power64) {
  const auto a = random_f64(1500, 25, 0.0, 50.0), b = random_f64(1500, 26, -50.0, 50.0);
  check2("f64_power", a, b,
         {{"pow", mpfr_pow, 2}, {"hypot", mpfr_hypot, 2}, {"atan2", mpfr_atan2, 2}});
}

}  // namespace
}  // namespace km::kernels
