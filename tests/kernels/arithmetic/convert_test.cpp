#include <algorithm>
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

Module& kernels() { return session().cuda("arithmetic/convert.cu"); }

/// Values about every integer limit, halves, and random bit patterns.
template <class F>
vector<F> values_near_limits(vector<F> values) {
  for (const double limit :
       {0.0, 1.0, 128.0, 256.0, 32768.0, 65536.0, 0x1p31, 0x1p32, 0x1p63, 0x1p64}) {
    for (const double offset : {-1.5, -1.0, -0.5, -0.25, 0.25, 0.5, 1.0, 1.5}) {
      values.push_back(static_cast<F>(limit + offset));
      values.push_back(static_cast<F>(-limit + offset));
    }
    values.push_back(std::nextafter(static_cast<F>(limit), F{0}));
    values.push_back(-std::nextafter(static_cast<F>(limit), F{0}));
  }
  return values;
}

/// The four targets of one input: s32, u32, s64, u64, sign-extended to 64 bits. A NaN becomes
/// 1 << (width - 1) when it comes from f64 or goes to 64 bits, else 0.
void append_integers(vector<uint64_t>& want, double x, bool from_f64) {
  const uint64_t nan32 = from_f64 ? 0x80000000u : 0u;
  const uint64_t nan64 = 0x8000000000000000u;
  const uint64_t nan_s32 = static_cast<uint64_t>(int64_t{static_cast<int32_t>(nan32)});
  for (const Round mode : kModes) want.push_back(soft_to_integer(x, mode, true, 32, nan_s32));
  for (const Round mode : kModes) want.push_back(soft_to_integer(x, mode, false, 32, nan32));
  for (const Round mode : kModes) want.push_back(soft_to_integer(x, mode, true, 64, nan64));
  for (const Round mode : kModes) want.push_back(soft_to_integer(x, mode, false, 64, nan64));
}

template <class F>
void check_to_integer(const char* kernel, const vector<F>& a, bool from_f64) {
  const auto n = static_cast<uint32_t>(a.size());
  Buffer<F> in(session(), a);
  Buffer<uint64_t> out(session(), 16 * n);
  kernels().run(kernel, cover(n), in, out, n);
  vector<uint64_t> want;
  for (const F x : a) append_integers(want, static_cast<double>(x), from_f64);
  expect_bits(kernel, out.read(), want,
              [&](uint64_t i) { return text_of(a[i / 16]) + " result " + std::to_string(i % 16); });
}

TEST(Convert, F32ToInteger) {
  check_to_integer("f32_to_integer", values_near_limits(mixed_f32(2000, 1)), false);
}

TEST(Convert, F64ToInteger) {
  check_to_integer("f64_to_integer", values_near_limits(mixed_f64(2000, 2)), true);
}

/// Integers whose last bits decide the rounding: 25 to 64 significant bits with ties.
vector<uint64_t> rounding_integers() {
  auto values = mixed_u64(2000, 3);
  Random random(4);
  for (int i = 0; i < 2000; ++i) {
    const uint32_t shift = random.below(40);
    const uint64_t top = (random.bits64() | 1u << 31) & 0xFFFFFFFFu;
    values.push_back((top << 1 | 1) << shift);
    values.push_back(~((top << 1 | 1) << shift));
  }
  return values;
}

TEST(Convert, IntegerToF32) {
  const auto a = rounding_integers();
  const auto n = static_cast<uint32_t>(a.size());
  Buffer<uint64_t> in(session(), a), out(session(), 16 * n);
  kernels().run("integer_to_f32", cover(n), in, out, n);
  vector<uint64_t> want;
  for (const uint64_t x : a) {
    const auto s32 = static_cast<int32_t>(x);
    const auto u32 = static_cast<uint32_t>(x);
    const auto s64 = static_cast<int64_t>(x);
    for (const Round m : kModes) want.push_back(bits_of(soft_from_s64<float>(s32, m)));
    for (const Round m : kModes) want.push_back(bits_of(soft_from_u64<float>(u32, m)));
    for (const Round m : kModes) want.push_back(bits_of(soft_from_s64<float>(s64, m)));
    for (const Round m : kModes) want.push_back(bits_of(soft_from_u64<float>(x, m)));
  }
  expect_bits("integer_to_f32", out.read(), want,
              [&](uint64_t i) { return text_of(a[i / 16]) + " result " + std::to_string(i % 16); });
}

