// Instructions that came with sm_100. The device has to say capability 10.0: CMake sets KM_CPU_CC
// for groups of this name.
#include <bit>
#include <iterator>

#include <gtest/gtest.h>

#include "harness/compare.h"
#include "harness/inputs.h"
#include "harness/session.h"

namespace km::kernels {
namespace {

using std::vector;

/// True if the device runs sm_100a, which is of capability 10.0 alone.
bool is_newer_device() {
  session();  // sets what CPU devices say
  km_device device{};
  require(km_device_open(device_uri().c_str(), &device), "km_device_open");
  km_device_info info{};
  info.struct_size = sizeof info;
  require(km_device_info_get(device, &info), "km_device_info_get");
  require(km_device_destroy(device), "km_device_destroy");
  return info.compute_capability_major == 10 && info.compute_capability_minor == 0;
}

#define KM_NEEDS_SM_100() \
  if (!is_newer_device()) GTEST_SKIP() << "KM_CPU_CC=10.0 runs it"

Module& kernels() { return session().ptx_file("sm_100a.ptx"); }

TEST(Sm100, RowsOf32Bytes) {
  KM_NEEDS_SM_100();
  const uint32_t n = 70, words = 8;
  const vector<uint32_t> in = random_u32(n * words, 1);
  Buffer<uint32_t> source(session(), in), out(session(), n * 4 * words);
  kernels().run("wide_rows", Shape{{1}, {n}}, source, out);
  vector<uint32_t> want;
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t *row = &in[i * words], *other = &in[(n - 1 - i) * words];
    for (uint32_t k = 0; k < words; ++k) want.push_back(row[words - 1 - k]);
    want.insert(want.end(), {other[0], other[1], 17, 0, other[4], other[5], other[6], other[7]});
    want.insert(want.end(), {0x3f800000, in[1], 0x40000000, in[3], in[4], in[5], in[6], in[7]});
    for (uint32_t k = 0; k < words; k += 2) {
      want.insert(want.end(), {row[words - 2 - k], row[words - 1 - k]});
    }
  }
  expect_bits("wide_rows", out.read(), want);
}

constexpr uint32_t kNan = 0x7fffffff;

bool is_nan(uint32_t bits) { return (bits & 0x7fffffff) > 0x7f800000; }

/// An order of all numbers in which -0 is less than +0.
int64_t order_of(uint32_t bits) {
  const int64_t magnitude = bits & 0x7fffffff;
  return bits >> 31 ? -magnitude - 1 : magnitude;
}

uint32_t extreme(const uint32_t* first, uint32_t count, bool maximum, bool absolute, bool nan) {
  uint32_t result = kNan;
  for (uint32_t i = 0; i < count; ++i) {
    if (is_nan(first[i])) {
      if (nan) return kNan;
      continue;
    }
    const uint32_t bits = absolute ? first[i] & 0x7fffffff : first[i];
    const bool better =
        maximum ? order_of(bits) > order_of(result) : order_of(bits) < order_of(result);
    if (is_nan(result) || better) result = bits;
  }
  return result;
}

void check_extremes(const vector<uint32_t>& in, uint32_t group) {
  const uint32_t low = group == 16 ? 0xffff : ~0u, high = group == 16 ? 0xffff0000 : ~0u;
  Buffer<uint32_t> source(session(), in), out(session(), 32 * 8);
  kernels().run("real_extremes", Shape{{1}, {32}}, source, out, low, high);
  vector<uint32_t> want;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const uint32_t* first = &in[lane / group * group];
    for (const bool absolute : {false, true}) {
      for (const bool nan : {false, true}) {
        for (const bool maximum : {false, true}) {
          want.push_back(extreme(first, group, maximum, absolute, nan));
        }
      }
    }
  }
  expect_bits("real_extremes", out.read(), want);
  Buffer<uint32_t> both(session(), 64);
  kernels().run("real_extremes_of_warp", Shape{{1}, {32}}, source, both);
  want.clear();
  for (uint32_t lane = 0; lane < 32; ++lane) {
    want.push_back(extreme(in.data(), 32, false, false, false));
    want.push_back(extreme(in.data(), 32, true, true, true));
  }
  expect_bits("real_extremes_of_warp", both.read(), want);
}

TEST(Sm100, ExtremesOfReals) {
  KM_NEEDS_SM_100();
  vector<uint32_t> values = random_u32(32, 2);
  for (uint32_t& bits : values) {
    if (is_nan(bits)) bits &= 0xff7fffff;
  }
  for (const uint32_t group : {32u, 16u}) check_extremes(values, group);
  values[5] = 0xffc12345;
  for (const uint32_t group : {32u, 16u}) check_extremes(values, group);
  for (uint32_t i = 0; i < 16; ++i) values[i] = 0x7f800001 + i;
  for (const uint32_t group : {32u, 16u}) check_extremes(values, group);
  for (uint32_t i = 0; i < 32; ++i) values[i] = i % 3 == 1 ? 0x80000000 : 0;
  for (const uint32_t group : {32u, 16u}) check_extremes(values, group);
  check_extremes(vector<uint32_t>(32, 0x7fc00000), 32);
}

