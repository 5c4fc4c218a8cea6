// PTX written by hand: forms that NVRTC never emits.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

#include <gtest/gtest.h>

#include "harness/compare.h"
#include "harness/inputs.h"
#include "harness/session.h"

namespace km::kernels {
namespace {

using std::vector;

Module& predicated() { return session().ptx_file("predicated.ptx"); }
Module& control_flow() { return session().ptx_file("control_flow.ptx"); }
Module& barriers() { return session().ptx_file("barriers.ptx"); }
Module& memory() { return session().ptx_file("memory.ptx"); }
Module& calls() { return session().ptx_file("calls.ptx"); }

vector<uint32_t> small_values(uint32_t n, uint64_t seed, uint32_t below) {
  auto values = random_u32(n, seed);
  for (uint32_t& value : values) value %= below;
  return values;
}

uint32_t guarded(uint32_t x) {
  const bool p = x % 4 == 1;
  uint32_t y = p ? 100 + x : (100 - x) ^ 0x5A5A;
  const bool positive = static_cast<int32_t>(y) > 0;
  // setp p|q with .and: p is the comparison and q, q the negated comparison and q.
  const bool both = positive && !p, neither = !positive && !p;
  if (both) y <<= 1;
  uint32_t z = neither ? y : ~y;
  if (both) z = z * 2 + x;
  return z;
}

TEST(Ptx, GuardedInstructions) {
  const uint32_t n = 300;
  const auto values = random_u32(n, 1);
  Buffer<uint32_t> in(session(), values), out(session(), n);
  predicated().run("guarded", cover(n, 64), in, out, n);
  vector<uint32_t> want;
  for (const uint32_t x : values) want.push_back(guarded(x));
  expect_bits("guarded", out.read(), want, [&](uint64_t i) { return text_of(values[i]); });
}

TEST(Ptx, GuardedResults) {
  const uint32_t n = 40;
  vector<uint32_t> values = random_u32(n, 3);
  for (uint32_t i = 0; i < n; i += 3) values[i] = 0xffc12345u + i;  // NaNs
  for (uint32_t i = 1; i < n; i += 3) values[i] = 0xbf800000u;      // -1: a NaN is made
  for (const uint32_t flag : {0u, 9u}) {
    Buffer<uint32_t> in(session(), values), out(session(), 5 * n);
    session()
        .ptx_file("guarded_results.ptx")
        .run("guarded_results", Shape{{1}, {n}}, in, out, flag);
    vector<uint32_t> want;
    for (uint32_t i = 0; i < n; ++i) {
      const float x = std::bit_cast<float>(values[i]), root = std::sqrt(x);
      const uint32_t made = std::isnan(root) ? 0x7fffffffu : std::bit_cast<uint32_t>(root);
      want.push_back(i % 2 == 0 ? made : values[i]);
      want.push_back(0x3f800000u | (made & 0x80000000u));
      want.insert(want.end(), {i, flag ? flag : 7, flag ? flag : i});
    }
    expect_bits("guarded_results", out.read(), want);
  }
}

TEST(Ptx, GuardedReturns) {
  const uint32_t n = 90;
  auto values = cast_all<int32_t>(small_values(n, 2, 100));
  for (int32_t& value : values) value -= 30;
  Buffer<int32_t> in(session(), values), out(session(), n);
  predicated().run("leaving", Shape{{1}, {n}}, in, out);
  vector<int32_t> want;
  for (const int32_t x : values) want.push_back(x < 0 ? 1 : x % 3 == 0 ? 2 : x % 3 == 1 ? 3 : 4);
  expect_bits("leaving", out.read(), want);
}

TEST(Ptx, ComparisonsOfExtendedNumbers) {
  const vector<int32_t> values{3, -4, 0, 7, -1, INT32_MIN, 5, INT32_MAX, 4, -3};
  const auto n = static_cast<uint32_t>(values.size());
  Buffer<int32_t> in(session(), values);
  Buffer<uint32_t> out(session(), n);
  predicated().run("extended_comparisons", Shape{{1}, {n}}, in, out);
  vector<uint32_t> want;
  for (const int32_t x : values) {
    want.push_back((x < 0 ? 1 : 0) | (x < -3 ? 2 : 0) | (x < 3 ? 4 : 8) | (x <= 3 ? 16 : 0) |
                   (x == 4 || x == -4 ? 32 : 0) | (x < 0 ? 64 : 0) | (x == -4 ? 128 : 0));
  }
  expect_bits("extended_comparisons", out.read(), want);
}

TEST(Ptx, PredicateLogic) {
  const uint32_t n = 128;
  const auto a = small_values(n, 3, 4), b = small_values(n, 4, 14);
  Buffer<uint32_t> in_a(session(), a), in_b(session(), b), out(session(), n);
  predicated().run("predicate_logic", Shape{{1}, {n}}, in_a, in_b, out);
  vector<uint32_t> want;
  for (uint32_t i = 0; i < n; ++i) {
    const bool p1 = a[i] < b[i], p2 = a[i] != 0;
    want.push_back((p1 && p2 ? 1 : 0) | (p1 || p2 ? 2 : 0) | (p1 != p2 ? 4 : 0) | (!p1 ? 8 : 0) |
                   (b[i] >= 10 || p1 ? 16 : 0));
  }
  expect_bits("predicate_logic", out.read(), want);
}

uint32_t loop_with_exits(uint32_t x) {
  uint32_t sum = 0;
  for (uint32_t count = 1;; ++count) {
    if (x % 8 == 7) return sum + count;
    x >>= 1;
    sum += x;
    if (x % 2 == 1) {
      if (count > 40) return (sum + 1000) * 3;
      x += count;
      continue;
    }
    x ^= 0x55;
    if (count >= 30) return (sum + 500) * 3;
  }
}

TEST(Ptx, LoopWithExits) {
  const uint32_t n = 512;
  auto values = random_u32(n, 5);
  for (uint32_t i = 0; i < n; i += 3) values[i] >>= 20;
  Buffer<uint32_t> in(session(), values), out(session(), n);
  control_flow().run("exits", Shape{{1}, {n}}, in, out);
  vector<uint32_t> want;
  for (const uint32_t x : values) want.push_back(loop_with_exits(x));
  expect_bits("exits", out.read(), want, [&](uint64_t i) { return text_of(values[i]); });
}

uint32_t crossing(uint32_t x) {
  const bool p = (x & 64) != 0;
  uint32_t y = x & 63;
  enum class Block { a, b, c, d, end };
  Block at = p ? Block::a : y < 20 ? Block::b : Block::c;
  while (at != Block::end) {
    switch (at) {
      case Block::a:
        y ^= 3;
        at = (y & 4) == 0 ? Block::c : Block::b;
        break;
      case Block::b:
        y += 17;
        at = p ? Block::d : Block::c;
        break;
      case Block::c:
        y *= 5;
        at = y > 200 ? Block::d : Block::end;
        break;
      default:
        y += 1000;
        at = Block::end;
    }
  }
  return y;
}

TEST(Ptx, CrossingBranches) {
  const uint32_t n = 256;
  vector<uint32_t> values(n), want;
  std::iota(values.begin(), values.end(), 0);
  Buffer<uint32_t> in(session(), values), out(session(), n);
  control_flow().run("crossing", Shape{{1}, {n}}, in, out);
  for (const uint32_t x : values) want.push_back(crossing(x));
  expect_bits("crossing", out.read(), want);
}

/// What follows the second loop has the lanes that came before the first.
TEST(Ptx, LoopsInARow) {
  const uint32_t n = 100;
  vector<uint32_t> values(n), want;
  std::iota(values.begin(), values.end(), 0);
  Buffer<uint32_t> in(session(), values), out(session(), n);
  control_flow().run("loops_in_a_row", Shape{{1}, {n}}, in, out);
  for (const uint32_t x : values) want.push_back(x % 2 == 0 ? 7 : 100 * (x % 5) + x % 3);
  expect_bits("loops_in_a_row", out.read(), want);
}

TEST(Ptx, PartsThatIterationsSkip) {
  const uint32_t n = 256;
  const auto seeds = random_u32(n, 41);
  Buffer<uint32_t> in(session(), seeds), out(session(), 2 * n);
  control_flow().run("skipped_parts", Shape{{1}, {n}}, in, out);
  vector<uint32_t> want;
  for (uint32_t x : seeds) {
    uint32_t tries = 0, kept = 0;
    do {
      x = x * 1664525 + 1013904223;
      ++tries;
      if ((x & 0x30000000) == 0) kept += x >> 8;
    } while ((x & 0x37000000) != 0);
    want.insert(want.end(), {tries, kept});
  }
  expect_bits("skipped_parts", out.read(), want);
}

TEST(Ptx, BarrierThatIterationsSkip) {
  const uint32_t n = 64;
  Buffer<uint32_t> data(session(), n);
  control_flow().run("skipped_barrier", Shape{{1}, {n}}, data);
  vector<uint32_t> want;
  for (uint32_t i = 0; i < n; ++i) want.push_back(i ^ 1);
  expect_bits("skipped_barrier", data.read(), want);
}

TEST(Ptx, UniformLoopWithBarriers) {
  const uint32_t n = 64, rounds = 9;
  auto want = random_u32(n, 6);
  Buffer<uint32_t> data(session(), want);
  control_flow().run("uniform", Shape{{1}, {n}}, data, rounds);
  for (uint32_t k = 0; k < rounds; ++k) {
    auto stepped = want;
    for (uint32_t& x : stepped) {
      for (uint32_t m = x % 4; m != 0; --m) x = x * 5 + 1;
    }
    for (uint32_t i = 0; i < n; ++i) want[i] = stepped[i] + stepped[i ^ 1];
  }
  expect_bits("uniform", data.read(), want);
}

TEST(Ptx, BarriersOfSomeWarps) {
  const uint32_t n = 128;
  const auto values = random_u32(n, 7);
  Buffer<uint32_t> data(session(), values);
  barriers().run("pairs_of_warps", Shape{{1}, {n}}, data);
  vector<uint32_t> first(n), want(n);
  for (uint32_t t = 0; t < n; ++t) first[t] = t < 64 ? values[t ^ 63] : values[t ^ 32] * 3;
  for (uint32_t t = 0; t < n; ++t) want[t] = first[t] + first[t ^ 64];
  expect_bits("pairs_of_warps", data.read(), want);
}

TEST(Ptx, ProducerAndConsumer) {
  const uint32_t rounds = 20;
  const auto values = random_u32(32 * rounds, 8);
  Buffer<uint32_t> in(session(), values), out(session(), 32 * rounds);
  barriers().run("producer_consumer", Shape{{1}, {64}}, in, out, rounds);
  vector<uint32_t> want;
  for (uint32_t i = 0; i < 32 * rounds; ++i) want.push_back(values[i] * 7 ^ i / 32);
  expect_bits("producer_consumer", out.read(), want);
}

TEST(Ptx, DeadlocksAtNumberedBarriersEnd) {
  KM_NEEDS_FAULTS();
  Session own;
  EXPECT_EQ(own.ptx_file("barriers.ptx").try_run("waits_apart", Shape{{3}, {64}}),
            KM_ERROR_LAUNCH_FAILED);
  EXPECT_NE(last_error_message().find("deadlock: "), std::string::npos) << last_error_message();
}

TEST(Ptx, EndedThreadsArriveIfNoneCanGoOn) {
  Buffer<uint32_t> out(session(), 32);
  barriers().run("waits_for_the_ended", Shape{{1}, {64}}, out);
  expect_bits("waits_for_the_ended", out.read(), vector<uint32_t>(32, 7));
}

TEST(Ptx, ShrinkingBlock) {
  const auto values = random_u32(128, 9);
  Buffer<uint32_t> data(session(), values);
  barriers().run("shrinking", Shape{{1}, {128}}, data);
  auto want = values;
  for (uint32_t t = 0; t < 64; t += 2) {
    want[t] = values[t] + values[t + 1] + values[t + 64] + values[t + 65];
  }
  expect_bits("shrinking", data.read(), want);
}

TEST(Ptx, ReducingBarriers) {
  for (const uint32_t n : {32u, 80u, 256u}) {
    for (const uint32_t below : {40u, 60u, 100u}) {
      auto values = small_values(n, 10, below);
      if (below == 60)
        std::transform(values.begin(), values.end(), values.begin(), [](auto x) { return x + 51; });
      Buffer<uint32_t> in(session(), values), out(session(), n);
      barriers().run("reducing", Shape{{1}, {n}}, in, out);
      const auto count = static_cast<uint32_t>(
          std::count_if(values.begin(), values.end(), [](uint32_t x) { return x > 50; }));
      const uint32_t want = count | (count == n ? 0x10000u : 0) | (count > 0 ? 0x20000u : 0);
      expect_bits("reducing", out.read(), vector<uint32_t>(n, want));
    }
  }
}

vector<uint32_t> choose(vector<uint32_t> values) {
  vector<uint32_t> chosen(values.size());
  for (uint32_t round = 0; round < 5; ++round) {
    const vector<uint32_t> words = values;
    for (uint32_t t = 0; t < values.size(); ++t) {
      chosen[t] = words[((t + round) & 2) == 0 ? t : t ^ 1];
      values[t] = values[t] * 5 + chosen[t];
    }
  }
  for (uint32_t t = 0; t < values.size(); ++t) chosen[t] = chosen[t] * 3 + 5 * (t & 3);
  return chosen;
}

TEST(Ptx, ChoicesBetweenLoadsLiveOverBarriers) {
  for (const uint32_t n : {32u, 64u, 96u, 256u}) {
    const auto values = random_u32(n, 11);
    Buffer<uint32_t> in(session(), values), out(session(), n);
    barriers().run("choosing", Shape{{1}, {n}}, in, out);
    expect_bits("choosing", out.read(), choose(values));
  }
}

/// A thread goes in the round of the number in `leaves`, the others while the count is above 20.
vector<uint32_t> count_in_rounds(const vector<uint32_t>& values, const vector<uint32_t>& leaves) {
  vector<uint32_t> out(values.size());
  vector<bool> here(values.size(), true);
  for (uint32_t round = 1;; ++round) {
    uint32_t count = 0;
    for (size_t t = 0; t < values.size(); ++t) {
      count += here[t] && values[t] > round ? 1 : 0;
      if (leaves[t] == round) here[t] = false;
    }
    if (count > 20) continue;
    for (size_t t = 0; t < values.size(); ++t) out[t] = here[t] ? count * 100 + round : 0;
    return out;
  }
}

TEST(Ptx, CountsOfBarriersInLoopsThatThreadsLeave) {
  for (const uint32_t n : {64u, 96u, 160u, 256u}) {
    const auto values = small_values(n, 12 + n, 9);
    vector<uint32_t> warps, lanes;
    for (uint32_t t = 0; t < n; ++t) warps.push_back(t / 32), lanes.push_back(t % 16);
    const vector<uint32_t> none(n);
    Buffer<uint32_t> in(session(), values), out(session(), none), of_lanes(session(), none);
    barriers().run("counting_of_warps", Shape{{1}, {n}}, in, out);
    expect_bits("counting_of_warps", out.read(), count_in_rounds(values, warps));
    barriers().run("counting_of_lanes", Shape{{1}, {n}}, in, of_lanes);
    expect_bits("counting_of_lanes", of_lanes.read(), count_in_rounds(values, lanes));
  }
}

TEST(Ptx, InitialisedVariables) {
  Buffer<int32_t> out(session(), 9);
  memory().run("initialised", Shape{{1}, {1}}, out);
  const auto bits = [](float value) { return static_cast<int32_t>(bits_of(value)); };
  expect_bits("initialised", out.read(),
              vector<int32_t>{-2, 300, 1000, 100000, 0x4D, -1, bits(0.5f), bits(-1500.0f), 5});
}

TEST(Ptx, Scopes) {
  Buffer<uint32_t> out(session(), 80);
  memory().run("scopes", Shape{{1}, {40}}, out);
  vector<uint32_t> want;
  for (uint32_t i = 0; i < 40; ++i) want.insert(want.end(), {i, 1010});
  expect_bits("scopes", out.read(), want);
}

TEST(Ptx, Vectors) {
  const uint32_t n = 96;
  auto values = random_u32(4 * n, 11);
  values[0] = 0xFFFFFFFF;  // the carry goes into the other half
  Buffer<uint32_t> in(session(), values), out(session(), 4 * n);
  memory().run("vectors", Shape{{1}, {n}}, in, out);
  // Threads write 16 bytes each, as they read them.
  vector<uint32_t> want;
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t* v = &values[4 * i];
    const uint64_t pair = (uint64_t{v[3]} << 32 | v[0]) + 1;
    want.insert(want.end(), {static_cast<uint32_t>(pair), static_cast<uint32_t>(pair >> 32), v[2],
                             v[1] << 16 | v[1] >> 16});
  }
  expect_bits("vectors", out.read(), want);
}

TEST(Ptx, GenericAddresses) {
  const uint32_t n = 64;
  const auto values = random_u32(n, 12);
  Buffer<uint32_t> in(session(), values), out(session(), n);
  memory().run("generic", Shape{{1}, {n}}, in, out);
  vector<uint32_t> want;
  for (uint32_t i = 0; i < n; ++i) want.push_back((values[i] + values[i] + i) * 64 + 7);
  expect_bits("generic", out.read(), want);
}

TEST(Ptx, Widths) {
  const uint32_t n = 77;
  const auto bytes = cast_all<uint8_t>(random_u32(8 * n, 13));
  Buffer<uint8_t> in(session(), bytes);
  Buffer<uint32_t> out(session(), 8 * n);
  memory().run("widths", Shape{{1}, {n}}, in, out);
  vector<uint32_t> want;
  for (uint32_t i = 0; i < n; ++i) {
    const uint8_t* b = &bytes[8 * i];
    const uint32_t half = b[2] | b[3] << 8;
    int32_t word = 0;
    std::memcpy(&word, b + 4, 4);
    const int64_t sum = int64_t{static_cast<int8_t>(b[5])} + word;
    const auto wide = static_cast<uint64_t>(sum);
    const auto signed_half = static_cast<uint32_t>(static_cast<int16_t>(half));
    want.insert(want.end(),
                {b[0], static_cast<uint32_t>(static_cast<int8_t>(b[1])), half, signed_half,
                 static_cast<uint32_t>(wide), static_cast<uint32_t>(wide >> 32),
                 (signed_half & 0xFF) << 8 | uint32_t{b[7]} << 16, static_cast<uint32_t>(word)});
  }
  expect_bits("widths", out.read(), want);
}

TEST(Ptx, SumsOfWideProducts) {
  const uint32_t n = 64, more = 30;
  const auto values = random_u32(2 * n, 14);
  Buffer<uint32_t> in(session(), values), out(session(), n);
  memory().run("wide_sums", Shape{{1}, {n}}, in, out, more);
  vector<uint32_t> want;
  for (uint32_t i = 0; i < n; ++i) want.push_back(values[i + more + 3] * 3 + values[i + more]);
  expect_bits("wide_sums", out.read(), want);
}

TEST(Ptx, Parameters) {
  struct {
    uint32_t unused, a;
    int16_t odd, b;
    uint32_t padding;
    uint64_t wide;
  } structure{1, 20, 3, -7, 0, 0xFFFFFFFF00000005u};
  static_assert(sizeof structure == 24);
  Buffer<uint32_t> out(session(), 40);
  const uint64_t shared = 400;
  memory().run("parameters", Shape{{1}, {40}, shared}, structure, out, uint8_t{9}, -3.75);
  const uint32_t third = 20 - 7 + 9000 + 5 - 3 + 3;
  expect_bits("parameters", out.read(), vector<uint32_t>(40, third + 400));
}

// As LLVM writes it where addresses of parameters have 32 bits.
constexpr const char* kShortAddresses = R"(.version 8.0
.target sm_70
.address_size 64
.visible .entry short_addresses(.param .u64 out, .param .align 64 .b8 words[128])
{
  .reg .b32 %r<8>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [out];
  mov.b32 %r1, words;
  cvt.u64.u32 %rd2, %r1;
  cvta.param.u64 %rd3, %rd2;
  ld.u32 %r2, [%rd3+4];
  ld.param.u32 %r3, [%r1+8];
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r4, 4, %r1;
  ld.param.u32 %r6, [%r5];
  cvt.u64.u32 %rd4, %r5;
  cvta.param.u64 %rd5, %rd4;
  ld.u32 %r7, [%rd5+64];
  mad.wide.u32 %rd1, %r4, 16, %rd1;
  st.global.v4.u32 [%rd1], {%r2, %r3, %r6, %r7};
  ret;
}
)";