TEST(Convert, IntegerToF64) {
  const auto a = rounding_integers();
  const auto n = static_cast<uint32_t>(a.size());
  Buffer<uint64_t> in(session(), a), out(session(), 10 * n);
  kernels().run("integer_to_f64", cover(n), in, out, n);
  vector<uint64_t> want;
  for (const uint64_t x : a) {
    const auto s64 = static_cast<int64_t>(x);
    want.push_back(bits_of(static_cast<double>(static_cast<int32_t>(x))));
    want.push_back(bits_of(static_cast<double>(static_cast<uint32_t>(x))));
    for (const Round m : kModes) want.push_back(bits_of(soft_from_s64<double>(s64, m)));
    for (const Round m : kModes) want.push_back(bits_of(soft_from_u64<double>(x, m)));
  }
  expect_bits("integer_to_f64", out.read(), want,
              [&](uint64_t i) { return text_of(a[i / 10]) + " result " + std::to_string(i % 10); });
}

TEST(Convert, F64ToF32) {
  auto a = mixed_f64(1000, 5);
  for (const float x : mixed_f32(2000, 6)) {  // about each float: just below, above, and halfway
    const auto wide = static_cast<double>(x);
    const auto next = static_cast<double>(std::nextafter(x, 2 * x));
    a.insert(a.end(), {wide, std::nextafter(wide, 0.0), std::nextafter(wide, 2 * wide),
                       wide + (next - wide) / 2});
  }
  const auto n = static_cast<uint32_t>(a.size());
  Buffer<double> in(session(), a);
  Buffer<uint64_t> out(session(), 4 * n);
  kernels().run("f64_to_f32", cover(n), in, out, n);
  const auto raw = out.read();
  vector<float> got, want;
  for (const uint64_t bits : raw) got.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  for (const double x : a) {
    for (const Round mode : kModes) want.push_back(soft_narrow(x, mode));
  }
  expect_values("f64_to_f32", got, want,
                [&](uint64_t i) { return text_of(a[i / 4]) + " result " + std::to_string(i % 4); });
}

TEST(Convert, F32ToF64) {
  const auto a = mixed_f32(3000, 7);
  const auto n = static_cast<uint32_t>(a.size());
  Buffer<float> in(session(), a);
  Buffer<double> out(session(), n);
  kernels().run("f32_to_f64", cover(n), in, out, n);
  expect_values("f32_to_f64", out.read(), cast_all<double>(a));
}

TEST(Convert, NansFromAndToF64KeepSignAndPayload) {
  Buffer<uint64_t> out(session(), 6);
  kernels().run("nans_from_and_to_f64", Shape{}, 0.0f, 0.0, out);
  const vector<uint64_t> want{0x7fffffffe0000000, 0xffc00000,         0xfff8000000000000,
                              0xfff8000000000000, 0xfff8000000000000, 0x7fffffff};
  EXPECT_EQ(out.read(), want);
}

TEST(Convert, IntegerWidths) {
  const auto a = mixed_u64(2000, 8);
  const auto n = static_cast<uint32_t>(a.size());
  Buffer<uint64_t> in(session(), a), out(session(), 8 * n);
  kernels().run("integer_widths", cover(n), in, out, n);
  vector<uint64_t> want;
  const auto extend = [](uint64_t x, int bits) {  // sign extension by arithmetic
    const uint64_t low = x & ((uint64_t{1} << bits) - 1), sign = uint64_t{1} << (bits - 1);
    return (low ^ sign) - sign;
  };
  for (const uint64_t x : a) {
    want.insert(want.end(),
                {extend(x, 8), x & 0xFF, extend(x, 16), x & 0xFFFF, extend(x, 32), x & 0xFFFFFFFF,
                 extend(x >> 13, 8) & 0xFFFFFFFF, extend(x >> 29, 8) & 0xFFFF});
  }
  expect_bits("integer_widths", out.read(), want);
}

TEST(Convert, Pixels) {
  const uint32_t n = 70001;
  const auto in_values = cast_all<uint8_t>(random_u32(n, 9));
  const float gain = 1.37f;
  Buffer<uint8_t> in(session(), in_values), out(session(), n);
  kernels().run("pixels", cover(n, 256), in, out, gain, n);
  vector<uint8_t> want;
  for (const uint8_t x : in_values) {
    want.push_back(static_cast<uint8_t>(std::clamp(x * gain + 0.5f, 0.0f, 255.0f)));
  }
  expect_bits("pixels", out.read(), want);
}

TEST(Convert, ShortAudio) {
  const uint32_t n = 5003;
  const auto in_values = cast_all<int16_t>(random_u32(n, 10));
  const float gain = -1.7f;
  Buffer<int16_t> in(session(), in_values), out(session(), n);
  kernels().run("short_audio", cover(n, 64), in, out, gain, n);
  vector<int16_t> want;
  for (const int16_t x : in_values) {
    const float value = std::clamp(std::nearbyint(x * gain), -32768.0f, 32767.0f);
    want.push_back(static_cast<int16_t>(value));
  }
  expect_bits("short_audio", out.read(), want);
}

}  // namespace
}  // namespace km::kernels
