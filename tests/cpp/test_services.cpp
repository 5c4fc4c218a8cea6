// Services of devices and contexts: pools, files, tracking, profiles, limits, history, occupancy.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "support.h"

namespace {

using km_test::contains;
using km_test::status_of;
using namespace std::chrono_literals;
using Words = std::vector<std::uint32_t>;

// A file of the test's own, which goes with it.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& ending)
      : path_(testing::TempDir() + "km_cpp_" + std::to_string(getpid()) + ending) {}
  ~TemporaryFile() { std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct Services : km_test::Fixture {
  km::module module = km_test::load(context);
  km::function fill = module.function("fill_index");
};

TEST(Library, TellsAboutItself) {
  EXPECT_EQ(km::version().major, static_cast<std::uint32_t>(KM_VERSION_MAJOR));
  EXPECT_STRNE(km::build_info().build_id, "");
  const auto backends = km::backends();
  EXPECT_TRUE(std::any_of(backends.begin(), backends.end(), [](const km_backend_info& backend) {
    return std::string(backend.name) == "cpu" && backend.status == KM_SUCCESS;
  }));
  EXPECT_EQ(km::device::count("cpu"), 1u);
  EXPECT_EQ(status_of([] { km::device::count("none"); }), KM_ERROR_BACKEND_UNAVAILABLE);
}

TEST(Library, SaysWhatAutoChooses) {
  const auto candidates = km::auto_candidates();
  ASSERT_FALSE(candidates.empty());
  const auto chosen = std::find_if(
      candidates.begin(), candidates.end(),
      [](const km_auto_candidate& candidate) { return candidate.outcome == KM_AUTO_CHOSEN; });
  ASSERT_NE(chosen, candidates.end());
  EXPECT_EQ(std::string(chosen->uri), km::device("auto").info().uri);
}

TEST(Library, SaysWhichBackendsNoBuildHas) {
  for (const char* name : {"metal", "webgpu", "opengles", "webgl2"}) {
    const km::error error = km_test::error_of([&] { km::device{name}; });
    EXPECT_EQ(error.status(), KM_ERROR_UNSUPPORTED_BACKEND) << name;
    EXPECT_TRUE(contains(error.what(), name)) << error.what();
    EXPECT_EQ(km::nothrow::device::count(name).status(), KM_ERROR_UNSUPPORTED_BACKEND) << name;
  }
}

TEST(Library, KnowsTheResultsOfCuda) {
  EXPECT_EQ(km::status_from_cuda(2), KM_ERROR_OUT_OF_DEVICE_MEMORY);
  EXPECT_EQ(km::status_to_cuda(KM_ERROR_OUT_OF_DEVICE_MEMORY), 2);
  EXPECT_STREQ(km::cuda_result_name(700), "CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_EQ(status_of([] { km::cuda_result_name(123456); }), KM_ERROR_INVALID_ARGUMENT);
}

TEST(Library, RemembersTheLastErrorOfAThread) {
  status_of([] { km::device("nowhere"); });
  EXPECT_EQ(km::last_error(), KM_ERROR_BACKEND_UNAVAILABLE);
  EXPECT_EQ(km::take_last_error(), KM_ERROR_BACKEND_UNAVAILABLE);
  EXPECT_EQ(km::last_error(), KM_SUCCESS);
}

TEST(Library, NamesAllDeviceAttributes) {
  const auto attributes = km::device_attributes();
  EXPECT_GT(attributes.size(), 100u);
  const km::device device("cpu");
  for (const km_device_attribute_info& attribute : attributes) {
    EXPECT_STRNE(attribute.name, "");
    std::int64_t value = 0;
    const km_status status = km_device_attribute_get(device.get(), attribute.attribute, &value);
    EXPECT_TRUE(status == KM_SUCCESS || status == KM_ERROR_NOT_SUPPORTED) << attribute.name;
  }
}

std::atomic<int> allocation_count{0};

TEST(Library, TakesItsMemoryFromAnAllocator) {
  const auto allocate = [](void*, std::uint64_t size, km_host_allocation_flags) {
    ++allocation_count;
    return std::malloc(size);
  };
  try {
    km::set_allocator(allocate, [](void*, void* pointer) { std::free(pointer); });
  } catch (const km::error& error) {
    EXPECT_EQ(error.status(), KM_ERROR_NOT_SUPPORTED);  // with a sanitizer
    return;
  }
  km::context{"cpu"};
  EXPECT_GT(allocation_count, 0);
  km::set_allocator(nullptr, nullptr);
}

TEST_F(Services, PoolsReuseBlocksAndKeepTheirLimit) {
  const km::pool pool(context, 1 << 20);
  auto slice = pool.allocate<float>(1024, KM_SLICE_ZEROED);
  EXPECT_EQ(slice.to_vector(stream), std::vector<float>(1024));
  const std::uint64_t address = slice.address();
  slice.reset();
  auto second = pool.allocate_on<float>(stream, 1024);
  EXPECT_EQ(second.address(), address);
  EXPECT_EQ(pool.info().reuse_count, 1u);
  EXPECT_EQ(status_of([&] { pool.allocate<char>(2 << 20); }), KM_ERROR_OUT_OF_DEVICE_MEMORY);
  second.reset_on(stream);
  stream.synchronize();
  pool.set_release_threshold(0);
  pool.trim();
  pool.reset_high_water();
  EXPECT_EQ(pool.info().reserved_bytes, 0u);
  EXPECT_EQ(pool.info().used_high_bytes, 0u);
}

TEST_F(Services, FilesAreSlicesAndHostMemory) {
  const TemporaryFile file(".bin");
  const Words words{1, 2, 3, 4};
  std::ofstream(file.path(), std::ios::binary)
      .write(reinterpret_cast<const char*>(words.data()), 16);
  const auto mapped = km::slice<std::uint32_t>::map_file(context, file.path(), 4);
  EXPECT_EQ(mapped.to_vector(stream), (Words{2, 3, 4}));
  EXPECT_EQ(status_of([&] { mapped.fill(stream, 0u); }), KM_ERROR_NOT_PERMITTED);
  const auto own = km::slice<std::uint32_t>::map_file(context, file.path(), 0, 2, KM_MAP_PRIVATE);
  own.fill(stream, 9u);
  EXPECT_EQ(own.to_vector(stream), (Words{9, 9}));
  const auto host = km::host_memory<std::uint32_t>::map_file(context, file.path());
  EXPECT_EQ(Words(host.begin(), host.end()), words);
  EXPECT_EQ(status_of([&] { km::slice<int>::map_file(context, "no/such/file"); }),
            KM_ERROR_NOT_FOUND);
}

TEST_F(Services, TheCallersMemoryCanBePageLocked) {
  std::vector<std::uint32_t> words(4096, 3);
  const auto locked = km::host_memory<std::uint32_t>::lock(context, words.data(), words.size());
  EXPECT_EQ(locked.data(), words.data());
  const km::slice<std::uint32_t> slice(context, words.size());
  slice.upload(stream, locked);
  EXPECT_EQ(slice.to_vector(stream), words);
}

TEST_F(Services, MemoryHasAlignmentAndTags) {
  const auto aligned = km::slice<float>::aligned(context, 8, 4096);
  EXPECT_EQ(aligned.address() % 4096, 0u);
  EXPECT_EQ(aligned.info().element_count, 8u);
  EXPECT_EQ(status_of([&] { km::slice<float>::aligned(context, 8, 3); }),
            KM_ERROR_INVALID_ARGUMENT);
  context.set_tracking(KM_TRACKING_ON | KM_TRACKING_STACKS);
  const km::slice<float> tracked(context, 16);
  tracked.set_tag("weights");
  const auto allocations = context.allocations();
  ASSERT_EQ(allocations.size(), 1u);
  EXPECT_STREQ(allocations[0].tag, "weights");
  EXPECT_EQ(allocations[0].size_bytes, 64u);
  EXPECT_FALSE(context.allocation_stack(allocations[0].id).empty());
  EXPECT_EQ(status_of([&] { aligned.set_tag("early"); }), KM_ERROR_NOT_FOUND);
  context.set_tracking(KM_TRACKING_OFF);
}

TEST_F(Services, AddressesAreFound) {
  const km::slice<std::uint32_t> slice(context, 10);
  const auto found = context.find_slice<std::uint32_t>({slice.address() + 12});
  EXPECT_EQ(found.slice.size(), 10u);
  EXPECT_EQ(found.offset_bytes, 12u);
  EXPECT_EQ(status_of([&] { context.find_slice<std::uint32_t>({1}); }), KM_ERROR_NOT_FOUND);
}

TEST_F(Services, MemoryProfilesFindThePeak) {
  context.start_memory_profile(1ms);
  EXPECT_EQ(status_of([&] { context.start_memory_profile(1ms); }), KM_ERROR_NOT_PERMITTED);
  {
    const km::slice<char> large(context, 1 << 20);
    std::this_thread::sleep_for(5ms);
  }
  context.stop_memory_profile();
  EXPECT_GE(context.memory_profile().peak_bytes, std::uint64_t{1} << 20);
  EXPECT_EQ(context.memory_samples().size(), context.memory_profile().sample_count);
}

TEST_F(Services, LimitsCanBeSet) {
  context.set_limit(KM_CONTEXT_LIMIT_PRINTF_BYTES, 1 << 20);
  EXPECT_GE(context.limit(KM_CONTEXT_LIMIT_PRINTF_BYTES), std::uint64_t{1} << 20);
  EXPECT_EQ(status_of([&] { context.limit(99); }), KM_ERROR_INVALID_ARGUMENT);
}

TEST_F(Services, FailuresAreRememberedAndCounted) {
  for (int i = 0; i < 3; ++i) status_of([&] { module.function("none"); });
  const auto history = context.error_history();
  ASSERT_FALSE(history.empty());
  EXPECT_EQ(history[0].status, KM_ERROR_NOT_FOUND);
  EXPECT_EQ(history[0].count, 3u);
  EXPECT_STREQ(history[0].call, "km_module_function");
  ASSERT_EQ(context.error_counts().size(), 1u);
  EXPECT_EQ(context.error_counts()[0].count, 3u);
  EXPECT_EQ(context.take_error(), KM_ERROR_NOT_FOUND);
  EXPECT_EQ(context.error(), KM_SUCCESS);
  EXPECT_EQ(context.error_native_code(), 0);
  context.clear_error_history();
  EXPECT_TRUE(context.error_history().empty());
}

TEST_F(Services, OutputOfKernelsGoesToASink) {
  std::string said;
  auto sink = [&](std::string_view text) noexcept { said += text; };
  context.set_output(sink);
  const auto hello = km::module::load_source(
      context, "extern \"C\" __global__ void hello(int n) { printf(\"%d pieces\\n\", n); }");
  stream.launch_kernel(hello.function("hello"), 1, 1, 0, 7);
  stream.synchronize();
  context.reset_output();
  EXPECT_EQ(said, "7 pieces\n");
}

TEST_F(Services, FindingsOfTheCheckerGoToASink) {
  std::vector<km_finding> found;
  auto sink = [&](const km_finding& finding) noexcept { found.push_back(finding); };
  context.set_check(KM_CHECK_MEMORY, sink);
  const auto kernels = km::module::load_source(
      context, "extern \"C\" __global__ void last(int* x) { x[threadIdx.x] = 1; }");
  const km::slice<int> x(context, 31);
  stream.launch_kernel(kernels.function("last"), 1, 32, 0, x);
  stream.synchronize();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].tool, static_cast<km_check_flags>(KM_CHECK_MEMORY));
  EXPECT_STREQ(found[0].kind, "illegal-address");
  EXPECT_STREQ(found[0].kernel, "last");
  EXPECT_EQ(found[0].place.thread[0], 31u);
  context.set_check(KM_CHECK_OFF);
  EXPECT_EQ(status_of([&] { context.set_check(1u << 20); }), KM_ERROR_INVALID_ARGUMENT);
}

TEST_F(Services, OccupancyAndTheBestBlock) {
  const km_occupancy occupancy = fill.occupancy(256);
  EXPECT_GT(occupancy.active_blocks, 0u);
  EXPECT_EQ(fill.best_block().block_threads % 32, 0u);
  std::uint32_t calls = 0;
  const auto best = fill.best_block_with(
      [&](std::uint32_t) noexcept {
        ++calls;
        return std::uint64_t{1024};
      },
      128);
  EXPECT_LE(best.block_threads, 128u);
  EXPECT_GT(calls, 0u);
  EXPECT_GT(fill.available_shared_bytes(1, 128), 0u);
  EXPECT_GT(fill.max_active_clusters(128, 0, 2), 0u);
  fill.prepare(64);
  EXPECT_EQ(status_of([&] { fill.prepare(5000); }), KM_ERROR_INVALID_LAUNCH);
}

TEST_F(Services, ProfilesHaveRowsRangesAndFiles) {
  const km::profiler profiler(context);
  profiler.start();
  fill.set_work(100, 400);
  const km::slice<std::uint32_t> out(context, 4);
  {
    const km::profile_scope scope(context, "outer");
    profiler.push("inner");
    stream.launch_kernel(fill, 1, 4, 0, out, 1u, 4u);
    stream.synchronize();
    profiler.pop();
  }
  const km::profile_range range = profiler.start_range("across");
  std::thread([&] { profiler.end_range(range); }).join();
  profiler.stop();
  const auto rows = profiler.rows();
  for (const char* name : {"fill_index", "outer", "inner", "across"}) {
    EXPECT_TRUE(std::any_of(rows.begin(), rows.end(), [&](const km_profile_row& row) {
      return std::string(row.name) == name && row.count == 1;
    })) << name;
  }
  EXPECT_TRUE(contains(profiler.summary(), "fill_index"));
  const TemporaryFile file(".json");
  profiler.write(file.path());
  EXPECT_TRUE(std::ifstream(file.path()).good());
  profiler.clear();
  EXPECT_TRUE(profiler.rows().empty());
  EXPECT_EQ(status_of([&] { profiler.pop(); }), KM_ERROR_NOT_FOUND);
}

TEST_F(Services, CountersSayWhatWarpsDid) {
  const km::function kernel = module.function("fill_index");
  const km::profiler profiler(context);
  profiler.start();
  const km::slice<std::uint32_t> out(context, 64);
  for (const bool enabled : {true, false}) {
    profiler.set_counters(enabled);
    stream.launch_kernel(kernel, 1, 64, 0, out, 1u, 64u);
  }
  stream.synchronize();
  const auto rows = profiler.rows();
  ASSERT_FALSE(rows.empty());
  const auto counters = profiler.counters(0);
  const auto store =
      std::find_if(counters.begin(), counters.end(), [](const km_profile_counter& each) {
        return each.is_total != 0 && each.kind == KM_COUNTER_KIND_GLOBAL_STORE;
      });
  ASSERT_NE(store, counters.end());
  EXPECT_EQ(store->requests, 2u);
  EXPECT_EQ(store->taken, 8u);
  EXPECT_EQ(status_of([&] { profiler.counters(1000); }), KM_ERROR_INVALID_ARGUMENT);
}

TEST_F(Services, ObjectFilesHoldCompiledKernels) {
  const TemporaryFile file(".kmo");
  module.save_object(file.path(), {km::dim3(4)});
  std::ifstream stream_of(file.path(), std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(stream_of)),
                          std::istreambuf_iterator<char>());
  const auto loaded = km::module::from_object(context, bytes.data(), bytes.size());
  const km::slice<std::uint32_t> out(context, 4);
  stream.launch_kernel(loaded.function("fill_index"), 1, 4, 0, out, 6u, 4u);
  EXPECT_EQ(out.to_vector(stream), (Words{6, 7, 8, 9}));
  EXPECT_EQ(status_of([&] { km::module::from_object(context, "no object", 9); }),
            KM_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(km::module::load_file(context, file.path()).function_names().size(), 4u);
}

TEST_F(Services, TunersFindTheFastest) {
  const km::tuner tuner(context.device(), km_test::kPtx, "fill_index");
  tuner.add_candidate(32, 32);
  tuner.add_candidate(4, 256);
  tuner.add_candidate(1, 5000);
  tuner.add_zeros(1024 * 4, KM_TUNE_BUFFER_OUTPUT);
  tuner.add_scalar(1u);
  tuner.add_scalar(1024u);
  tuner.set_check(KM_TUNE_CHECK_EXACT);
  tuner.set_budget(20ms);
  std::uint32_t calls = 0;
  const std::uint32_t best =
      tuner.run_with([&](std::uint32_t, std::uint32_t) noexcept { ++calls; });
  EXPECT_LT(best, 2u);
  EXPECT_EQ(calls, 3u);
  EXPECT_EQ(tuner.result_of(best).status, KM_SUCCESS);
  EXPECT_GT(tuner.result_of(best).median.count(), 0);
  EXPECT_NE(tuner.result_of(2).status, KM_SUCCESS);
  EXPECT_FALSE(tuner.result_of(2).message.empty());
  EXPECT_EQ(tuner.function(best, context).name(), "fill_index");
  EXPECT_EQ(status_of([&] { tuner.add_candidate(1, 1, 0, {"-Da\nb"}); }),
            KM_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([&] { km::tuner(context.device(), km_test::kPtx, "none").run(); }),
            KM_ERROR_INVALID_ARGUMENT);
}

TEST_F(Services, StreamsHavePrioritiesAndWaitForNumbers) {
  const km::device device = context.device();
  const auto least = device.attribute(KM_DEVICE_ATTRIBUTE_STREAM_PRIORITY_LEAST);
  const km::stream low(context, static_cast<std::int32_t>(least));
  EXPECT_EQ(low.priority(), least);
  const auto flag = km::slice<std::uint32_t>::zeroed(context, 2);
  low.wait_value(flag, 4, KM_WAIT_CONDITION_EQUAL, 5u);
  EXPECT_FALSE(low.query());
  stream.write_value(flag, 4, 5u);
  low.synchronize();
  EXPECT_EQ(flag.to_vector(stream), (Words{0, 5}));
  const km::event event = low.record_event();
  event.synchronize();
  EXPECT_EQ(event.context().error(), KM_SUCCESS);
}

}  // namespace