TEST(Ptx, ShortAddressesOfParameters) {
  struct Words {
    std::array<uint32_t, 32> at;
  } words{};
  std::iota(words.at.begin(), words.at.end(), 100);
  const auto module = session().ptx_text(kShortAddresses, "short_addresses");
  Buffer<uint32_t> out(session(), 64);
  module->run("short_addresses", Shape{{1}, {16}}, out, words);
  vector<uint32_t> want;
  for (uint32_t i = 0; i < 16; ++i) want.insert(want.end(), {101, 102, 100 + i, 116 + i});
  expect_bits("short_addresses", out.read(), want);
}

TEST(Ptx, Calls) {
  const uint32_t n = 64;
  auto a = random_u32(n, 14), b = small_values(n, 15, 1000);
  b[5] = 0;
  a[5] |= 1;
  Buffer<uint32_t> in_a(session(), a), in_b(session(), b), out(session(), 6 * n);
  calls().run("calling", Shape{{1}, {n}}, in_a, in_b, out);
  vector<uint32_t> want;
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t divisor = std::max(b[i], 1u), q = a[i] / divisor, r = a[i] % divisor;
    const uint64_t sum = uint64_t{q} + r;
    const bool odd = a[i] % 2 == 1;
    want.insert(want.end(), {q, r, static_cast<uint32_t>(sum), static_cast<uint32_t>(sum >> 32),
                             odd ? std::gcd(a[i], b[i]) : 0xFFFFFFFFu, odd ? 1u : 0u});
  }
  expect_bits("calling", out.read(), want);
}

