#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "harness/compare.h"
#include "harness/inputs.h"
#include "harness/session.h"

namespace km::kernels {
namespace {

using std::vector;

Module& kernels() { return session().cuda("memory/atomics.cu"); }

TEST(Atomics, Reduce32) {
  const uint32_t n = 3001;
  const auto values = random_u32(n, 1);
  vector<uint32_t> want{5, 6, ~0u, 0, ~0u, 0, 7, 0x7FFFFFFFu, 0x80000000u};
  Buffer<uint32_t> in(session(), values), cells(session(), want);
  kernels().run("reduce_u32", cover(n, 160), in, cells, n);
  const auto as_signed = [](uint32_t x) { return static_cast<int32_t>(x); };
  for (const uint32_t x : values) {
    want[0] += x;
    want[1] -= x;
    want[2] = std::min(want[2], x);
    want[3] = std::max(want[3], x);
    want[4] &= x | 0xFF;
    want[5] |= x & 0x00FF00FF;
    want[6] ^= x;
    if (as_signed(x) < as_signed(want[7])) want[7] = x;
    if (as_signed(x) > as_signed(want[8])) want[8] = x;
  }
  expect_bits("reduce_u32", cells.read(), want);
}

TEST(Atomics, Reduce64) {
  const uint32_t n = 2003;
  const auto values = random_u64(n, 2);
  vector<uint64_t> want{5, ~0ull, 0, ~0ull, 0, 7, ~0ull >> 1, 1ull << 63};
  Buffer<uint64_t> in(session(), values), cells(session(), want);
  kernels().run("reduce_u64", cover(n, 64), in, cells, n);
  const auto as_signed = [](uint64_t x) { return static_cast<int64_t>(x); };
  for (const uint64_t x : values) {
    want[0] += x;
    want[1] = std::min(want[1], x);
    want[2] = std::max(want[2], x);
    want[3] &= x | 0xFFFF;
    want[4] |= x & 0x00FF00FF00FF00FF;
    want[5] ^= x;
    if (as_signed(x) < as_signed(want[6])) want[6] = x;
    if (as_signed(x) > as_signed(want[7])) want[7] = x;
  }
  expect_bits("reduce_u64", cells.read(), want);
}

TEST(Atomics, ReduceFloat) {
  const uint32_t n = 4000;
  auto values = cast_all<int32_t>(random_u32(n, 3));
  for (int32_t& x : values) x %= 1000;
  Buffer<int32_t> in(session(), values);
  vector<float> want_f{0, 1, 2, 3};
  vector<double> want_d{0.25, 0.5, 0.75};
  Buffer<float> f(session(), want_f);
  Buffer<double> d(session(), want_d);
  kernels().run("reduce_float", cover(n), in, f, d, n);
  for (uint32_t i = 0; i < n; ++i) {
    want_f[i % 4] += static_cast<float>(values[i]);
    want_d[i % 3] += values[i] * 0.5;
  }
  expect_bits("reduce_float f32", f.read(), want_f);
  expect_bits("reduce_float f64", d.read(), want_d);
}

/// Whether the values are 0, 1, ... n - 1 in some order.
void expect_permutation(vector<uint32_t> values) {
  std::sort(values.begin(), values.end());
  vector<uint32_t> want(values.size());
  std::iota(want.begin(), want.end(), 0);
  expect_bits("permutation", values, want);
}

TEST(Atomics, Tickets) {
  const uint32_t n = 5000;
  Buffer<uint32_t> counter(session(), vector<uint32_t>{0}), taken(session(), n);
  kernels().run("tickets", cover(n, 96), counter, taken, n);
  EXPECT_EQ(counter.read()[0], n);
  expect_permutation(taken.read());
}

TEST(Atomics, Tickets64) {
  const uint32_t n = 3000, tickets = 2000;
  Buffer<uint64_t> counter(session(), vector<uint64_t>{0});
  Buffer<uint32_t> seen(session(), vector<uint32_t>(tickets, 0));
  kernels().run("tickets64", cover(n), counter, seen, n);
  EXPECT_EQ(counter.read()[0], uint64_t{5} * tickets);
  expect_bits("tickets64", seen.read(), vector<uint32_t>(tickets, 1));
}

TEST(Atomics, Exchange) {
  const uint32_t n = 1000;
  Buffer<uint32_t> cell(session(), vector<uint32_t>{0}), received(session(), n);
  kernels().run("exchange", cover(n), cell, received, n);
  auto values = received.read();  // each value put in comes out once, or stays in the cell
  values.push_back(cell.read()[0]);
  expect_permutation(values);
}

TEST(Atomics, Exchange64) {
  const uint32_t n = 500;
  Buffer<uint64_t> cell(session(), vector<uint64_t>{0}), received(session(), n);
  kernels().run("exchange64", cover(n), cell, received, n);
  auto raw = received.read();
  raw.push_back(cell.read()[0]);
  vector<uint32_t> values;
  for (const uint64_t x : raw) {
    EXPECT_EQ(x & 0x1FFFFFFFFu, 0u);
    values.push_back(static_cast<uint32_t>(x >> 33));
  }
  expect_permutation(values);
}

TEST(Atomics, CompareAndSwap) {
  const uint32_t n = 2000, cell_count = 77;
  Buffer<uint32_t> cells(session(), vector<uint32_t>(cell_count, ~0u));
  Buffer<uint32_t> winners(session(), vector<uint32_t>(n, 0));
  Buffer<uint64_t> cells64(session(), vector<uint64_t>(cell_count, 7));
  kernels().run("compare_and_swap", cover(n), cells, winners, cells64, n, cell_count);
  vector<uint32_t> want(n, 0);
  const auto got = cells.read();
  const auto got64 = cells64.read();
  for (uint32_t c = 0; c < cell_count; ++c) {
    const auto winner64 = static_cast<uint32_t>(got64[c] >> 32);
    ASSERT_LT(got[c], n);
    ASSERT_LT(winner64, n);
    EXPECT_EQ(got[c] % cell_count, c);
    EXPECT_EQ(winner64 % cell_count, c);
    want[got[c]] |= 1;
    want[winner64] |= 2;
  }
  expect_bits("compare_and_swap", winners.read(), want);
}

TEST(Atomics, IncrementWraps) {
  const uint32_t n = 1000, limit = 36;
  Buffer<uint32_t> cells(session(), vector<uint32_t>{0, 0}), old(session(), n);
  kernels().run("increment_wrap", cover(n), cells, old, limit, n);
  expect_bits("increment_wrap", cells.read(),
              vector<uint32_t>{n % (limit + 1), (limit + 1 - n % (limit + 1)) % (limit + 1)});
  auto got = old.read();
  std::sort(got.begin(), got.end());
  vector<uint32_t> want;
  for (uint32_t i = 0; i < n; ++i) want.push_back(i % (limit + 1));
  std::sort(want.begin(), want.end());
  expect_bits("increment_wrap old values", got, want);
}

/// What one block of shared_atomics leaves, without the ranks.
vector<uint32_t> shared_cells(const uint32_t* values, uint32_t count, uint32_t block) {
  vector<uint32_t> cells{count, ~0u, 0, ~0u, 0, 0, 0, 0};
  uint64_t sum = 0, most = 0;
  uint32_t small = 0;
  for (const uint32_t* x = values; x < values + count; ++x) {
    cells[1] = std::min(cells[1], *x);
    cells[2] = std::max(cells[2], *x);
    cells[3] &= *x;
    cells[4] |= *x;
    cells[5] ^= *x;
    if (static_cast<int32_t>(*x) < static_cast<int32_t>(cells[6])) cells[6] = *x;
    cells[7] += *x % 16;
    sum += uint64_t{*x} << 16;
    most = std::max(most, uint64_t{*x} << 31);
    small += *x % 8;
  }
  for (const uint64_t wide : {sum, most}) {
    cells.insert(cells.end(), {static_cast<uint32_t>(wide), static_cast<uint32_t>(wide >> 32)});
  }
  cells.insert(cells.end(), {small, block});
  return cells;
}

TEST(Atomics, Shared) {
  const uint32_t n = 700, block = 96, blocks = 8, row = 14 + block;
  const auto values = random_u32(n, 4);
  Buffer<uint32_t> in(session(), values), out(session(), blocks * row);
  kernels().run("shared_atomics", Shape{{blocks}, {block}}, in, out, n);
  const auto got = out.read();
  for (uint32_t b = 0; b < blocks; ++b) {
    const uint32_t count = std::min(n - b * block, block);
    const auto cells = got.begin() + b * row;
    expect_bits("shared_atomics", vector<uint32_t>(cells, cells + 14),
                shared_cells(&values[b * block], count, b));
    expect_permutation(vector<uint32_t>(cells + 14, cells + 14 + count));
  }
}

TEST(Atomics, Generic) {
  const uint32_t n = 1000;
  const auto values = random_u32(n, 5);
  Buffer<uint32_t> in(session(), values), out(session(), vector<uint32_t>{0, 0});
  kernels().run("generic_atomics", cover(n), in, out, n);
  vector<uint32_t> want{0, 0};
  for (const uint32_t x : values) want[x % 2] += x >> 8;
  expect_bits("generic_atomics", out.read(), want);
}

TEST(Atomics, GlobalHistogram) {
  const uint32_t n = 60000;
  const auto values = random_u32(n, 6);
  Buffer<uint32_t> in(session(), values), bins(session(), vector<uint32_t>(1024, 1));
  kernels().run("global_histogram", Shape{{10}, {128}}, in, bins, n);
  vector<uint32_t> want(1024, 1);
  for (const uint32_t x : values) ++want[x >> 22];
  expect_bits("global_histogram", bins.read(), want);
}

TEST(Atomics, Scoped) {
  const uint32_t n = 500;
  Buffer<uint32_t> cells(session(), vector<uint32_t>{0, 0, 0});
  kernels().run("scoped_atomics", Shape{{1}, {512}}, cells, n);
  expect_bits("scoped_atomics", cells.read(), vector<uint32_t>{n, n - 1, ~0u});
}

TEST(Atomics, FieldsOfWords) {
  const uint32_t n = 5000;
  const auto values = random_u32(n, 7);
  Buffer<uint32_t> in(session(), values);
  for (const uint32_t parted : {0u, 1u}) {
    vector<uint32_t> want(1024, 2);
    Buffer<uint32_t> bins(session(), want);
    kernels().run("fields_of_words", cover(n, 224), in, bins, parted, n);
    for (uint32_t i = 0; i < n; ++i) {
      if (parted != 0 && i % 3 == 1) continue;
      const uint32_t x = values[i];
      for (const uint32_t place : {x & 255, x >> 8 & 255, 256 + (x >> 16 & 255), 512 + (x >> 24),
                                   1023 - (x & 127), x >> 22}) {
        want[place] += 3;
      }
      for (uint32_t k = 0; k < 32; k += 4) want[768 + (x >> k & 15)] += 3;
    }
    expect_bits("fields_of_words", bins.read(), want);
  }
}

TEST(Atomics, FieldsInOrder) {
  const uint32_t n = 256 * 3;
  vector<uint32_t> values(n), want(2 * n);
  for (uint32_t i = 0; i < n; ++i) values[i] = i * 37 % 256 + (i << 8);
  Buffer<uint32_t> in(session(), values), out(session(), want);
  kernels().run("fields_in_order", cover(n, 256), in, out, n);
  const auto seen = [](uint32_t cell) { return std::max(cell + 5, 100u) + 10; };
  for (uint32_t i = 0; i < n; ++i) {
    want[i] = seen(values[i] % 256);
    want[n + i] = std::min(seen(i % 256) ^ 0x55 ^ 0x0F, 200u);
  }
  expect_bits("fields_in_order", out.read(), want);
}

/// The place in shared memory is loaded: code for one lane has no two indices to take at a time.
TEST(Atomics, OneThreadAtALoadedPlace) {
  const char* const text = R"(.version 7.0
.target sm_70
.address_size 64
.shared .align 8 .b8 board[256];
.visible .entry run(.param .u64 at)
{
  .reg .b64 %at;
  .reg .b32 %place, %index, %old;
  ld.param.u64 %at, [at];
  ld.global.u32 %index, [%at];
  mov.u32 %place, board;
  mad.lo.u32 %place, %index, 8, %place;
  st.shared.u32 [%place], 5;
  red.shared.add.u32 [%place], 1;
  atom.shared.exch.b32 %old, [%place], 7;
  atom.shared.add.u32 %old, [%place], 3;
  st.global.u32 [%at+4], %old;
  ret;
}
)";
  auto module = session().ptx_text(text, "one_thread");
  Buffer<uint32_t> words(session(), std::vector<uint32_t>{3, 0});
  module->run("run", {{1}, {1}}, words);
  expect_bits("words", words.read(), std::vector<uint32_t>{3, 7});
}

TEST(Atomics, OneThread) {
  const uint32_t blocks = 300;
  for (const uint32_t threads : {1u, 32u, 100u, 256u}) {
    Buffer<uint32_t> tickets(session(), vector<uint32_t>{0}), taken(session(), blocks);
    Buffer<uint32_t> old(session(), vector<uint32_t>(7));
    Buffer<float> f(session(), vector<float>{2});
    Buffer<uint64_t> wide(session(), vector<uint64_t>{5});
    kernels().run("one_thread", Shape{{blocks}, {threads}}, tickets, f, wide, taken, old);
    vector<uint32_t> all(blocks);
    std::iota(all.begin(), all.end(), 1u);
    expect_bits("one_thread: tickets", tickets.read(), vector<uint32_t>{blocks});
    expect_bits("one_thread: taken", taken.read(), all);
    expect_bits("one_thread: f", f.read(), vector<float>{2 + 1.5F * blocks});
    expect_bits("one_thread: wide", wide.read(), vector<uint64_t>{uint64_t{blocks - 1} << 33});
    const uint32_t quarter = 0x3E800000;
    expect_bits("one_thread: old", old.read(), vector<uint32_t>{7, 9, 14, 3, 0, 0, quarter});
  }
}

}  // namespace
}  // namespace km::kernels
