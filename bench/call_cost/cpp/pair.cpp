// The cost that the C++ header adds to the calls of the C ABI: the same calls by both, batch by
// batch in turn in one process, and what a recorded graph of InfiniCore's Runtime saves. `pair
// EMPTY.ptx [BATCHES]`.
#include <infinicore/context/runtime.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace {

constexpr int kCalls = 2560;
constexpr int kCallsPerWait = 256;
constexpr int kOperators = 16;

using Call = std::function<void(int calls)>;

double per_call_ns(const Call& call, int calls) {
  const auto start = std::chrono::steady_clock::now();
  call(calls);
  const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
  return taken.count() / calls;
}

// The least of the batches of each, and their difference from the first.
void compare(const char* metric, const std::vector<std::pair<const char*, Call>>& ways, int batches,
             int calls = kCalls) {
  std::vector<double> least(ways.size());
  for (int batch = -1; batch < batches; ++batch) {
    for (std::size_t i = 0; i < ways.size(); ++i) {
      const double ns = per_call_ns(ways[i].second, calls);
      if (batch <= 0 || ns < least[i]) least[i] = ns;
    }
  }
  std::printf("{\"metric\": \"%s\", \"unit\": \"ns\"", metric);
  for (std::size_t i = 0; i < ways.size(); ++i) {
    std::printf(", \"%s\": %.1f", ways[i].first, least[i]);
  }
  for (std::size_t i = 1; i < ways.size(); ++i) {
    std::printf(", \"%s_adds\": %.1f", ways[i].first, least[i] - least[0]);
  }
  std::puts("}");
}

// The call `calls` times, with a wait for the stream now and then.
template <class Once>
Call repeated(const km::stream& stream, Once once) {
  return [&stream, once](int calls) mutable {
    for (int i = 1; i <= calls; ++i) {
      once();
      if (i % kCallsPerWait == 0) stream.synchronize();
    }
  };
}

void check(km_status status) {
  if (status != KM_SUCCESS) std::exit(1);
}

class Pairs {
 public:
  Pairs(const char* path, int batches)
      : batches_(batches),
        function_(km::module::load_file(runtime_.nativeContext(), path).function("empty")) {}

  void queries() const {
    const km_stream handle = stream_.get();
    const auto twin = km::nothrow::stream::create(runtime_.nativeContext());
    const infinirtEvent_t event = runtime_.createEvent();
    compare("query",
            {{"c",
              [=](int calls) {
                for (int i = 0; i < calls; ++i) check(km_stream_query(handle));
              }},
             {"cpp",
              [&](int calls) {
                for (int i = 0; i < calls; ++i)
                  if (!stream_.query()) std::exit(1);
              }},
             {"nothrow",
              [&](int calls) {
                for (int i = 0; i < calls; ++i)
                  if (!twin->query()) std::exit(1);
              }}},
            batches_);
    compare("query_event",
            {{"c",
              [=](int calls) {
                for (int i = 0; i < calls; ++i) check(km_event_query(event));
              }},
             {"infinicore",
              [&](int calls) {
                for (int i = 0; i < calls; ++i)
                  if (!runtime_.queryEvent(event)) std::exit(1);
              }}},
            batches_);
    runtime_.destroyEvent(event);
  }

  void launches() const {
    km_launch handle{};
    check(km_launch_create(stream_.get(), function_.get(), &handle));
    check(km_launch_set_grid(handle, 1, 1, 1));
    check(km_launch_set_block(handle, 1, 1, 1));
    auto launch = stream_.launch(function_);
    launch.grid(1).block(1);
    auto twin = km::nothrow::launch::create(stream_, function_);
    twin->grid(1).block(1);
    const infinicore::graph::KernelOperator op(stream_, function_, 1, 1, 0);
    compare("launch",
            {{"c", repeated(stream_, [=] { check(km_launch_submit(handle)); })},
             {"cpp", repeated(stream_, [&] { launch.submit(); })},
             {"nothrow", repeated(stream_, [&] { check(twin->submit().status()); })},
             {"infinicore", repeated(stream_, [&] { op.run(); })}},
            batches_);
    km_launch_destroy(handle);
    const km_launch_config config = {{1, 1, 1}, {1, 1, 1}, 0};
    compare("launch_kernel",
            {{"c", repeated(stream_,
                            [&] {
                              check(km_launch_kernel(stream_.get(), function_.get(), &config,
                                                     nullptr, 0, nullptr, 0));
                            })},
             {"cpp", repeated(stream_, [&] { stream_.launch_kernel(function_, 1, 1, 0); })}},
            batches_);
  }

  void copies() const {
    const km::slice<float> from(runtime_.nativeContext(), 16), to(runtime_.nativeContext(), 16);
    compare("copy",
            {{"c", repeated(stream_,
                            [&] {
                              check(km_slice_copy(stream_.get(), to.get(), 0, from.get(), 0, 64));
                            })},
             {"cpp", repeated(stream_, [&] { to.copy_from(stream_, from); })}},
            batches_);
    const std::uint64_t source = from.address(), destination = to.address();
    compare("copy_address",
            {{"c", repeated(stream_,
                            [=, this_stream = stream_.get()] {
                              check(km_memory_copy(this_stream, destination, source, 64));
                            })},
             {"infinicore", repeated(stream_,
                                     [&] {
                                       runtime_.memcpyD2D(reinterpret_cast<void*>(destination),
                                                          reinterpret_cast<void*>(source), 64);
                                     })}},
            batches_);
  }

  // Sixteen operators one by one, and as a recorded graph.
  void replay() const {
    std::vector<std::shared_ptr<infinicore::graph::GraphOperator>> operators;
    for (int i = 0; i < kOperators; ++i) {
      operators.push_back(
          std::make_shared<infinicore::graph::KernelOperator>(stream_, function_, 1, 1, 0));
    }
    runtime_.startGraphRecording();
    for (const auto& op : operators) runtime_.addGraphOperator(op);
    const auto graph = runtime_.stopGraphRecording();
    const auto waiting = [&](auto run) {
      return [&, run](int calls) {
        for (int i = 0; i < calls; ++i) {
          run();
          stream_.synchronize();
        }
      };
    };
    compare("sixteen_operators",
            {{"eager", waiting([&] {
                for (const auto& op : operators) op->run();
              })},
             {"replay", waiting([&] { graph->execute(); })}},
            batches_, kCallsPerWait);
  }

 private:
  mutable infinicore::Runtime runtime_{infinicore::Device(infinicore::Device::Type::CPU, 0)};
  int batches_;
  const km::stream& stream_ = runtime_.nativeStream();
  km::function function_;
};

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2) {
    std::fprintf(stderr, "usage: pair EMPTY.ptx [BATCHES]\n");
    return 2;
  }
  const Pairs pairs(argv[1], argc > 2 ? std::atoi(argv[2]) : 200);
  pairs.queries();
  pairs.launches();
  pairs.copies();
  pairs.replay();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "pair: %s\n", error.what());
  return 1;
}
