// All services from eight threads at once, on shared objects.
#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include "support.h"

namespace {

using Words = std::vector<std::uint32_t>;
using namespace std::chrono_literals;

constexpr int kThreads = 8;

struct Threads : km_test::Fixture {
  km::module module = km_test::load(context);
  km::function fill = module.function("fill_index");
  km::pool pool{context};
  km::graph graph{context};
  km::slice<std::uint32_t> shared = km::slice<std::uint32_t>::zeroed(context, 64);
  km::blas blas{stream};
  km::slice<float> shared_floats = km::slice<float>::zeroed(context, 32);
  const bool has_blas = km::nothrow::blas::create(stream)->scal(1, 1.0f, shared_floats).status() !=
                        KM_ERROR_BLAS_UNAVAILABLE;
  km::profiler profiler{context};
  std::atomic<int> done{0};

  void launches() {
    const km::stream own(context);
    const km::slice<std::uint32_t> out(own, 64);
    own.launch(fill).grid(1).block(64).args(out, 7u, 64u).submit();
    own.launch_kernel(fill, 1, 64, 0, km::read_only(out), 7u, 64u);
    EXPECT_EQ(out.to_vector(own)[63], 70u);
    shared.fill(stream, 1u);
    const km::event event = stream.record_event();
    own.wait(event);
    own.add_callback([this](km_status) noexcept { ++done; });
    own.synchronize();
  }
  void memories() {
    auto pooled = pool.allocate_on<std::uint32_t>(stream, 64);
    const km::host_memory<std::uint32_t> host(context, 64);
    pooled.part(0, 8).fill(stream, 3u);
    pooled.upload_rows(stream, host.data(), {4, 4}, {}, {0, 32, 0});
    pooled.reset_on(stream);
    pool.trim(1 << 16);
    EXPECT_GE(pool.info().allocation_count, 1u);
    EXPECT_GT(context.find_slice<std::uint32_t>({shared.address()}).slice.size(), 0u);
    context.allocations();
    context.memory_profile();
  }
  void graphs() {
    const km::node node = graph.add_host({}, [this](km_status) noexcept { ++done; });
    const km::graph_exec exec = graph.instantiate();
    exec.launch(stream);
    EXPECT_FALSE(graph.nodes().empty());
    graph.remove_node(node);
    const km::stream own(context);
    km::capture capture(own);
    own.launch_kernel(fill, 1, 64, 0, shared, 7u, 64u);
    capture.end().instantiate().launch(own);
    own.synchronize();
  }
  void reports() {
    const km::profile_scope scope(context, "reports");
    EXPECT_THROW(module.function("none"), km::error);
    context.error_history();
    context.error_counts();
    profiler.rows();
    EXPECT_FALSE(profiler.summary().empty());
    fill.occupancy(64);
    fill.prepare(64);
    if (has_blas) blas.swap(16, shared_floats.part(0, 16), shared_floats.part(16, 16));
    EXPECT_FALSE(km::nothrow::device::open("none"));
  }
};

TEST_F(Threads, AllServicesAtOnce) {
  profiler.start();
  context.set_tracking(KM_TRACKING_ON);
  context.start_memory_profile(1ms);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 40; ++round) {
        switch ((round + i) % 4) {
          case 0:
            launches();
            break;
          case 1:
            memories();
            break;
          case 2:
            graphs();
            break;
          default:
            reports();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  context.stop_memory_profile();
  stream.synchronize();
  EXPECT_GE(done, kThreads * 20);
  EXPECT_TRUE(graph.nodes().empty());
}

}  // namespace
