// Recursion: bodies that are there once, and what their callers still need on a stack.
#include <algorithm>
#include <numeric>
#include <string>

#include <gtest/gtest.h>

#include "harness/compare.h"
#include "harness/inputs.h"
#include "harness/session.h"

namespace km::kernels {
namespace {

using std::vector;

Module& kernels() { return session().cuda("control/recursion.cu"); }

uint32_t ackermann(uint32_t m, uint32_t n) {
  if (m == 0) return n + 1;
  return m == 1 ? n + 2 : 2 * n + 3;  // closed forms for m up to 2
}

TEST(Recursion, OfOneFunction) {
  const uint32_t n = 150;
  vector<uint32_t> want, fibonacci{0, 1};
  while (fibonacci.size() < 15)
    fibonacci.push_back(*(fibonacci.end() - 1) + *(fibonacci.end() - 2));
  for (uint32_t i = 0; i < n; ++i) {
    want.insert(want.end(), {fibonacci[i % 15], ackermann(i % 3, i % 5)});
  }
  for (const uint32_t block : {64U, 1U}) {
    Buffer<uint32_t> out(session(), 2 * n);
    kernels().run("recursion", cover(n, block), out, n);
    expect_bits("recursion", out.read(), want);
  }
}

TEST(Recursion, OfTwoFunctions) {
  const uint32_t n = 200;
  Buffer<uint32_t> out(session(), n);
  kernels().run("mutual_recursion", cover(n), out, n);
  vector<uint32_t> want;
  for (uint32_t i = 0; i < n; ++i) want.push_back((i % 23 % 2 == 0 ? 1 : 0) | (i % 17 % 2 ? 2 : 0));
  expect_bits("mutual_recursion", out.read(), want);
}

TEST(Recursion, OwnArrays) {
  const uint32_t n = 100;
  vector<uint32_t> want;
  for (uint32_t i = 0; i < n; ++i) {
    uint32_t count = 1;
    for (uint32_t k = 2; k <= i % 7; ++k) count *= k;
    const uint32_t calls = i % 7 == 0 ? 0 : 1;  // seen by the kernel, at the end
    want.push_back(count + (i % 7 < 2 ? 0 : count / 2 << 16) + (calls << 28));
  }
  for (const uint32_t block : {32U, 1U}) {
    Buffer<uint32_t> out(session(), n);
    kernels().run("own_arrays", cover(n, block), out, n);
    expect_bits("own_arrays", out.read(), want);
  }
}

double weight(uint32_t low, uint32_t high, const vector<uint32_t>& data) {
  if (high - low == 1) return data[low];
  const uint32_t middle = (low + high) / 2;
  return weight(low, middle, data) + weight(middle, high, data) + (high - low > 4 ? 0.5 : 0);
}

TEST(Recursion, Structures) {
  const uint32_t n = 90;
  vector<uint32_t> data = random_u32(40, 21);
  for (uint32_t& value : data) value %= 1000;
  Buffer<uint32_t> in(session(), data);
  Buffer<double> out(session(), n);
  kernels().run("structures", cover(n, 64), out, in, n);
  vector<double> want;
  for (uint32_t i = 0; i < n; ++i) {
    want.push_back(weight(0, 1 + i % 40, data) + 1000 * (1 + i % 40));
  }
  expect_bits("structures", out.read(), want);
}

TEST(Recursion, WarpsMeetAtDifferentDepths) {
  Buffer<uint32_t> out(session(), 64);
  kernels().run("meeting", Shape{{1}, {64}}, out);
  vector<uint32_t> want;
  for (uint32_t i = 0; i < 64; ++i) want.push_back((i < 32 ? 496 : 1520) + i % 5);
  expect_bits("meeting", out.read(), want);
}

TEST(Recursion, StackOverflow) {
  KM_NEEDS_FAULTS();
  Session own;
  Buffer<uint32_t> out(own, 32);
  EXPECT_EQ(own.cuda("control/recursion.cu").try_run("too_deep", Shape{{1}, {32}}, out),
            KM_ERROR_STACK_OVERFLOW);
  EXPECT_NE(last_error_message().find("nested too deeply"), std::string::npos);
}

/// summed() of recursion.cu.
uint32_t summed(uint32_t n, vector<uint32_t> own) {
  for (uint32_t k = 0; k < 16; ++k) own[k] += k;
  return n == 0 ? own[0] : summed(n - 1, own) + own[n % 16] % 7;
}

vector<uint32_t> first_of(uint32_t value) {
  vector<uint32_t> start;
  for (uint32_t k = 0; k < 16; ++k) start.push_back(value + k);
  return start;
}

vector<uint32_t> deep(uint32_t n, uint32_t depth) {
  vector<uint32_t> want;
  for (uint32_t i = 0; i < n; ++i) want.push_back(summed(depth + i % 3, first_of(i % 5)));
  return want;
}

void set_stack(const Session& own, uint64_t size_bytes) {
  EXPECT_EQ(km_context_limit_set(own.context(), KM_CONTEXT_LIMIT_STACK_BYTES, size_bytes),
            KM_SUCCESS);
}

TEST(Recursion, AsDeepAsTheStackOfTheContext) {
  KM_NEEDS_FAULTS();
  const uint32_t n = 320, depth = 1000;
  for (const uint32_t block : {64U, 1U}) {
    Session own;
    Module& module = own.cuda("control/recursion.cu");
    Buffer<uint32_t> out(own, n);
    module.run("deep", cover(n, block), out, 50U);  // its code has the usual stack
    set_stack(own, 300 << 10);
    module.run("deep", cover(n, block), out, depth);
    expect_bits("deep", out.read(), deep(n, depth));
    set_stack(own, 1);
    module.run("deep", cover(n, block), out, 50U);
    expect_bits("deep", out.read(), deep(n, 50));
    EXPECT_EQ(module.try_run("deep", cover(n, block), out, depth), KM_ERROR_STACK_OVERFLOW);
    EXPECT_NE(last_error_message().find("KM_CONTEXT_LIMIT_STACK_BYTES"), std::string::npos);
  }
}

TEST(Recursion, LargeBlocksWithTheLargestStack) {
  const uint32_t n = 1024, depth = 1500;
  Session own;
  set_stack(own, 512 << 10);
  Buffer<uint32_t> out(own, 2 * n);
  own.cuda("control/recursion.cu").run("deep", Shape{{2}, {n}}, out, depth);
  expect_bits("deep", out.read(), deep(2 * n, depth));
}

TEST(Recursion, DeepBetweenBarriers) {
  const uint32_t n = 96, depth = 700;
  Session own;
  set_stack(own, 200 << 10);
  Buffer<uint32_t> out(own, n);
  Shape shape{{1}, {n}};
  shape.shared_bytes = n * sizeof(uint32_t);
  own.cuda("control/recursion.cu").run("deep_between_barriers", shape, out, depth);
  vector<uint32_t> want;
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t next = summed(depth, first_of((i + 1) % n % 5));
    vector<uint32_t> start = first_of(i % 5);
    start[0] = next;
    want.push_back(summed(depth, start) + next);
  }
  expect_bits("deep_between_barriers", out.read(), want);
}

TEST(Recursion, InPtx) {
  const uint32_t n = 64;
  const auto a = random_u32(n, 14), b = mixed_u32(n, 15);
  Buffer<uint32_t> in_a(session(), a), in_b(session(), b), out(session(), n);
  session().ptx_file("recursion.ptx").run("divisors", Shape{{1}, {n}}, in_a, in_b, out);
  vector<uint32_t> want;
  for (uint32_t i = 0; i < n; ++i) want.push_back(a[i] % 2 == 1 ? std::gcd(a[i], b[i]) : ~0u);
  expect_bits("divisors", out.read(), want);
}

}  // namespace
}  // namespace km::kernels
