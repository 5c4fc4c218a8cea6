// Forms of instructions that no other test meets; and those left for later, which do not load.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <numeric>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "harness/compare.h"
#include "harness/coverage.h"
#include "harness/inputs.h"
#include "harness/session.h"
#include "ptx/forms.h"
#include "support/form_example.h"

namespace km::kernels {
namespace {

using std::vector;

Module& forms() { return session().ptx_file("forms.ptx"); }

TEST(Forms, Moves) {
  const uint32_t n = 64, words = 8;
  vector<uint32_t> values = random_u32(n * words, 1);
  for (uint32_t i = 0; i < n; ++i) values[i * words + 7] = i;
  Buffer<uint32_t> in(session(), values), out(session(), n * words);
  forms().run("moves", Shape{{1}, {n}}, in, out);
  expect_bits("moves", out.read(), values);
}

TEST(Forms, ParameterAddresses) {
  const uint32_t n = 64, value = 4711;
  Buffer<uint32_t> out(session(), 2 * n);
  forms().run("parameter_addresses", Shape{{1}, {n}}, out, value);
  expect_bits("parameter_addresses", out.read(), vector<uint32_t>(2 * n, value));
}

TEST(Forms, Uncached) {
  const uint32_t n = 64;
  const vector<uint32_t> values = random_u32(4 * n, 2);
  Buffer<uint32_t> in(session(), values), out(session(), 8 * n);
  forms().run("uncached", Shape{{1}, {n}}, in, out);
  vector<uint32_t> want;
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t* x = &values[4 * i];
    want.insert(want.end(), {x[0], x[1], x[2], x[3], x[0], x[1], x[2], x[0] + 1});
  }
  expect_bits("uncached", out.read(), want);
}

TEST(Forms, ShortLock) {
  const uint32_t blocks = 3, threads = 40;
  Buffer<uint16_t> lock(session(), vector<uint16_t>{1, 7, 2, 3});
  Buffer<uint32_t> count(session(), vector<uint32_t>{0});
  forms().run("short_lock", Shape{{blocks}, {threads}}, lock, count);
  expect_bits("count", count.read(), {blocks * threads});
  expect_bits("lock", lock.read(), {1, 7, 2, 3});
}

TEST(Forms, HalfSums) {
  const vector<uint32_t> before = {0,          0, 0,          0x40A040A0, 0,          0,
                                   0,          0, 0x42004200, 0x38003800, 0x40003C00, 0xBC003C00,
                                   0x12345678, 0, 0,          0};
  Buffer<uint32_t> out(session(), before), old(session(), 4);
  forms().run("half_sums", Shape{{1}, {1}}, out, old);
  expect_bits("old", old.read(), {before[8], before[9], before[10], before[11]});
  forms().run("half_sums", Shape{{1}, {7}}, out, old);
  const vector<uint32_t> want = {
      0x4C004800, 0x4C004800, 0x40003F80, 0x40A040A0, 0x41004100, 0x41804100, 0, 0,
      0x40003C00, 0x38003800, 0x40003C00, 0xBC003C00, 0x12345678, 0,          0, 0};
  expect_bits("sums", out.read(), want);
}

TEST(Forms, AsyncSum) {
  Buffer<uint64_t> out(session(), 32);
  forms().run("async_sum", Shape{{1}, {32}}, out);
  expect_bits("async_sum", out.read(), vector<uint64_t>(32, 0x100000000ull + 496 * 0x80000001ull));
}

TEST(Forms, AsyncWords) {
  Buffer<uint32_t> out(session(), 16);
  session().ptx_file("newer_forms.ptx").run("async_words", Shape{{1}, {32}}, out);
  // 5 counted up 32 times modulo 21, and down; the sums of 3 - i and the xor of all bits.
  const int64_t sum = (int64_t{1} << 32) + 32 * 3 - 496;
  expect_bits("async_words", out.read(),
              {37 % 21, 15, static_cast<uint32_t>(-28), static_cast<uint32_t>(-1), 0, 0, 0xffffffff,
               0xaaaaaaaa, static_cast<uint32_t>(sum), static_cast<uint32_t>(sum >> 32), 77, 0,
               0x33334444, 0x11112222, 0x77778888, 0x55556666});
}

TEST(Forms, SumsThatKeepSubnormals) {
  const uint32_t one = 0x3f800000;
  Buffer<uint32_t> data(session(), vector<uint32_t>{4, 4, 4, 0, 4, one, 4, one}), out(session(), 4);
  session().ptx_file("newer_forms.ptx").run("no_flush", Shape{{1}, {1}}, data, out);
  const uint32_t two = 0x40000000;
  expect_bits("data", data.read(), {0, 7, 7, 0, 7, two, 7, two});
  expect_bits("out", out.read(), {4, 4, 4, one});
}

TEST(Forms, Messages) {
  const uint32_t blocks = 6;
  Buffer<uint32_t> data(session(), vector<uint32_t>(4, 0)), out(session(), 2 * blocks);
  forms().run("messages", Shape{{blocks}, {1}}, data, out);
  vector<uint32_t> want;
  for (uint32_t i = 0; i < blocks; ++i) want.insert(want.end(), {1234, 5678});
  expect_bits("messages", out.read(), want);
}

struct Votes {
  uint32_t count = 0;
  bool all = true, any = false;
};

Votes votes_of(const vector<uint32_t>& values, size_t first, size_t count, bool wanted) {
  Votes votes;
  for (size_t i = first; i < first + count; ++i) {
    const bool yes = (values[i] != 0) == wanted;
    votes.count += yes;
    votes.all = votes.all && yes;
    votes.any = votes.any || yes;
  }
  return votes;
}

void check_votes(const vector<uint32_t>& values) {
  const uint32_t n = 128;
  Buffer<uint32_t> in(session(), values), out(session(), 8 * n);
  forms().run("votes_of_parts", Shape{{1}, {n}}, in, out);
  const Votes block = votes_of(values, 0, n, true);
  vector<uint32_t> want;
  for (uint32_t i = 0; i < n; ++i) {
    const Votes yes = votes_of(values, i / 64 * 64, 64, true);
    const Votes no = votes_of(values, i / 64 * 64, 64, false);
    want.insert(want.end(), {yes.count, yes.all, no.any, i, no.count, no.all, yes.any,
                             (block.all ? 1u : 0u) | (block.any ? 2u : 0u)});
  }
  expect_bits("votes_of_parts", out.read(), want);
}

TEST(Forms, VotesOfParts) {
  vector<uint32_t> values = random_u32(128, 3);
  for (uint32_t& value : values) value %= 2;
  check_votes(values);
  std::fill(values.begin(), values.begin() + 64, 1);
  check_votes(values);
  std::fill(values.begin(), values.end(), 5);
  check_votes(values);
  std::fill(values.begin(), values.end(), 0);
  check_votes(values);
}

TEST(Forms, HandOver) {
  Buffer<uint32_t> out(session(), 32);
  forms().run("hand_over", Shape{{1}, {64}}, out);
  vector<uint32_t> want;
  for (uint32_t i = 0; i < 32; ++i) want.push_back(7 * i + 3);
  expect_bits("hand_over", out.read(), want);
}

TEST(Forms, Tables) {
  const uint32_t n = 96;
  vector<uint32_t> values = random_u32(n, 4);
  for (uint32_t& value : values) value %= 4;
  for (const uint32_t uniform : {0u, 1u, 2u}) {
    Buffer<uint32_t> in(session(), values), out(session(), n);
    forms().run("tables", Shape{{1}, {n}}, in, uniform, out);
    vector<uint32_t> want;
    for (const uint32_t x : values) {
      const uint32_t first = x == 1 ? x * 50 + 7 : x == 2 ? x + 7 : x + 100;
      want.push_back(uniform == 0   ? first ^ 1024
                     : uniform == 1 ? first + 2048 + 4096
                                    : first + 4096);
    }
    expect_bits("tables", out.read(), want);
  }
}

void check_own_index(Module& module, const char* kernel) {
  const uint32_t n = 64;
  Buffer<uint32_t> out(session(), n);
  module.run(kernel, Shape{{1}, {n}}, out);
  vector<uint32_t> want(n);
  std::iota(want.begin(), want.end(), 0u);
  expect_bits(kernel, out.read(), want);
}

TEST(Forms, Breakpoint) { check_own_index(forms(), "breakpoint"); }

TEST(Forms, NumberOfRegisters) {
  check_own_index(session().ptx_file("forms_sm_90a.ptx"), "registers");
}

/// Reductions over the lanes [first, last) of the warp, in the order of warp_results.
vector<uint32_t> reductions(const uint32_t* first, const uint32_t* last) {
  const auto as_signed = [](uint32_t a, uint32_t b) {
    return static_cast<int32_t>(a) < static_cast<int32_t>(b);
  };
  const uint32_t sum = std::accumulate(first, last, 0u);
  return {sum,
          *std::min_element(first, last),
          *std::max_element(first, last),
          sum,
          *std::min_element(first, last, as_signed),
          *std::max_element(first, last, as_signed),
          std::accumulate(first, last, ~0u, std::bit_and<uint32_t>()),
          std::accumulate(first, last, 0u, std::bit_or<uint32_t>()),
          std::accumulate(first, last, 0u, std::bit_xor<uint32_t>())};
}

/// The lanes work together in groups of `group`, a half warp or all of it.
void check_warp_results(const vector<uint32_t>& values, uint32_t group) {
  const bool halves = group == 16;
  const uint32_t low = halves ? 0xffff : ~0u, high = halves ? 0xffff0000 : ~0u;
  Buffer<uint32_t> in(session(), values), out(session(), 32 * 14);
  forms().run("warp_results", Shape{{1}, {32}}, in, out, low, high);
  vector<uint32_t> want;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const uint32_t leader = lane / group * group;
    const uint32_t* first = &values[leader];
    const bool agree = std::all_of(
        first, first + group, [&](uint32_t value) { return (value & 0xf0) == (*first & 0xf0); });
    const uint32_t same = !agree ? 0 : lane < 16 ? low : high;
    const vector<uint32_t> reduced = reductions(first, first + group);
    want.insert(want.end(), reduced.begin(), reduced.end());
    want.insert(want.end(), {same, agree, same, leader, lane == leader});
  }
  expect_bits("warp_results", out.read(), want);
}

