#include <algorithm>
#include <cstdio>
#include <sstream>

#include <gtest/gtest.h>

#include "harness/compare.h"
#include "harness/inputs.h"
#include "harness/session.h"

namespace km::kernels {
namespace {

using std::vector;

Module& kernels() { return session().cuda("control/output.cu"); }

vector<std::string> lines_of(const std::string& text) {
  vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

template <class... Args>
std::string formatted(const char* format, Args... args) {
  char text[512];
  std::snprintf(text, sizeof text, format, args...);
  return text;
}

TEST(Output, PrintFormats) {
  KM_NEEDS_OUTPUT();
  const int32_t i = 42;
  const uint64_t u = 0xFEDCBA9876543210u;
  const double d = -12345.678901;
  const float f = 0.1f;
  session().take_output();
  kernels().run("print_formats", Shape{{2}, {64}}, i, u, d, f);
  const auto got = lines_of(session().take_output());
  const auto ll = static_cast<long long>(u);
  const auto ull = static_cast<unsigned long long>(u);
  const vector<std::string> want{"no arguments, 100%",
                                 formatted("%d %5d|%-5d|%05d %i", i, i, i, i, -i),
                                 formatted("%u %x %X %o %#x", 42u, 42u, 42u, 42u, 42u),
                                 formatted("%llu %lld %llx %ld", ull, ll, ull, 42L),
                                 formatted("%f %.3f %e %g %10.2f|", d, d, d, d, d),
                                 formatted("%f %a", static_cast<double>(f), d),
                                 "ok text|     right|left  |"};
  EXPECT_EQ(got, want);
}

TEST(Output, PrintFromThreads) {
  KM_NEEDS_OUTPUT();
  const uint32_t n = 100;
  session().take_output();
  kernels().run("print_from_threads", Shape{{3}, {40}}, n);
  auto got = lines_of(session().take_output());
  vector<std::string> want;
  for (uint32_t i = 0; i < n; i += 3) {
    want.push_back(formatted("thread %u of block %u", i % 40, i / 40));
  }
  std::sort(got.begin(), got.end());
  std::sort(want.begin(), want.end());
  EXPECT_EQ(got, want);
}

TEST(Output, PrintInLoop) {
  KM_NEEDS_OUTPUT();
  const uint32_t n = 64;
  session().take_output();
  Buffer<int32_t> results(session(), n);
  kernels().run("print_in_loop", Shape{{2}, {32}}, results);
  auto got = lines_of(session().take_output());
  vector<std::string> want;
  vector<int32_t> want_results;
  for (uint32_t i = 0; i < n; ++i) {
    for (uint32_t k = 0; k <= i % 4; ++k) want.push_back(formatted("%u:%u", i, k));
    want_results.push_back(2 * static_cast<int32_t>(i % 4 + 1));  // printf gives its argument count
  }
  std::sort(got.begin(), got.end());
  std::sort(want.begin(), want.end());
  EXPECT_EQ(got, want);
  expect_bits("print_in_loop", results.read(), want_results);
}

TEST(Output, AssertHolds) {
  const vector<int32_t> values{1, 2, 3, 4, 5};
  Buffer<int32_t> in(session(), values), out(session(), 5);
  kernels().run("assert_positive", cover(5), in, out, 5u);
  expect_bits("assert_positive", out.read(), vector<int32_t>{2, 4, 6, 8, 10});
}

/// Faults stick to a context, so each test has its own.
std::string context_message(Session& session) {
  char text[4096] = "";
  uint64_t size = 0;
  km_context_error_message(session.context(), text, sizeof text, &size);
  return text;
}

TEST(Output, AssertFails) {
  KM_NEEDS_FAULTS();
  Session own;
  Module& module = own.cuda("control/output.cu");
  Buffer<int32_t> in(own, vector<int32_t>(100, 1)), bad(own, vector<int32_t>{1, 1, -1, 1});
  Buffer<int32_t> out(own, 100);
  module.run("assert_positive", cover(100), in, out, 100u);
  EXPECT_EQ(module.try_run("assert_positive", cover(4), bad, out, 4u), KM_ERROR_ASSERT);
  const std::string message = context_message(own);
  EXPECT_NE(message.find("in[i] > 0"), std::string::npos) << message;
  EXPECT_NE(message.find("assert_positive"), std::string::npos) << message;
}

/// "block: [1,0,0], thread: [28,0,0]" of each line of a failed assertion, sorted.
vector<std::string> places_of(const std::string& text, const std::string& condition) {
  vector<std::string> places;
  for (const std::string& line : lines_of(text)) {
    const size_t begin = line.find("block: ");
    const size_t end = line.find(" Assertion `" + condition + "` failed.");
    EXPECT_TRUE(begin != line.npos && end != line.npos) << line;
    if (begin != line.npos && end != line.npos) places.push_back(line.substr(begin, end - begin));
  }
  std::sort(places.begin(), places.end());
  return places;
}

/// Those of threads [first, last) of the grid, blocks of `threads`.
vector<std::string> places(uint32_t first, uint32_t last, uint32_t threads) {
  vector<std::string> expected;
  for (uint32_t i = first; i < last; ++i) {
    expected.push_back(formatted("block: [%u,0,0], thread: [%u,0,0]", i / threads, i % threads));
  }
  std::sort(expected.begin(), expected.end());
  return expected;
}

TEST(Output, EachThreadSaysThatItsAssertionFailed) {
  KM_NEEDS_FAULTS();
  KM_NEEDS_OUTPUT();
  for (const uint32_t limit : {0u, 1u, 33u, 60u, 95u}) {
    Session own;
    Module& module = own.cuda("control/output.cu");
    EXPECT_EQ(module.try_run("assert_below", Shape{{2}, {48}}, limit), KM_ERROR_ASSERT);
    const std::string text = own.take_output();
    EXPECT_EQ(places_of(text, "i < n"), places(limit, 96, 48)) << limit;
    EXPECT_NE(text.find("output.cu:"), std::string::npos) << text;
    EXPECT_NE(text.find(": void assert_below(unsigned int): block: "), std::string::npos) << text;
  }
}

TEST(Output, AssertionsInShapedBlocksSayWhere) {
  KM_NEEDS_FAULTS();
  KM_NEEDS_OUTPUT();
  Session own;
  Module& module = own.cuda("control/output.cu");
  EXPECT_EQ(module.try_run("assert_below", Shape{{1, 2}, {2, 3, 2}}, 1u), KM_ERROR_ASSERT);
  const vector<std::string> got = places_of(own.take_output(), "i < n");
  vector<std::string> want;
  for (uint32_t y = 0; y < 2; ++y) {
    for (uint32_t t = 0; t < 12; ++t) {
      if (t % 2 == 0) continue;  // i is threadIdx.x
      want.push_back(formatted("block: [0,%u,0], thread: [%u,%u,%u]", y, t % 2, t / 2 % 3, t / 6));
    }
  }
  std::sort(want.begin(), want.end());
  EXPECT_EQ(got, want);
}

TEST(Output, NothingFollowsAFailedAssertionInItsThread) {
  KM_NEEDS_FAULTS();
  KM_NEEDS_OUTPUT();
  Session own;
  Module& module = own.cuda("control/output.cu");
  Buffer<uint32_t> out(own, 3 * 128);
  EXPECT_EQ(module.try_run("assert_between_barriers", Shape{{3}, {128}}, out, 300u),
            KM_ERROR_ASSERT);
  std::string text = own.take_output();
  vector<std::string> failed;
  size_t after = 0;
  std::istringstream stream(text);
  std::string rest;
  for (std::string line; std::getline(stream, line);) {
    if (line == "after") {
      ++after;
    } else {
      rest += line + "\n";
    }
  }
  EXPECT_GE(after, 2u * 128);  // the block whose threads fail may go on without them
  EXPECT_LE(after, 300u);
  EXPECT_EQ(places_of(rest, "value < n"), places(300, 384, 128));
}

TEST(Output, AThreadFailsOnceInALoop) {
  KM_NEEDS_FAULTS();
  KM_NEEDS_OUTPUT();
  Session own;
  Module& module = own.cuda("control/output.cu");
  Buffer<uint32_t> limits(own, vector<uint32_t>{40, 40, 32, 40});
  EXPECT_EQ(module.try_run("assert_in_loop", Shape{{1}, {40}}, limits, 4u), KM_ERROR_ASSERT);
  EXPECT_EQ(places_of(own.take_output(), "threadIdx.x < limits[k]"), places(32, 40, 40));
}

TEST(Output, LaunchesEndWhoseFailedThreadsAreWaitedFor) {
  KM_NEEDS_FAULTS();
  KM_NEEDS_OUTPUT();
  Session own;
  Module& module = own.cuda("control/output.cu");
  Buffer<uint32_t> flag(own, vector<uint32_t>{0});
  EXPECT_EQ(module.try_run("assert_before_flag", Shape{{2}, {64}}, flag, 1u), KM_ERROR_ASSERT);
  const vector<std::string> want{"block: [0,0,0], thread: [0,0,0]",
                                 "block: [1,0,0], thread: [0,0,0]"};
  EXPECT_EQ(places_of(own.take_output(), "n == 0"), want);
  EXPECT_NE(context_message(own).find("n == 0"), std::string::npos);
}

TEST(Output, LinesOfFailedAssertionsAreBounded) {
  KM_NEEDS_FAULTS();
  KM_NEEDS_OUTPUT();
  Session own;
  Module& module = own.cuda("control/output.cu");
  EXPECT_EQ(module.try_run("assert_below", Shape{{1000}, {256}}, 0u), KM_ERROR_ASSERT);
  const size_t lines = lines_of(own.take_output()).size();
  EXPECT_GE(lines, 256u);
  EXPECT_LE(lines, 1024u);
}

TEST(Output, Trap) {
  KM_NEEDS_FAULTS();
  Session own;
  Module& module = own.cuda("control/output.cu");
  const vector<int32_t> values{5, 6, 7, 8};
  Buffer<int32_t> in(own, values), out(own, 4);
  module.run("trap_on", cover(4), in, out, int32_t{99}, 4u);
  expect_bits("trap_on", out.read(), vector<int32_t>{6, 7, 8, 9});
  EXPECT_EQ(module.try_run("trap_on", cover(4), in, out, int32_t{7}, 4u), KM_ERROR_TRAP);
  km_status sticky = KM_SUCCESS;
  require(km_context_error(own.context(), &sticky), "km_context_error");
  EXPECT_EQ(sticky, KM_ERROR_TRAP);
}

TEST(Output, ExitInTheMiddle) {
  const uint32_t n = 100;
  const auto values = cast_all<int32_t>(random_u32(n, 1));
  Buffer<int32_t> in(session(), values), out(session(), n);
  kernels().run("exit_in_function", cover(n), in, out, n);
  vector<int32_t> want;
  for (const int32_t x : values) want.push_back(x % 2 == 0 ? 1 : 2);
  expect_bits("exit_in_function", out.read(), want);
}

TEST(Output, StoreFarAway) {
  KM_NEEDS_FAULTS();
  Session own;
  Module& module = own.cuda("control/output.cu");
  Buffer<int32_t> out(own, 16);
  EXPECT_EQ(module.try_run("write_far", Shape{{1}, {32}}, out, int64_t{1} << 43),
            KM_ERROR_ILLEGAL_ADDRESS);
  // Other contexts go on.
  Buffer<int32_t> in(session(), vector<int32_t>{1}), result(session(), 1);
  kernels().run("assert_positive", cover(1), in, result, 1u);
  EXPECT_EQ(result.read()[0], 2);
}

}  // namespace
}  // namespace km::kernels