struct Narrowed {
  uint32_t first, second;  // f32
  // e2m1 | e2m3, e3m2 | ue8m0 down, ue8m0 up | e2m1 of random bits, f16x2, bf16x2, four of e4m3 and
  // two f16 and two bf16 of random bits.
  uint32_t results[8];
};

// The random bits 0x80000001: the upper pair's second number rounds up from a half on, the lower
// pair's first one, which takes its bits in reverse, does too.
constexpr Narrowed kNarrowed[] = {
    {0x3f880000,
     0x3fa00000,  // 1.0625 and 1.25
     {0x080a0022, 0x7f7f0c0d, 0x23328080, 0x3c003c00, 0x3f803f80, 0x38393938, 0x3c403d00,
      0x3f883fa0}},
    {0x40e00000,
     0xc0e00000,  // 7 and -7: beyond e2m1
     {0x1e3e007f, 0x81811700, 0xffff8282, 0x4600c600, 0x40804080, 0x4e4e4e4e, 0x4700c700,
      0x40e0c0e0}},
    {0x7fc00000,
     0xff800000,  // NaN and -infinity
     {0x1f3f007f, 0xffff1f00, 0xfffffffe, 0x4600c600, 0x7fff7fff, 0x7f7f7f7f, 0x7ffffc00,
      0x7fffff7f}},
};

TEST(Sm100, NarrowNumbers) {
  KM_NEEDS_SM_100();
  vector<float> pairs;
  vector<uint32_t> want;
  for (const Narrowed& row : kNarrowed) {
    pairs.push_back(std::bit_cast<float>(row.first));
    pairs.push_back(std::bit_cast<float>(row.second));
    want.insert(want.end(), std::begin(row.results), std::end(row.results));
  }
  const uint32_t n = std::size(kNarrowed), random = 0x80000001;
  Buffer<float> in(session(), pairs);
  Buffer<uint32_t> out(session(), 8 * n);
  kernels().run("narrow", Shape{{1}, {n}}, in, out, random);
  expect_bits("narrow", out.read(), want);
}

TEST(Sm100, Fills) {
  KM_NEEDS_SM_100();
  for (const uint32_t size : {0u, 8u, 64u}) {
    Buffer<uint32_t> out(session(), 64);
    kernels().run("fill", Shape{{1}, {64}}, out, size);
    vector<uint32_t> want(64, ~0u);
    for (uint32_t i = 2; i < 6; ++i) want[i] = 0;
    for (uint32_t i = 0; i < size / 4; ++i) want[16 + i] = want[48 + i] = 0;
    expect_bits("fill", out.read(), want);
  }
}

TEST(Sm100, AsyncStoresAndSums) {
  KM_NEEDS_SM_100();
  const uint32_t n = 40;
  Buffer<uint64_t> out(session(), vector<uint64_t>(2 * n + 2 + n, 7));
  kernels().run("async_global", Shape{{1}, {n}}, out);
  vector<uint64_t> want;
  uint64_t sum = 0;
  for (uint64_t i = 0; i < n; ++i) {
    want.insert(want.end(), {(3 * i) << 32 | 3 * i, -(3 * i)});
    sum += 3 * i;
  }
  want.insert(want.end(), {uint64_t{0xffffffff & (0 - n)} << 32 | (7 + sum), 7 + sum});
  for (uint64_t i = 0; i < n; ++i) want.push_back(7 - 3 * i);
  expect_bits("async_global", out.read(), want);
}

TEST(Sm100, EveryBlockIsCountedOnce) {
  KM_NEEDS_SM_100();
  const uint32_t width = 7, height = 5;
  Buffer<uint32_t> out(session(), vector<uint32_t>(width * height, 0));
  kernels().run("take_over", Shape{{width, height}, {64}}, out);
  expect_bits("take_over", out.read(), vector<uint32_t>(width * height, 1));
}

TEST(Sm100, EveryClusterIsCountedOnce) {
  KM_NEEDS_SM_100();
  const uint32_t blocks = 12;
  Buffer<uint32_t> out(session(), vector<uint32_t>(blocks, 0));
  kernels().run("take_over_clusters", Shape{{blocks}, {32}}, out);
  expect_bits("take_over_clusters", out.read(), vector<uint32_t>(blocks, 1));
}

}  // namespace
}  // namespace km::kernels