TEST(Forms, WarpResults) {
  vector<uint32_t> values = random_u32(32, 5);
  check_warp_results(values, 32);
  check_warp_results(values, 16);
  for (uint32_t i = 0; i < 16; ++i) values[i] |= 0xf0;
  check_warp_results(values, 16);
  for (uint32_t i = 16; i < 32; ++i) values[i] |= 0xf0;
  check_warp_results(values, 32);
}

void check_without_masks(const vector<uint32_t>& values) {
  const uint32_t lanes = 24;
  Buffer<uint32_t> in(session(), values), out(session(), vector<uint32_t>(8 * 32, 99));
  session().ptx_file("forms_old.ptx").run("without_masks", Shape{{1}, {32}}, in, out);
  uint32_t ballot = 0;
  for (uint32_t i = 0; i < lanes; ++i) ballot |= (values[i] >> 31 ? 0 : 1) << i;
  const bool all = ballot == 0xffffff, any = ballot != 0;
  vector<uint32_t> want;
  for (uint32_t i = 0; i < lanes; ++i) {
    const uint32_t up = i < 3 ? i : i - 3, down = i % 8 < 6 ? i + 2 : i;
    want.insert(want.end(), {values[up], i >= 3, values[i ^ 1], values[down], values[5], ballot,
                             (all ? 1u : 0u) | (any ? 2u : 0u) | (all || !any ? 4u : 0u), i});
  }
  want.resize(8 * 32, 99);
  expect_bits("without_masks", out.read(), want);
}

