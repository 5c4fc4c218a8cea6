// Recursion is refused where the device cannot run it, and runs right where it can.
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

/// Whether the device refuses a module of recursive functions: then by an error that says so.
template <class Load>
bool is_refused(const Load& load, const char* function) {
  try {
    load();
    return false;
  } catch (const Failure& failure) {
    const std::string text = failure.what();
    EXPECT_EQ(failure.status, KM_ERROR_UNSUPPORTED_PTX) << text;
    EXPECT_NE(text.find("recursive"), std::string::npos) << text;
    EXPECT_NE(text.find(function), std::string::npos) << text;
    return true;
  }
}

Module& kernels() { return session().cuda("recursion.cu"); }

uint32_t ackermann(uint32_t m, uint32_t n) {
  if (m == 0) return n + 1;
  return m == 1 ? n + 2 : 2 * n + 3;  // closed forms for m up to 2
}

TEST(Recursion, OfOneFunction) {
  if (is_refused(kernels, "fibonacci")) return;
  const uint32_t n = 150;
  Buffer<uint32_t> out(session(), 2 * n);
  kernels().run("recursion", cover(n, 64), out, n);
  vector<uint32_t> want, fibonacci{0, 1};
  while (fibonacci.size() < 15)
    fibonacci.push_back(*(fibonacci.end() - 1) + *(fibonacci.end() - 2));
  for (uint32_t i = 0; i < n; ++i) {
    want.insert(want.end(), {fibonacci[i % 15], ackermann(i % 3, i % 5)});
  }
  expect_bits("recursion", out.read(), want);
}

TEST(Recursion, OfTwoFunctions) {
  if (is_refused(kernels, "recursion.cu")) return;
  const uint32_t n = 200;
  Buffer<uint32_t> out(session(), n);
  kernels().run("mutual_recursion", cover(n), out, n);
  vector<uint32_t> want;
  for (uint32_t i = 0; i < n; ++i) want.push_back((i % 23 % 2 == 0 ? 1 : 0) | (i % 17 % 2 ? 2 : 0));
  expect_bits("mutual_recursion", out.read(), want);
}

TEST(Recursion, InPtx) {
  if (is_refused([] { session().ptx_file("recursion.ptx"); }, "gcd")) return;
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
