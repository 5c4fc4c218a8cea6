// Forms that become others when they are read, initial values that are addresses, and PTX as old
// compilers wrote it.
#include <bit>
#include <numeric>

#include <gtest/gtest.h>

#include "harness/compare.h"
#include "harness/inputs.h"
#include "harness/session.h"

namespace km::kernels {
namespace {

using std::vector;

Module& written() { return session().ptx_file("written_forms.ptx"); }

TEST(Written, ElementsOfArrays) {
  const uint32_t n = 40;
  Buffer<uint32_t> out(session(), 8 * n);
  written().run("elements", Shape{{1}, {n}}, out);
  vector<uint32_t> want;
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t own[] = {100, 101, i + 1, i}, table[] = {10, 20, 30, 40}, k = i & 3;
    want.insert(want.end(), {own[k], table[k], table[k], table[k], table[std::min(k, 2u) + 1],
                             8 * k, i ^ 1, 101});
  }
  expect_bits("elements", out.read(), want);
}

TEST(Written, WholeVectorsSumsAndNegations) {
  const uint32_t n = 40;
  Buffer<uint32_t> out(session(), 8 * n);
  written().run("wholes", Shape{{1}, {n}}, out);
  vector<uint32_t> want;
  for (uint32_t i = 0; i < n; ++i) {
    const bool p1 = i < 16, p2 = (i & 1) != 0, p3 = p1 && !p2;
    const bool p4 = (!p1 || !p3) != !p2;  // negated twice
    const uint32_t sum = i + 3 + n - 2 + i + 1;
    want.insert(want.end(), {7, i, i, 7, sum, p3 ? 7 : 2u, !p3 ? 5u : 6u, !p4 ? 7u : 8u});
  }
  expect_bits("wholes", out.read(), want);
}

TEST(Written, VariablesWithoutTheirStateSpace) {
  const uint32_t n = 40;
  Buffer<uint32_t> out(session(), 4 * n);
  written().run("spaces", Shape{{1}, {n}}, out);
  vector<uint32_t> want;
  for (uint32_t i = 0; i < n; ++i) {
    want.insert(want.end(), {i, i + 5, n * (n - 1) / 2, 22});
  }
  expect_bits("spaces", out.read(), want);
}

TEST(Written, InitialValuesHoldAddresses) {
  Buffer<uint32_t> out(session(), 12);
  written().run("initialised", Shape{{1}, {1}}, out);
  vector<uint32_t> values = out.read();
  const uint64_t bytes = values[10] | uint64_t{values[11]} << 32;
  EXPECT_NE(bytes, 0u);
  values.resize(10);
  expect_bits("initialised", values, vector<uint32_t>{22, 1, 22, 33, 1, 11, 0, 0, 0, 0});
}

TEST(Written, OneFlagForSumsAndDifferences) {
  const vector<uint32_t> pairs = {5, 5, 5,   6, 6,   5,   0,        0,
                                  0, 1, ~0u, 1, ~0u, ~0u, 1u << 31, 1u << 31};
  const uint32_t n = static_cast<uint32_t>(pairs.size() / 2);
  Buffer<uint32_t> in(session(), pairs), out(session(), 4 * n);
  written().run("flags", Shape{{1}, {n}}, in, out);
  vector<uint32_t> want;
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t a = pairs[2 * i], b = pairs[2 * i + 1];
    const bool carry = uint64_t{a} + b > 0xffffffff;
    want.insert(want.end(), {a - b, a >= b ? 1u : 0u, a + b, carry ? 0 : ~0u});
  }
  expect_bits("flags", out.read(), want);
}

// 1 MiB and 44 bytes, at whose end the vector's last element would lie outside.
TEST(Written, BytesThatAreNotUsedMayLieOutside) {
  const uint32_t n = 262155;
  vector<float> values(n, 0.0F);
  values[n - 3] = 9;
  values[n - 1] = 10;
  Buffer<float> in(session(), values), out(session(), 1);
  const uint64_t place = in.address() + uint64_t{4} * (n - 3);
  written().run("used_bytes", Shape{{1}, {1}}, place, out);
  EXPECT_EQ(out.read(), vector<float>{19});
}

TEST(Written, Reductions) {
  const uint32_t n = 40;
  Buffer<uint32_t> words(session(), vector<uint32_t>{~0u, 0, 0, 0, 3, 1u << 31});
  Buffer<uint64_t> longs(session(), vector<uint64_t>{1, 0, 0});
  written().run("reductions", Shape{{1}, {n}}, words, longs);
  // 0 to 39: no bit is set in all complements below 64; 40 steps of a counter of 7 states.
  uint32_t exclusive = 0, counter = 3;
  for (uint32_t i = 0; i < n; ++i) {
    exclusive ^= i;
    counter = counter == 0 || counter > 6 ? 6 : counter - 1;
  }
  expect_bits("words", words.read(), vector<uint32_t>{~63u, 63, exclusive, n % 7, counter, 30});
  const double sum = n * (n - 1) / 2;
  expect_bits(
      "longs", longs.read(),
      vector<uint64_t>{uint64_t{63} << 40 | 1, uint64_t{39} << 40, std::bit_cast<uint64_t>(sum)});
}

TEST(Written, SharedMemoryIsGivenInGranules) {
  Buffer<uint32_t> out(session(), 2);
  written().run("granule", Shape{{1}, {32}, 8}, out);
  EXPECT_EQ(out.read(), (vector<uint32_t>{7, 7}));
}

TEST(Written, VolatileLocalMemory) {
  const uint32_t n = 40;
  Buffer<uint32_t> out(session(), 2 * n);
  session().ptx_file("forms_91.ptx").run("volatile_local", Shape{{1}, {n}}, out);
  vector<uint32_t> want;
  for (uint32_t i = 0; i < n; ++i) want.insert(want.end(), {i, 7});
  expect_bits("volatile_local", out.read(), want);
}

TEST(Written, OpenCompilerOfCuda2) {
  const uint32_t n = 200, threads = 64, blocks = 4;
  vector<float> values(n);
  std::iota(values.begin(), values.end(), 1.0F);
  Buffer<float> in(session(), values), out(session(), blocks);
  session()
      .ptx_file("old_nvopencc_14.ptx")
      .run("block_sums", Shape{{blocks}, {threads}}, in, out, static_cast<int32_t>(n));
  vector<float> want(blocks, 0.0F);
  const float weights[] = {1, 2, 3, 4};
  for (uint32_t i = 0; i < n; ++i) {  // whole numbers: the order does not matter
    want[i / threads] += values[i] * weights[i % threads & 3] + values[i];
  }
  expect_bits("block_sums", out.read(), want);
}

TEST(Written, OpenCompilerOfCuda4) {
  const uint32_t n = 40;
  Buffer<uint32_t> out(session(), n);
  session().ptx_file("old_nvopencc_23.ptx").run("_Z5twicePi", Shape{{1}, {n}}, out);
  vector<uint32_t> want;
  for (uint32_t i = 0; i < n; ++i) want.push_back(2 * i + (i & 1) + 1);
  expect_bits("twice", out.read(), want);
}

TEST(Written, Llvm3) {
  const uint32_t n = 40;
  Buffer<uint32_t> out(session(), n);
  session().ptx_file("old_llvm_31.ptx").run("scan", Shape{{1}, {n}}, out);
  vector<uint32_t> want;
  for (uint32_t i = 0; i < n; ++i) want.push_back(2 * i + 7);
  expect_bits("scan", out.read(), want);
}

}  // namespace
}  // namespace km::kernels
