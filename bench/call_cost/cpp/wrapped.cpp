// A launch by kernelmill.hpp against the same by the wrapper of `kernelmill wrap`, batch by batch
// in turn in one process.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "generated/wrapped.hpp"

namespace {

constexpr int kBatches = 200;
constexpr int kLaunches = 2560;
constexpr int kLaunchesPerWait = 256;

template <class Launch>
double batch_ns(const km::stream& stream, Launch launch) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 1; i <= kLaunches; ++i) {
    launch(i);
    if (i % kLaunchesPerWait == 0) stream.synchronize();
  }
  const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
  return taken.count() / kLaunches;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main() try {
  const km::context context("cpu:0");
  const km::stream stream(context);
  const wrapped::kernels kernels(context);
  const km::function nothing =
      km::module::load_ptx(context, wrapped::ptx, "wrapped").function("nothing");
  const km::slice<float> x(context, 16), y(context, 16);
  const auto by_hand = [&](int n) {
    stream.launch_kernel(nothing, {1, 1, 1}, {1, 1, 1}, 0, km::read_only(x), y, 2.0F, n);
  };
  const auto by_wrapper = [&](int n) {
    kernels.nothing(stream, {1, 1, 1}, {1, 1, 1}, 0, x, y, 2.0F, n);
  };
  std::vector<double> hand, wrapper, over;
  for (int batch = -1; batch < kBatches; ++batch) {
    double first = 0, second = 0;
    if (batch % 2 == 0) first = batch_ns(stream, by_hand);
    second = batch_ns(stream, by_wrapper);
    if (batch % 2 != 0) first = batch_ns(stream, by_hand);
    if (batch < 0) continue;
    hand.push_back(first);
    wrapper.push_back(second);
    over.push_back(second - first);
  }
  std::printf(
      "{\"metric\": \"launch_cpp\", \"unit\": \"ns\", \"hand\": %.1f, \"wrapper\": %.1f, "
      "\"wrapper_adds\": %.1f}\n",
      median(hand), median(wrapper), median(over));
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
