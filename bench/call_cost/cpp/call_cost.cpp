// The C++ contestant: the calls through <kernelmill/kernelmill.hpp>.
#include <chrono>
#include <cstdio>
#include <exception>
#include <kernelmill/kernelmill.hpp>

namespace {

constexpr int kBatches = 200;
constexpr int kQueries = 20000;
constexpr int kLaunches = 2560;
constexpr int kLaunchesPerWait = 256;

template <class Run>
void measure(const char* metric, int calls, Run run) {
  using clock = std::chrono::steady_clock;
  double least = 0;
  run(calls);
  for (int batch = 0; batch < kBatches; ++batch) {
    const auto start = clock::now();
    run(calls);
    const std::chrono::duration<double, std::nano> taken = clock::now() - start;
    if (batch == 0 || taken.count() / calls < least) least = taken.count() / calls;
  }
  std::printf("{\"metric\": \"%s\", \"unit\": \"ns\", \"value\": %.3f}\n", metric, least);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::fprintf(stderr, "usage: call_cost EMPTY.ptx\n");
    return 2;
  }
  const km::context context("cpu:0");
  const km::stream stream(context);
  const km::module module = km::module::load_file(context, argv[1]);
  km::launch launch = stream.launch(module.function("empty"));
  launch.grid(1).block(1);
  measure("status_query", kQueries, [&](int calls) {
    for (int i = 0; i < calls; ++i) {
      if (!stream.query()) std::terminate();  // an idle stream is ready
    }
  });
  measure("launch_empty", kLaunches, [&](int calls) {
    for (int i = 1; i <= calls; ++i) {
      launch.submit();
      if (i % kLaunchesPerWait == 0) stream.synchronize();
    }
  });
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "call_cost: %s\n", error.what());
  return 1;
}