TEST(Ptx, CallsInRegisters) {
  const uint32_t n = 128;
  const auto x = random_f32(n, 16, -2.0f, 2.0f);
  Buffer<float> in(session(), x), out(session(), n);
  calls().run("polynomials", Shape{{1}, {n}}, in, out);
  vector<float> want;
  for (uint32_t i = 0; i < n; ++i) {
    float y = 1.0f;
    for (uint32_t k = 0; k < i % 8; ++k) y = std::fma(y, x[i], 0.5f);
    want.push_back(y);
  }
  expect_bits("polynomials", out.read(), want);
}

/// Both copies of the function count in the same variable.
TEST(Ptx, FunctionVariables) {
  KM_NEEDS_FAULTS();
  const uint32_t n = 50;
  Session own;
  auto& module = own.ptx_file("function_memory.ptx");
  Buffer<uint32_t> out(own, 2 * n);
  module.run("count", Shape{{1}, {n}}, out);
  auto got = out.read();
  for (uint32_t i = 0; i < n; ++i) got[2 * i] -= 9;  // squares[1]
  std::sort(got.begin(), got.end());
  vector<uint32_t> want;
  for (uint32_t i = 0; i < 2 * n; ++i) want.push_back(100 + 3 * i + 100);
  expect_bits("count", got, want);
}

