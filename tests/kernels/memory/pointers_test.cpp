// Calls through pointers to functions.
#include <string>

#include <gtest/gtest.h>

#include "harness/compare.h"
#include "harness/inputs.h"
#include "harness/session.h"

namespace km::kernels {
namespace {

using std::vector;

Module& kernels() { return session().cuda("memory/pointers.cu"); }

uint32_t apply(uint32_t operation, uint32_t a, uint32_t b) {
  switch (operation) {
    case 0:
      return a + b;
    case 1:
      return a - b;
    case 2:
      return a * b;
    default: {
      const uint32_t count = b % 16;
      return a * count + count * (count - 1) / 2;
    }
  }
}

TEST(Pointers, InTables) {
  const uint32_t n = 500;
  const auto a = random_u32(n, 31), b = mixed_u32(n, 32);
  Buffer<uint32_t> in_a(session(), a), in_b(session(), b), out(session(), n);
  kernels().run("by_table", cover(n, 64), out, in_a, in_b, n);
  vector<uint32_t> want;
  for (uint32_t i = 0; i < n; ++i) want.push_back(apply(a[i] % 4, a[i], b[i]) + 2 * a[i]);
  expect_bits("by_table", out.read(), want);
}

TEST(Pointers, FromKernelToKernel) {
  const uint32_t n = 96;
  Buffer<uint64_t> chosen(session(), n);
  Buffer<uint32_t> out(session(), n);
  kernels().run("give", Shape{{2}, {n / 2}}, chosen);
  kernels().run("take", Shape{{3}, {n / 3}}, out, chosen, 1000u, 37u);
  vector<uint32_t> want;
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t thread = i % (n / 2);
    want.push_back(apply(thread % 3 == 0 ? 1 : thread % 4, 1000, 37));
  }
  expect_bits("take", out.read(), want);
}

TEST(Pointers, AsArgumentsOfRecursion) {
  const uint32_t n = 80;
  const auto values = random_u32(9, 33);
  Buffer<uint32_t> in(session(), values), out(session(), n);
  kernels().run("folds", cover(n, 32), out, in, n);
  vector<uint32_t> want;
  for (uint32_t i = 0; i < n; ++i) {
    uint32_t result = values[0];
    for (uint32_t k = 1; k <= i % 9; ++k) result = apply(i % 4, result, values[k]);
    want.push_back(result);
  }
  expect_bits("folds", out.read(), want);
}

TEST(Pointers, VirtualFunctions) {
  const uint32_t n = 100;
  Buffer<float> out(session(), n);
  kernels().run("virtual_calls", cover(n, 64), out, n);
  vector<float> want;
  for (uint32_t i = 0; i < n; ++i) {
    const float size = i + (i % 3 == 0 ? 0 : 0.5f);
    const float area = i % 3 == 0 ? size * size : size * 4;
    want.push_back(0.25f * area + (i % 3 == 0 ? 0 : 1) + area);
  }
  expect_bits("virtual_calls", out.read(), want);
}

TEST(Pointers, ToNoFunction) {
  KM_NEEDS_FAULTS();
  for (const uint64_t pointer : {uint64_t{0}, uint64_t{17}, uint64_t{1} << 40}) {
    Session own;
    Buffer<uint32_t> out(own, 32);
    EXPECT_EQ(own.cuda("memory/pointers.cu").try_run("no_function", Shape{{1}, {32}}, out, pointer),
              KM_ERROR_ILLEGAL_INSTRUCTION);
    const std::string message = last_error_message();
    EXPECT_NE(message.find("not the address of a function"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace km::kernels