TEST(Forms, WithoutMasks) {
  vector<uint32_t> values = random_u32(32, 6);
  check_without_masks(values);
  for (uint32_t& value : values) value &= 0x7fffffff;
  check_without_masks(values);
  for (uint32_t& value : values) value |= 0x80000000;
  check_without_masks(values);
}

bool says_capability(const std::string& capability) {
  const char* const said = std::getenv("KM_CPU_CC");
  return said != nullptr && said == capability;
}

/// A kernel of one instruction, with registers of every type.
std::string kernel_of(const std::string& instruction, const std::string& target) {
  return ".version 9.5\n.target " + target +
         "\n.address_size 64\n"
         ".func f() { ret; }\n.global .texref tvar;\n"
         ".visible .entry k()\n{\n"
         ".reg .pred %p<10>; .reg .b16 %rs<10>; .reg .b32 %r<10>; .reg .b64 %rd<10>;\n"
         ".reg .f32 %f<10>; .reg .f64 %fd<10>; .reg .b128 %rq<10>; .reg .b8 %b<4>;\n"
         "L:\n" +
         instruction + ";\nret;\n}\n";
}

/// Forms of devices of capability 9.0 or, from `least` on, of newer ones that no test checks must
/// be refused, by name, before anything runs.
void check_left_for_later(uint16_t least, uint16_t most) {
  if (device_uri().rfind("cpu", 0) != 0) GTEST_SKIP() << "what other devices run is theirs to say";
  std::set<std::string> tested;
  for (const char* path : {KM_TESTED_FORMS, KM_COMPARED_FORMS}) {
    for (const auto& row : read_form_list(path)) tested.insert(row.first);
  }
  for (const ptx::Form& form : ptx::all_forms()) {
    const bool covered = tested.count(ptx::form_key(form)) != 0 || ptx::is_rewritten(form);
    const bool here = form.targets.least >= least && form.targets.least <= most;
    if (!here || form.any_modifiers || covered) continue;
    const std::string instruction = ptx::test::example_of(form, true);
    try {
      session().ptx_text(kernel_of(instruction, ptx::test::target_of(form)), "later.ptx");
      ADD_FAILURE() << instruction << " loads: it needs a test";
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.status, KM_ERROR_UNSUPPORTED_PTX) << failure.what();
      const std::string opcode(ptx::text_of(form.opcode));
      EXPECT_NE(std::string(failure.what()).find("'" + opcode), std::string::npos)
          << failure.what();
    }
  }
}

TEST(Forms, LeftForLater) { check_left_for_later(0, 90); }

// CMake sets KM_CPU_CC for these groups.
TEST(Sm100Forms, LeftForLater) {
  if (!says_capability("10.0")) GTEST_SKIP() << "KM_CPU_CC=10.0 reads them";
  check_left_for_later(91, 100);
}

TEST(Sm103Forms, LeftForLater) {
  if (!says_capability("10.3")) GTEST_SKIP() << "KM_CPU_CC=10.3 reads them";
  check_left_for_later(103, 103);
}

TEST(Sm120Forms, LeftForLater) {
  if (!says_capability("12.0")) GTEST_SKIP() << "KM_CPU_CC=12.0 reads them";
  check_left_for_later(120, 129);
}

}  // namespace
}  // namespace km::kernels