TEST(Ptx, Stack) {
  const uint32_t n = 40;
  Buffer<uint64_t> out(session(), 2 * n);
  session().ptx_file("function_memory.ptx").run("stack", Shape{{1}, {n}}, out);
  vector<uint64_t> want;
  for (uint64_t t = 0; t < n; ++t) {
    uint64_t sum = 0;
    for (uint64_t k = 0; k < t; ++k) sum += t + k;
    want.push_back(60 * sum + t);
    want.push_back(t > 20 ? t : 5);
  }
  expect_bits("stack", out.read(), want);
}

TEST(Ptx, StackOverflow) {
  KM_NEEDS_FAULTS();
  Session own;
  Buffer<uint64_t> out(own, 1);
  EXPECT_EQ(own.ptx_file("function_memory.ptx").try_run("stack_overflow", Shape{{1}, {1}}, out),
            KM_ERROR_STACK_OVERFLOW);
}

TEST(Ptx, Hints) {
  const uint32_t n = 70;
  Buffer<uint32_t> out(session(), n);
  session().ptx_file("accepted.ptx").run("hints", Shape{{1}, {n}}, out);
  vector<uint32_t> want(n);
  std::iota(want.begin(), want.end(), 1000u);
  expect_bits("hints", out.read(), want);
}

