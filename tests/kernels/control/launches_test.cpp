// Kernels that launch kernels (CUDA C++ Programming Guide, "CUDA Dynamic Parallelism"). GPUs need
// NVIDIA's device runtime linked in, which the library does not do.
#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "harness/compare.h"
#include "harness/session.h"

namespace km::kernels {
namespace {

using std::vector;

// Numbers of cudaError.
constexpr uint32_t kInvalidValue = 1, kInvalidConfiguration = 9, kInvalidPointer = 17,
                   kTooDeep = 65, kTooManyPending = 69, kInvalidFunction = 98, kInvalidDevice = 101,
                   kUnsupportedLimit = 215, kInvalidHandle = 400;

#define KM_NEEDS_CPU()                                                  \
  if (device_uri().substr(0, 3) != "cpu") {                             \
    GTEST_SKIP() << "the device runtime is linked on CPU devices only"; \
  }

vector<std::string> options() {
  vector<std::string> all = exact_options();
  all.emplace_back("-rdc=true");
  return all;
}

Module& kernels(Session& in = session()) { return in.cuda("control/launches.cu", options()); }

vector<uint32_t> log_of(const Buffer<uint32_t>& log) {
  const vector<uint32_t> content = log.read();
  return {content.begin() + 1, content.begin() + 1 + std::min(content[0], 255u)};
}

TEST(Launches, ChildrenSeeWhatWasWrittenBefore) {
  KM_NEEDS_CPU();
  const uint32_t n = 1000;
  Buffer<uint32_t> values(session(), n);
  kernels().run("launch_after_writes", Shape{{1}, {64}}, values, n);
  vector<uint32_t> want(n);
  for (uint32_t i = 0; i < n; ++i) want[i] = 2 * i;
  expect_bits("launch_after_writes", values.read(), want, [](uint64_t) { return ""; });
}

TEST(Launches, EveryThreadLaunches) {
  KM_NEEDS_CPU();
  Buffer<uint32_t> counter(session(), vector<uint32_t>{0});
  kernels().run("launch_from_every_thread", Shape{{5}, {70}}, counter);
  const uint32_t threads = 5 * 70;
  EXPECT_EQ(counter.read()[0], 6 * (threads * (threads + 1) / 2));
}

TEST(Launches, KernelsHaveAddresses) {
  KM_NEEDS_CPU();
  Buffer<uint32_t> counter(session(), vector<uint32_t>{0});
  kernels().run("launch_by_address", Shape{{1}, {4}}, counter);
  EXPECT_EQ(counter.read()[0], 2 * 10u + 2 * 20u);
}

TEST(Launches, AStreamIsInOrder) {
  KM_NEEDS_CPU();
  Buffer<uint32_t> log(session(), vector<uint32_t>(256));
  kernels().run("launch_in_order", Shape{{1}, {1}}, log, 100u);
  vector<uint32_t> want(100);
  std::iota(want.begin(), want.end(), 0);
  EXPECT_EQ(log_of(log), want);
}

TEST(Launches, TailsFollowTheParentAndItsChildren) {
  KM_NEEDS_CPU();
  Buffer<uint32_t> log(session(), vector<uint32_t>(256));
  kernels().run("launch_tail", Shape{{1}, {1}}, log);
  const vector<uint32_t> got = log_of(log);
  ASSERT_EQ(got.size(), 9u);
  const auto place = [&](uint32_t what) { return std::find(got.begin(), got.end(), what); };
  for (const uint32_t early : {0u, 100u, 101u, 102u, 150u}) EXPECT_LT(place(early), place(200));
  EXPECT_LT(place(101), place(102));
  EXPECT_LT(place(200), place(202));
  EXPECT_LT(place(201), place(202));
  EXPECT_LT(place(202), place(300));  // a grid is complete when its tails are
}

TEST(Launches, NestTo24Levels) {
  KM_NEEDS_CPU();
  Buffer<uint32_t> out(session(), vector<uint32_t>{0, 0});
  kernels().run("nest", Shape{{1}, {1}}, out, 0u);
  EXPECT_EQ(out.read(), (vector<uint32_t>{24, kTooDeep}));
}

TEST(Launches, TailsReplaceTheirGridForEver) {
  KM_NEEDS_CPU();
  Buffer<uint32_t> out(session(), vector<uint32_t>{0, 0});
  kernels().run("relaunch", Shape{{1}, {1}}, out, 3000u);
  EXPECT_EQ(out.read(), (vector<uint32_t>{3001, 0}));
}

TEST(Launches, ArgumentsAreCopied) {
  KM_NEEDS_CPU();
  Buffer<double> out(session(), vector<double>(40));
  kernels().run("launch_large", Shape{{1}, {40}}, out);
  const vector<double> got = out.read();
  for (uint32_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], 4950 + 100.0 * i + 7);
}

TEST(Launches, WrongCallsAreErrorsOfTheThread) {
  KM_NEEDS_CPU();
  Buffer<uint32_t> errors(session(), vector<uint32_t>(17, 12345));
  Buffer<uint32_t> counter(session(), vector<uint32_t>{0});
  kernels().run("launch_wrongly", Shape{{1}, {1}}, errors, counter);
  EXPECT_EQ(
      errors.read(),
      (vector<uint32_t>{kInvalidConfiguration, kInvalidConfiguration, 0, kInvalidConfiguration,
                        kInvalidConfiguration, kInvalidHandle, kInvalidValue, 0, kInvalidValue, 0,
                        0, 0, 0, 0, kInvalidHandle, kInvalidPointer, kInvalidPointer}));
  EXPECT_EQ(counter.read()[0], 10u);
}

TEST(Launches, PendingOnesAreLimited) {
  KM_NEEDS_CPU();
  Session own;
  Buffer<uint32_t> out(own, vector<uint32_t>{0, 0});
  kernels(own).run("launch_many", Shape{{1}, {1}}, out, 5000u);
  EXPECT_EQ(out.read(), (vector<uint32_t>{5000, 0}));
  require(km_context_limit_set(own.context(), KM_CONTEXT_LIMIT_PENDING_LAUNCHES, 7), "limit");
  uint64_t limit = 0;
  require(km_context_limit_get(own.context(), KM_CONTEXT_LIMIT_PENDING_LAUNCHES, &limit), "limit");
  EXPECT_EQ(limit, 7u);
  kernels(own).run("launch_many", Shape{{1}, {1}}, out, 7u);
  EXPECT_EQ(out.read(), (vector<uint32_t>{5007, 0}));
  kernels(own).run("launch_many", Shape{{1}, {1}}, out, 8u);
  EXPECT_EQ(out.read(), (vector<uint32_t>{5014, kTooManyPending}));
}

TEST(Launches, CopiesAndFillsAreInOrder) {
  KM_NEEDS_CPU();
  Buffer<uint32_t> out(session(), vector<uint32_t>(6, 77));
  Buffer<uint8_t> bytes(session(), vector<uint8_t>(256));
  kernels().run("move", Shape{{1}, {1}}, out, bytes);
  EXPECT_EQ(out.read(),
            (vector<uint32_t>{28 * 0x01010101u, 0, 0, 0, kInvalidValue, kInvalidValue}));
  vector<uint8_t> want(256);
  for (uint32_t row = 0; row < 4; ++row) {
    for (uint32_t x = 0; x < 3; ++x) want[16 * row + x] = want[64 + 8 * row + x] = 7;
  }
  for (uint32_t row = 0; row < 6; ++row) std::fill_n(&want[128 + 8 * row], 5, 9);
  for (uint32_t layer = 0; layer < 2; ++layer) std::fill_n(&want[192 + 8 * (layer + 1)], 4, 9);
  EXPECT_EQ(bytes.read(), want);
}

TEST(Launches, TheDeviceRuntimeAnswers) {
  KM_NEEDS_CPU();
  Buffer<uint64_t> out(session(), vector<uint64_t>(18, 12345));
  kernels().run("ask", Shape{{1}, {1}}, out);
  uint64_t heap_bytes = 0;
  require(km_context_limit_get(session().context(), KM_CONTEXT_LIMIT_HEAP_BYTES, &heap_bytes),
          "limit");
  EXPECT_EQ(out.read(),
            (vector<uint64_t>{0, 32, kInvalidDevice, 0, heap_bytes, kUnsupportedLimit, 0, 0, 0, 1,
                              0, 1, 0, 1024, kInvalidFunction, 29, 30, 'L'}));
}

/// 20,000 bytes of shared memory in each block, beside what the device keeps of it.
TEST(Launches, KernelsAskForOccupancy) {
  KM_NEEDS_CPU();
  Buffer<int> out(session(), vector<int>(17));
  kernels().run("ask_for_occupancy", Shape{{1}, {1}}, out);
  const vector<int> found = out.read();
  km_device device{};
  int64_t shared_bytes = 0, threads = 0;
  require(km_context_device(session().context(), &device), "km_context_device");
  require(km_device_attribute_get(device, KM_DEVICE_ATTRIBUTE_CUDA + 81, &shared_bytes), "bytes");
  require(
      km_device_attribute_get(device, KM_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, &threads),
      "threads");
  for (int i = 0; i < 6; ++i) {
    const int64_t by_shared = shared_bytes / ((20000 + 1024 + 127) / 128 * 128);
    EXPECT_EQ(found[2 * i], std::min<int64_t>(by_shared, threads / (32 << i))) << i;
    EXPECT_EQ(found[2 * i + 1], 0) << i;
  }
  EXPECT_EQ(found[12], shared_bytes / ((40000 + 1024 + 127) / 128 * 128));
  EXPECT_EQ((vector<int>(found.begin() + 13, found.end())),
            (vector<int>{0, kInvalidValue, kInvalidValue, kInvalidFunction}));
}

TEST(Launches, FaultsOfChildrenAreTheLaunchs) {
  KM_NEEDS_CPU();
  Session own;
  Buffer<uint32_t> out(own, vector<uint32_t>{0});
  EXPECT_EQ(kernels(own).try_run("launch_fault", Shape{{1}, {1}}, out), KM_ERROR_ILLEGAL_ADDRESS);
  EXPECT_NE(last_error_message().find("writes_at_null"), std::string::npos) << last_error_message();
  EXPECT_FALSE(own.is_usable());
}

TEST(Launches, WarpsMayWaitBetweenThem) {
  KM_NEEDS_CPU();
  Buffer<uint32_t> out(session(), vector<uint32_t>{0, 0, 0});
  kernels().run("launch_between_barriers", Shape{{3}, {64}}, out);
  EXPECT_EQ(out.read(), (vector<uint32_t>{96, 96, 3 * 2016}));
}

/// Captures one launch of the kernel with two threads.
km_graph captured(km_module module, const char* kernel, const RawBuffer& counter) {
  km_function function{};
  km_launch launch{};
  km_graph graph{};
  const km_stream stream = session().stream();
  require(km_module_function(module, kernel, &function), "km_module_function");
  require(km_launch_create(stream, function, &launch), "km_launch_create");
  require(km_launch_set_grid(launch, 1, 1, 1), "km_launch_set_grid");
  require(km_launch_set_block(launch, 2, 1, 1), "km_launch_set_block");
  require(km_launch_arg_slice(launch, counter.slice(), 0), "km_launch_arg_slice");
  require(km_stream_begin_capture(stream), "km_stream_begin_capture");
  require(km_launch_submit(launch), "km_launch_submit");
  require(km_stream_end_capture(stream, &graph), "km_stream_end_capture");
  require(km_launch_destroy(launch), "km_launch_destroy");
  require(km_function_destroy(function), "km_function_destroy");
  return graph;
}

TEST(Launches, GraphsRunThemEachTime) {
  KM_NEEDS_CPU();
  Buffer<uint32_t> counter(session(), vector<uint32_t>{0});
  const std::string ptx = compile_to_ptx("control/launches.cu", options());
  km_module module{};
  km_graph_exec exec{};
  require(km_module_load_ptx(session().context(), ptx.data(), ptx.size(), "launches.ptx", &module),
          "km_module_load_ptx");
  const km_graph graph = captured(module, "launch_from_every_thread", counter);
  require(km_graph_exec_create(graph, &exec), "km_graph_exec_create");
  for (int i = 0; i < 3; ++i) {
    require(km_graph_exec_launch(exec, session().stream()), "km_graph_exec_launch");
  }
  session().synchronize();
  EXPECT_EQ(counter.read()[0], 3u * 18);
  require(km_graph_exec_destroy(exec), "km_graph_exec_destroy");
  require(km_graph_destroy(graph), "km_graph_destroy");
  require(km_module_destroy(module), "km_module_destroy");
}

}  // namespace
}  // namespace km::kernels
