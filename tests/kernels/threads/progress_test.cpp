#include <algorithm>
#include <bit>
#include <numeric>

#include <gtest/gtest.h>

#include "harness/compare.h"
#include "harness/inputs.h"
#include "harness/session.h"

namespace km::kernels {
namespace {

using std::vector;

Module& kernels() { return session().cuda("threads/progress.cu"); }

template <class T>
vector<T> zeros(uint32_t n) {
  return vector<T>(n);
}

vector<int32_t> numbers(uint32_t n, uint64_t seed, uint32_t below) {
  auto values = random_u32(n, seed);
  vector<int32_t> result;
  for (const uint32_t value : values) result.push_back(static_cast<int32_t>(value % below));
  return result;
}

TEST(Progress, SpinLock) {
  Buffer<int32_t> lock(session(), zeros<int32_t>(1)), counter(session(), zeros<int32_t>(1));
  kernels().run("spin_lock", Shape{{5}, {70}}, lock, counter, int32_t{3});
  EXPECT_EQ(counter.read()[0], 5 * 70 * 3);
  EXPECT_EQ(lock.read()[0], 0);
}

TEST(Progress, LockWithFlag) {
  const uint32_t n = 96;
  Buffer<int32_t> lock(session(), zeros<int32_t>(1)), counter(session(), zeros<int32_t>(1)),
      order(session(), n);
  kernels().run("lock_with_flag", Shape{{1}, {n}}, lock, counter, order);
  auto places = order.read();
  std::sort(places.begin(), places.end());
  vector<int32_t> want(n);
  std::iota(want.begin(), want.end(), 0);
  EXPECT_EQ(places, want);
}

TEST(Progress, LanesInTurn) {
  for (const uint32_t n : {5u, 32u, 100u}) {
    Buffer<int32_t> out(session(), n);
    kernels().run("lanes_in_turn", Shape{{1}, {n}}, out);
    vector<int32_t> want;
    for (uint32_t i = 0; i < n; ++i) want.push_back(static_cast<int32_t>(n - 1 - i));
    EXPECT_EQ(out.read(), want);
  }
}

TEST(Progress, ProduceConsume) {
  const auto values = numbers(50, 1, 1000);
  for (const uint32_t threads : {2u, 32u, 64u}) {  // in one warp, and in two
    Buffer<int32_t> in(session(), values), out(session(), 50);
    kernels().run("produce_consume", Shape{{1}, {threads}}, in, out, int32_t{50});
    vector<int32_t> want;
    for (const int32_t value : values) want.push_back(2 * value);
    EXPECT_EQ(out.read(), want);
  }
}

TEST(Progress, ChainedScan) {
  const uint32_t blocks = 600;
  const auto values = numbers(blocks * 32, 2, 100);
  Buffer<int32_t> in(session(), values), out(session(), blocks * 32);
  Buffer<int32_t> sums(session(), zeros<int32_t>(blocks)), flags(session(), zeros<int32_t>(blocks));
  kernels().run("chained_scan", Shape{{blocks}, {32}}, in, out, sums, flags);
  vector<int32_t> want(values.size());
  std::partial_sum(values.begin(), values.end(), want.begin());
  EXPECT_EQ(out.read(), want);
}

/// Other blocks see either all elements of a vector that is stored at once, or none.
template <class T>
void expect_whole_vectors(const char* kernel) {
  Buffer<T> slots(session(), zeros<T>(4 * 32));
  Buffer<uint32_t> torn(session(), zeros<uint32_t>(1));
  kernels().run(kernel, Shape{{3}, {32}}, slots, torn, uint32_t{60000});
  EXPECT_EQ(torn.read()[0], 0u) << kernel;
}

TEST(Progress, WholeVectors) {
  expect_whole_vectors<uint32_t>("whole_v2_u32");
  expect_whole_vectors<float>("whole_v2_f32");
  expect_whole_vectors<uint16_t>("whole_v4_u16");
#if !defined(KM_TEST_EMULATED)  // the emulator has two accesses for one of 16 bytes
  expect_whole_vectors<uint32_t>("whole_v4_u32");
  expect_whole_vectors<uint64_t>("whole_v2_u64");
#endif
}

TEST(Progress, BackwardChain) {
  const uint32_t blocks = 100;
  Buffer<int32_t> out(session(), blocks), flags(session(), zeros<int32_t>(blocks));
  kernels().run("backward_chain", Shape{{blocks}, {32}}, out, flags);
  vector<int32_t> want;
  for (uint32_t b = 0; b < blocks; ++b) want.push_back(static_cast<int32_t>(blocks - b));
  EXPECT_EQ(out.read(), want);
}

/// A kernel that has been short does not run its first block alone when it may wait for the others.
TEST(Progress, BackwardChainAfterShortRuns) {
  const uint32_t blocks = 3;
  const vector<int32_t> set(blocks, 1), clear(blocks, 0);
  Buffer<int32_t> out(session(), blocks), ready(session(), set), flags(session(), clear);
  for (int i = 0; i < 200; ++i) {
    kernels().run("backward_chain", Shape{{blocks}, {32}}, out, ready);
  }
  kernels().run("backward_chain", Shape{{blocks}, {32}}, out, flags);
  EXPECT_EQ(out.read(), (vector<int32_t>{3, 2, 1}));
}

TEST(Progress, GridRounds) {
  const uint32_t blocks = 16, threads = 48, n = blocks * threads;
  vector<int32_t> values = numbers(n, 3, 1000);
  Buffer<int32_t> a(session(), values), b(session(), n);
  Buffer<uint32_t> arrived(session(), zeros<uint32_t>(1));
  kernels().run("grid_rounds", Shape{{blocks}, {threads}}, a, b, arrived, int32_t{6});
  vector<int32_t> want(n);
  for (uint32_t i = 0; i < n; ++i) want[i] = values[(i + 6) % n] + 6;
  EXPECT_EQ(a.read(), want);
}

TEST(Progress, PairsOfTickets) {
  const uint32_t blocks = 5000;
  Buffer<uint32_t> tickets(session(), zeros<uint32_t>(1));
  Buffer<int32_t> flags(session(), zeros<int32_t>(blocks)), out(session(), blocks);
  kernels().run("pairs_of_tickets", Shape{{blocks}, {64}}, tickets, flags, out);
  vector<int32_t> want;
  for (uint32_t b = 0; b < blocks; ++b) want.push_back(static_cast<int32_t>((b ^ 1) + 1));
  EXPECT_EQ(out.read(), want);
}

/// As many as a thread keeps going: what it has taken it can begin.
TEST(Progress, Crowd) {
  const uint32_t blocks = 256, threads = 40;
  for (int round = 0; round < 5; ++round) {
    Buffer<uint32_t> arrived(session(), zeros<uint32_t>(1));
    Buffer<int32_t> out(session(), zeros<int32_t>(threads));
    kernels().run("crowd", Shape{{blocks}, {threads}}, arrived, out);
    EXPECT_EQ(out.read(), vector<int32_t>(threads, static_cast<int32_t>(blocks)));
  }
}

TEST(Progress, MeetAtTwoPlaces) {
  const auto values = numbers(64, 4, 1000);
  Buffer<int32_t> in(session(), values), out(session(), 64);
  kernels().run("meet_at_two_places", Shape{{1}, {64}}, in, out);
  vector<int32_t> want;
  for (uint32_t t = 0; t < 64; ++t) {
    const uint32_t lane = t % 32, base = t - lane;
    want.push_back(lane % 3 == 0 ? values[t] * 2 + values[base + (lane + 1) % 32]
                                 : values[t] * 3 - values[base + (lane + 7) % 32]);
  }
  EXPECT_EQ(out.read(), want);
}

vector<int32_t> halves(vector<int32_t> warp) {
  for (int r = 0; r < 5; ++r) {
    const auto old = warp;
    for (uint32_t l = 0; l < 16; ++l) warp[l] += old[l ^ (1u << (r % 4))];
  }
  for (int r = 0; r < 3; ++r) {
    const auto old = warp;
    for (uint32_t l = 16; l < 32; ++l) warp[l] ^= old[l + 2 < 32 ? l + 2 : l];
  }
  const bool any =
      std::any_of(warp.begin() + 16, warp.end(), [](int32_t value) { return value % 7 == 0; });
  for (uint32_t l = 16; l < 32 && any; ++l) warp[l] = -warp[l];
  return warp;
}

TEST(Progress, Halves) {
  const auto values = numbers(96, 5, 1000);
  Buffer<int32_t> in(session(), values), out(session(), 96);
  kernels().run("halves", Shape{{1}, {96}}, in, out);
  vector<int32_t> want;
  for (uint32_t w = 0; w < 3; ++w) {
    const auto part = halves({values.begin() + w * 32, values.begin() + (w + 1) * 32});
    want.insert(want.end(), part.begin(), part.end());
  }
  EXPECT_EQ(out.read(), want);
}

TEST(Progress, LeaveEarly) {
  const auto rounds = numbers(64, 6, 40);
  Buffer<int32_t> in(session(), rounds), out(session(), 64);
  kernels().run("leave_early", Shape{{1}, {64}}, in, out);
  vector<int32_t> want(64, 0);
  for (uint32_t t = 0; t < 64; ++t) {
    for (int32_t r = 0; r < rounds[t]; ++r) {
      for (uint32_t l = 0; l < 32; ++l) {
        const bool there = rounds[t - t % 32 + l] > r;
        want[t] += there && (l + static_cast<uint32_t>(r)) % 2 == 0;
      }
    }
  }
  EXPECT_EQ(out.read(), want);
}

TEST(Progress, CountKeys) {
  // Which lanes are together is up to the machine; every lane counts itself at least.
  const auto keys = numbers(64, 7, 5000);
  Buffer<int32_t> in(session(), keys), out(session(), 64);
  kernels().run("count_keys", Shape{{1}, {64}}, in, out);
  const auto totals = out.read();
  for (uint32_t t = 0; t < 64; ++t) {
    int32_t rounds = 0;
    for (int32_t key = keys[t]; key > 0; key /= 2 + static_cast<int32_t>(t % 2)) ++rounds;
    EXPECT_GE(totals[t], rounds);
    EXPECT_LE(totals[t], rounds * 32);
  }
}

TEST(Progress, BarrierApart) {
  const uint32_t n = 128;
  Buffer<int32_t> out(session(), n);
  kernels().run("barrier_apart", Shape{{1}, {n}}, out);
  vector<int32_t> want;
  for (int32_t t = 0; t < static_cast<int32_t>(n); ++t) {
    want.push_back(t % 2 == 0 ? (t + 1) * 3 : -(t - 1) * 3);
  }
  EXPECT_EQ(out.read(), want);
}

TEST(Progress, VoteOfPartedThreads) {
  const uint32_t n = 80;
  auto values = numbers(n, 8, 8);
  for (uint32_t t = 0; t < n; t += 3) values[t] = -values[t];
  Buffer<int32_t> in(session(), values), out(session(), n);
  kernels().run("vote_of_parted_threads", Shape{{1}, {n}}, in, out);
  int32_t votes = 0;
  for (const int32_t value : values) votes += value > 0 ? value & 1 : (value & 2) != 0;
  vector<int32_t> want;
  for (const int32_t value : values) want.push_back(value > 0 ? votes : votes + 1000);
  EXPECT_EQ(out.read(), want);
}

TEST(Progress, LanesTakePartThatTheMaskOfOthersDoesNotName) {
  const uint32_t n = 96;
  const auto values = numbers(n, 5, 1000);
  Buffer<int32_t> lock(session(), zeros<int32_t>(1)), in(session(), values), out(session(), n);
  kernels().run("mask_of_others", Shape{{1}, {n}}, lock, in, out);
  vector<int32_t> want;
  for (uint32_t i = 0; i < n; ++i) want.push_back(values[i % 32 < 16 ? i : i - 16]);
  EXPECT_EQ(out.read(), want);
}

TEST(Progress, LoopWithTwoEntries) {
  const uint32_t n = 64;
  const auto values = random_u32(n, 9);
  Buffer<uint32_t> in(session(), values), out(session(), n);
  session().ptx_file("irreducible.ptx").run("two_entries", Shape{{1}, {n}}, in, out);
  vector<uint32_t> want;
  for (uint32_t x : values) {
    uint32_t count = 0, left = x % 13;
    bool second = x % 2 != 0;  // where the loop is entered
    for (;;) {
      if (!second) {
        count += 3;
        if (left == 0) break;
        --left;
      }
      second = false;
      count ^= left;
    }
    want.push_back(count);
  }
  expect_bits("two_entries", out.read(), want);
}

}  // namespace
}  // namespace km::kernels