template <class T>
void append(vector<uint8_t>& bytes, std::initializer_list<T> values) {
  const auto* first = reinterpret_cast<const uint8_t*>(values.begin());
  bytes.insert(bytes.end(), first, first + values.size() * sizeof(T));
}

/// 32 bytes of halves that are all alike.
void append_halves(vector<uint8_t>& bytes, uint16_t value) {
  for (int i = 0; i < 16; ++i) append(bytes, {value});
}

TEST(Ptx, BulkReductions) {
  vector<uint8_t> in, before, want;
  append(in, {1.f, 2.f, 3.f, 4.f, 5.f, 6.f, 7.f, std::bit_cast<float>(5u)});
  append(before, {.5f, .5f, .5f, .5f, .5f, .5f, .5f, 0.f});
  append(want, {1.5f, 2.5f, 3.5f, 4.5f, 5.5f, 6.5f, 7.5f, 0.f});
  append(in, {1., 2., 3., 4.});
  append(before, {.25, .25, .25, .25});
  append(want, {1.25, 2.25, 3.25, 4.25});
  append_halves(in, 0x3C00);  // 1 + 2 = 3
  append_halves(before, 0x4000);
  append_halves(want, 0x4200);
  append_halves(in, 0x3F80);  // the larger of 1 and -2
  append_halves(before, 0xC000);
  append_halves(want, 0x3F80);
  append<int64_t>(in, {-1, 2, -3, 4});
  append<int64_t>(before, {0, 0, -9, 9});
  append<int64_t>(want, {-1, 0, -9, 4});
  append<uint32_t>(in, {1, 2, 3, 4, 5, 6, 7, 8});
  append<uint32_t>(before, {3, 3, 3, 3, 3, 3, 3, 3});
  append<uint32_t>(want, {2, 1, 0, 7, 6, 5, 4, 11});
  append<uint32_t>(in, {1, 2, 3, 4, 5, 6, 7, 8});
  append<uint32_t>(before, {0, 1, 2, 3, 5, 6, 7, 9});
  append<uint32_t>(want, {1, 2, 3, 4, 0, 0, 0, 0});
  append<uint32_t>(in, {5, 5, 5, 5, 5, 5, 5, 5});
  append<uint32_t>(before, {0, 1, 6, 5, 1, 1, 1, 1});
  append<uint32_t>(want, {5, 0, 5, 4, 1, 1, 1, 1});
  Buffer<uint8_t> source(session(), in), target(session(), before);
  session().ptx_file("accepted.ptx").run("bulk_reductions", Shape{{1}, {1}}, source, target);
  expect_bits("bulk_reductions", target.read(), want);
}

TEST(Ptx, CopyBeyondSharedMemory) {
  KM_NEEDS_FAULTS();
  Session own;
  Buffer<uint8_t> in(own, 64);
  EXPECT_EQ(own.ptx_file("accepted.ptx").try_run("beyond_shared", Shape{{1}, {1}}, in),
            KM_ERROR_ILLEGAL_ADDRESS);
}

TEST(Ptx, ErrorsNameLineAndColumn) {
  const std::string text =
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n"
      "  .reg .b32 %r<2>;\n  add.rx.s32 %r1, %r1, 1;\n  ret;\n}\n";
  try {
    session().ptx_text(text, "wrong.ptx");
    ADD_FAILURE() << "loaded";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.status, KM_ERROR_INVALID_PTX);
    EXPECT_NE(std::string(failure.what()).find("wrong.ptx:7:"), std::string::npos)
        << failure.what();
  }
}

}  // namespace
}  // namespace km::kernels
