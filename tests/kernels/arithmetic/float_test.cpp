#include <algorithm>
#include <array>
#include <cfenv>
#include <cmath>

#include <gtest/gtest.h>

#include "harness/compare.h"
#include "harness/inputs.h"
#include "harness/session.h"
#include "harness/soft_float.h"

namespace km::kernels {
namespace {

using std::vector;

constexpr Round kModes[] = {Round::rn, Round::rz, Round::rm, Round::rp};

Module& kernels() { return session().cuda("arithmetic/float.cu"); }

auto pairs32() { return mixed_pairs(corners_f32(), random_bits_f32(3000, 1)); }
auto pairs64() { return mixed_pairs(corners_f64(), random_bits_f64(3000, 2)); }

template <class F>
Describe describe_pairs(const vector<F>& a, const vector<F>& b, uint64_t width) {
  return [&a, &b, width](uint64_t i) {
    return text_of(a[i / width]) + ", " + text_of(b[i / width]) + " result " +
           std::to_string(i % width);
  };
}

/// Runs kernel(a, b, out, n) and compares with `make(x, y)`: `Width` values per pair.
template <size_t Width, class F, class Make>
void check_pairs(const char* kernel, const vector<F>& a, const vector<F>& b, const Make& make) {
  const auto n = static_cast<uint32_t>(a.size());
  Buffer<F> in_a(session(), a), in_b(session(), b), out(session(), n * Width);
  kernels().run(kernel, cover(n), in_a, in_b, out, n);
  vector<F> want;
  for (uint32_t i = 0; i < n; ++i) {
    for (const F value : make(a[i], b[i])) want.push_back(value);
  }
  expect_values(kernel, out.read(), want, describe_pairs(a, b, Width));
}

template <class F>
std::array<F, 6> arithmetic(F x, F y) {
  return {soft_add(x, y, Round::rn),    soft_sub(x, y, Round::rn), soft_mul(x, y, Round::rn),
          soft_fma(x, y, y, Round::rn), soft_div(x, y, Round::rn), soft_sqrt(x, Round::rn)};
}

TEST(Float, Arithmetic32) {
  const auto [a, b] = pairs32();
  check_pairs<6>("f32_arithmetic", a, b, arithmetic<float>);
}

TEST(Float, Arithmetic64) {
  const auto [a, b] = pairs64();
  check_pairs<6>("f64_arithmetic", a, b, arithmetic<double>);
}

/// Values close to each other in size, so that sums cancel and products meet the addend.
template <class F>
vector<F> third_operands(const vector<F>& a, const vector<F>& b) {
  vector<F> c;
  Random random(3);
  for (size_t i = 0; i < a.size(); ++i) {
    const F product = a[i] * b[i];
    const F near[] = {-product, product, std::nextafter(-product, F{0}), a[i], F{0}, -F{0}};
    c.push_back(near[random.below(6)]);
  }
  return c;
}

template <class F>
void check_rounding(const char* kernel, const vector<F>& a, const vector<F>& b) {
  const auto n = static_cast<uint32_t>(a.size());
  const vector<F> c = third_operands(a, b);
  Buffer<F> in_a(session(), a), in_b(session(), b), in_c(session(), c), out(session(), 16 * n);
  kernels().run(kernel, cover(n), in_a, in_b, in_c, out, n);
  vector<F> want;
  for (uint32_t i = 0; i < n; ++i) {
    for (const Round mode : kModes) want.push_back(soft_add(a[i], b[i], mode));
    for (const Round mode : kModes) want.push_back(soft_sub(a[i], b[i], mode));
    for (const Round mode : kModes) want.push_back(soft_mul(a[i], b[i], mode));
    for (const Round mode : kModes) want.push_back(soft_fma(a[i], b[i], c[i], mode));
  }
  const Describe pair = describe_pairs(a, b, 16);
  expect_values(kernel, out.read(), want,
                [&](uint64_t i) { return pair(i) + " c " + text_of(c[i / 16]); });
}

TEST(Float, Rounding32) {
  const auto [a, b] = pairs32();
  check_rounding("f32_rounding", a, b);
}

TEST(Float, Rounding64) {
  const auto [a, b] = pairs64();
  check_rounding("f64_rounding", a, b);
}

/// Inputs whose sums lie on integers, beside them and far off.
vector<float> integer_sum_inputs() {
  vector<float> inputs = mixed_f32(3000, 8);
  for (const float x : random_f32(3000, 9, 0.0f, 1.0f)) inputs.push_back(x);
  for (int k = 0; k <= 512; ++k) {
    for (const float scale : {252.0f, 255.0f, 256.0f}) {
      const float x = static_cast<float>(k) / 2 / scale;
      for (const float y : {std::nextafter(x, 0.0f), x, std::nextafter(x, 2.0f)}) {
        inputs.push_back(y);
      }
    }
  }
  for (int k = 1; k <= 149; ++k) inputs.push_back(std::ldexp(1.0f, -k));
  return inputs;
}

TEST(Float, IntegerSums32) {
  struct Sum {
    float factor, offset;
    bool saturated;
  };
  constexpr Sum kSums[] = {{252.0f, 12582913.0f, true}, {1.0f, 8388608.0f, true},
                           {255.0f, 16776960.0f, true}, {256.0f, 16776960.0f, true},
                           {0.5f, 8388608.0f, true},    {252.0f, 8388607.5f, true},
                           {252.0f, 12582913.0f, false}};
  const vector<float> a = integer_sum_inputs();
  const auto n = static_cast<uint32_t>(a.size());
  Buffer<float> in(session(), a), out(session(), 29 * n);
  kernels().run("f32_integer_sums", cover(n), in, out, n);
  vector<float> want;
  for (const float value : a) {
    const float x = value > 0 ? std::min(value, 1.0f) : 0.0f;
    for (const Sum& sum : kSums) {
      for (const Round mode : kModes) {
        want.push_back(soft_fma(sum.saturated ? x : value, sum.factor, sum.offset, mode));
      }
    }
    const float flushed = x < 0x1p-126f ? 0.0f : x;
    want.push_back(soft_fma(flushed, 252.0f, 12582913.0f, Round::rm));
  }
  expect_values("f32_integer_sums", out.read(), want, [&](uint64_t i) {
    return text_of(a[i / 29]) + " result " + std::to_string(i % 29);
  });
}

template <class F>
std::array<F, 12> division_modes(F x, F y) {
  std::array<F, 12> want;
  for (int m = 0; m < 4; ++m) {
    want[m] = soft_div(x, y, kModes[m]);
    want[4 + m] = soft_div(F{1}, x, kModes[m]);
    want[8 + m] = soft_sqrt(x, kModes[m]);
  }
  return want;
}

TEST(Float, RoundingOfDivision32) {
  const auto [a, b] = pairs32();
  check_pairs<12>("f32_rounding_division", a, b, division_modes<float>);
}

TEST(Float, RoundingOfDivision64) {
  const auto [a, b] = pairs64();
  check_pairs<12>("f64_rounding_division", a, b, division_modes<double>);
}

/// min and max of PTX: a number wins over NaN, and -0 is less than +0.
template <class F>
F least(F x, F y) {
  if (std::isnan(x)) return y;
  if (std::isnan(y)) return x;
  if (x == y) return std::signbit(x) ? x : y;
  return x < y ? x : y;
}

template <class F>
F greatest(F x, F y) {
  return -least(-x, -y);
}

TEST(Float, MinMax32) {
  const auto [a, b] = pairs32();
  check_pairs<4>("f32_minmax", a, b, [](float x, float y) {
    const float clamped = least(greatest(x, -1.0f), 1.0f);
    const float saturated = x > 0 ? std::min(x, 1.0f) : 0.0f;  // NaN and -0 too give +0
    return std::array<float, 4>{least(x, y), greatest(x, y), clamped, saturated};
  });
}

TEST(Float, MinMax64) {
  const auto [a, b] = pairs64();
  check_pairs<2>("f64_minmax", a, b, [](double x, double y) {
    return std::array<double, 2>{least(x, y), greatest(x, y)};
  });
}

template <class F>
uint32_t relations(F x, F y) {
  const bool unordered = std::isnan(x) || std::isnan(y);
  const bool less = std::isless(x, y), equal = !unordered && !less && !std::isgreater(x, y);
  const bool greater = std::isgreater(x, y);
  return (less ? 1 : 0) | (less || equal ? 2 : 0) | (greater ? 4 : 0) | (greater || equal ? 8 : 0) |
         (equal ? 16 : 0) | (!equal ? 32 : 0) | (!less ? 64 : 0) | (!(greater || equal) ? 128 : 0) |
         (unordered ? 256 : 0);
}

TEST(Float, Compare) {
  const auto [a, b] = pairs32();
  auto [c, d] = pairs64();
  c.resize(a.size(), 1.0);
  d.resize(a.size(), 2.0);
  const auto n = static_cast<uint32_t>(a.size());
  Buffer<float> in_a(session(), a), in_b(session(), b);
  Buffer<double> in_c(session(), c), in_d(session(), d);
  Buffer<uint32_t> out(session(), 2 * n);
  kernels().run("float_compare", cover(n), in_a, in_b, in_c, in_d, out, n);
  vector<uint32_t> want;
  for (uint32_t i = 0; i < n; ++i) {
    want.insert(want.end(), {relations(a[i], b[i]), relations(c[i], d[i])});
  }
  expect_bits("float_compare", out.read(), want, describe_pairs(a, b, 2));
}

TEST(Float, Signs) {
  const auto [a, b] = pairs32();
  check_pairs<4>("f32_signs", a, b, [](float x, float y) {
    return std::array<float, 4>{std::fabs(x), -x, std::copysign(x, y),
                                std::signbit(x) ? 1.0f : 2.0f};
  });
}

template <class F>
void check_integral(const char* kernel, const vector<F>& a) {
  const auto n = static_cast<uint32_t>(a.size());
  Buffer<F> in(session(), a), out(session(), 5 * n);
  kernels().run(kernel, cover(n), in, out, n);
  vector<F> want;
  for (const F x : a) {
    const auto integral = [&](Round mode) {
      return static_cast<F>(soft_round_to_integral(static_cast<double>(x), mode));
    };
    want.insert(want.end(), {integral(Round::rn), integral(Round::rm), integral(Round::rp),
                             integral(Round::rz), std::round(x)});
  }
  expect_values(kernel, out.read(), want,
                [&](uint64_t i) { return text_of(a[i / 5]) + " result " + std::to_string(i % 5); });
}

TEST(Float, Integral32) {
  auto a = mixed_f32(2000, 4);
  const auto halves = random_f32(2000, 5, -100.0f, 100.0f);
  for (const float x : halves) a.push_back(std::round(x * 2) / 2);
  check_integral("f32_integral", a);
}

TEST(Float, Integral64) {
  auto a = mixed_f64(2000, 6);
  const auto halves = random_f64(2000, 7, -100.0, 100.0);
  for (const double x : halves) a.push_back(std::round(x * 2) / 2);
  check_integral("f64_integral", a);
}

TEST(Float, ExactFunctions) {
  auto [a, b] = pairs32();
  const auto near_a = random_f32(2000, 8, -1000.0f, 1000.0f);
  const auto near_b = random_f32(2000, 9, -3.0f, 3.0f);
  a.insert(a.end(), near_a.begin(), near_a.end());
  b.insert(b.end(), near_b.begin(), near_b.end());
  check_pairs<6>("f32_exact_functions", a, b, [](float x, float y) {
    int exponent = 0;
    const float fraction = std::isfinite(x) ? std::frexp(x, &exponent) : x;
    const int scale = static_cast<int>(bits_of(y) & 511) - 256;
    return std::array<float, 6>{std::fmod(x, y),      std::remainder(x, y),
                                std::ldexp(x, scale), fraction + static_cast<float>(exponent),
                                std::nextafter(x, y), std::fdim(x, y)};
  });
}

TEST(Float, Classify) {
  const auto a = mixed_f32(3000, 10);
  const auto n = static_cast<uint32_t>(a.size());
  Buffer<float> in(session(), a);
  Buffer<uint32_t> out(session(), n);
  kernels().run("f32_classify", cover(n), in, out, n);
  vector<uint32_t> want;
  for (const float x : a) {
    switch (std::fpclassify(x)) {
      case FP_NAN:
        want.push_back(1);
        break;
      case FP_INFINITE:
        want.push_back(2);
        break;
      case FP_SUBNORMAL:
        want.push_back(4 | 8);
        break;
      case FP_ZERO:
        want.push_back(4 | 16);
        break;
      default:
        want.push_back(4);
    }
  }
  expect_bits("f32_classify", out.read(), want);
}

TEST(Float, Horner) {
  constexpr int kDegree = 17;
  const uint32_t n = 1001;
  const auto x = random_f32(n, 11, -1.5f, 1.5f), c = random_f32(kDegree + 1, 12, -1.0f, 1.0f);
  Buffer<float> in_x(session(), x), in_c(session(), c), out(session(), n);
  kernels().run("f32_horner", cover(n), in_x, in_c, kDegree, out, n);
  vector<float> want;
  for (const float value : x) {
    float sum = c[kDegree];
    for (int k = kDegree - 1; k >= 0; --k) sum = std::fma(sum, value, c[k]);
    want.push_back(sum);
  }
  expect_bits("f32_horner", out.read(), want);
}

TEST(Float, KahanSum) {
  const uint32_t n = 203, length = 57;
  const auto data = random_f32(n * length, 13, -1e6f, 1.0f);
  Buffer<float> in(session(), data), out(session(), 2 * n);
  kernels().run("f32_kahan", cover(n), in, length, out, n);
  vector<float> want;
  for (uint32_t i = 0; i < n; ++i) {
    float sum = 0, lost = 0;
    for (uint32_t k = 0; k < length; ++k) {
      const float y = data[k * n + i] - lost;
      const float t = sum + y;
      lost = (t - sum) - y;
      sum = t;
    }
    want.insert(want.end(), {sum, lost});
  }
  expect_bits("f32_kahan", out.read(), want);
}

TEST(Float, ErrorFreeTransforms) {
  const uint32_t n = 2000;
  const auto a = random_f32(n, 14, -1e3f, 1e3f), b = random_f32(n, 15, -1e3f, 1e3f);
  check_pairs<4>("f32_two_product", a, b, [](float x, float y) {
    // Products and sums of floats of like size are exact in double.
    const double product = static_cast<double>(x) * y, sum = static_cast<double>(x) + y;
    const float p = static_cast<float>(product), s = static_cast<float>(sum);
    return std::array<float, 4>{p, static_cast<float>(product - p), s, static_cast<float>(sum - s)};
  });
}

}  // namespace
}  // namespace km::kernels
