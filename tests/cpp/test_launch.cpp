// Launches, programs, events, callbacks, and kernels that fail.
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "support.h"

namespace {

using km_test::contains;
using km_test::error_of;
using km_test::status_of;
using namespace std::chrono_literals;
using Words = std::vector<std::uint32_t>;

struct Launch : km_test::Fixture {
  km::module module = km_test::load(context);
  km::function fill = module.function("fill_index");
  km::slice<std::uint32_t> out = km::slice<std::uint32_t>::zeroed(context, 4);
};

TEST_F(Launch, FillsASliceAPartAndAnAddress) {
  km::launch launch = stream.launch(fill);
  launch.grid(1).block(4).args(out, 10u, 4u).submit();
  EXPECT_EQ(out.to_vector(stream), (Words{10, 11, 12, 13}));
  launch.args(out.part(2, 2), 0u, 2u).submit();
  EXPECT_EQ(out.to_vector(stream), (Words{10, 11, 0, 1}));
  launch.args(km::device_address{out.address()}, 5u, 1u).submit();
  EXPECT_EQ(out.to_vector(stream), (Words{5, 11, 0, 1}));
  launch.submit();  // as it is, once more
  stream.synchronize();
}

TEST_F(Launch, WrongArgumentsAreRefusedBeforeAnythingRuns) {
  km::launch launch = stream.launch(fill);
  launch.grid(1).block(4);
  EXPECT_EQ(status_of([&] { launch.submit(); }), KM_ERROR_INVALID_LAUNCH);
  launch.arg(out);
  const km::error error = error_of([&] { launch.arg(1.0); });
  EXPECT_EQ(error.status(), KM_ERROR_INVALID_LAUNCH);
  EXPECT_TRUE(contains(error.what(), "'double'")) << error.what();
  launch.args(0u, 4u);
  EXPECT_EQ(status_of([&] { launch.arg(1u); }), KM_ERROR_INVALID_LAUNCH);
  EXPECT_EQ(status_of([&] { launch.block(5000).submit(); }), KM_ERROR_INVALID_LAUNCH);
  EXPECT_EQ(status_of([&] { launch.block(4).grid(0).submit(); }), KM_ERROR_INVALID_LAUNCH);
  EXPECT_EQ(status_of([&] { launch.grid(1).shared_bytes(1u << 30).submit(); }),
            KM_ERROR_INVALID_LAUNCH);
  EXPECT_EQ(out.to_vector(stream), (Words{0, 0, 0, 0}));
}

TEST_F(Launch, ClustersAndCooperation) {
  km::launch launch = stream.launch(fill);
  launch.grid(4).block(1).cluster(2).cooperative().args(out, 3u, 4u).submit();
  EXPECT_EQ(out.to_vector(stream), (Words{3, 4, 5, 6}));
  EXPECT_EQ(status_of([&] { launch.cluster(3).submit(); }), KM_ERROR_INVALID_LAUNCH);
  EXPECT_EQ(status_of([&] { launch.cluster(0, 0, 0).grid(1u << 30).submit(); }),
            KM_ERROR_INVALID_LAUNCH);
  launch.cooperative(false).grid(1).submit();
  stream.synchronize();
}

TEST_F(Launch, ObjectsOfOtherContextsAreRefused) {
  const km::context other("cpu");
  const km::stream foreign(other);
  EXPECT_EQ(status_of([&] { foreign.launch(fill); }), KM_ERROR_CONTEXT_MISMATCH);
  EXPECT_EQ(status_of([&] { out.to_vector(foreign); }), KM_ERROR_CONTEXT_MISMATCH);
}

TEST_F(Launch, FunctionsSayWhatTheyAre) {
  EXPECT_EQ(module.function_names(),
            (std::vector<std::string>{"noop", "fill_index", "store_far", "trap"}));
  EXPECT_EQ(fill.name(), "fill_index");
  ASSERT_EQ(fill.param_count(), 3u);
  EXPECT_EQ(fill.param(0).kind, KM_PARAM_KIND_POINTER);
  EXPECT_EQ(fill.param(2).offset_bytes, 12u);
  EXPECT_EQ(status_of([&] { fill.param(3); }), KM_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(fill.attribute(KM_FUNCTION_ATTRIBUTE_TARGET), 70);
  fill.set_attribute(KM_FUNCTION_ATTRIBUTE_MAX_DYNAMIC_SHARED_BYTES, 1024);
  EXPECT_EQ(fill.attribute(KM_FUNCTION_ATTRIBUTE_MAX_DYNAMIC_SHARED_BYTES), 1024);
  const km::error error = error_of([&] { module.function("fill_indx"); });
  EXPECT_EQ(error.status(), KM_ERROR_NOT_FOUND);
  EXPECT_TRUE(contains(error.what(), "fill_index")) << error.what();
}

TEST_F(Launch, AFaultSticksUntilReset) {
  stream.launch(module.function("store_far")).grid(1).block(1).args(out).submit();
  const km::error error = error_of([&] { stream.synchronize(); });
  EXPECT_EQ(error.status(), KM_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(error.category(), KM_ERROR_CATEGORY_KERNEL_FAULT);
  EXPECT_TRUE(contains(error.what(), "store_far")) << error.what();
  EXPECT_EQ(status_of([&] { km::event{context}; }), KM_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(context.error(), KM_ERROR_ILLEGAL_ADDRESS);
  EXPECT_TRUE(contains(context.error_message(), "store_far"));
  context.reset_device();
  EXPECT_EQ(context.error(), KM_SUCCESS);
  EXPECT_EQ(status_of([&] { stream.query(); }), KM_ERROR_CONTEXT_LOST);
  const km::stream fresh(context);
  const km::slice<std::uint32_t> words(context, 4);
  fresh.launch(km_test::load(context).function("fill_index"))
      .grid(1)
      .block(4)
      .args(words, 1u, 4u)
      .submit();
  EXPECT_EQ(words.to_vector(fresh), (Words{1, 2, 3, 4}));
}

TEST_F(Launch, OtherContextsGoOnAfterATrap) {
  const km::context other("cpu");
  const km::stream unharmed(other);
  stream.launch(module.function("trap")).grid(1).block(1).submit();
  EXPECT_EQ(status_of([&] { stream.synchronize(); }), KM_ERROR_TRAP);
  unharmed.launch(km_test::load(other).function("noop")).grid(1).block(1).submit();
  unharmed.synchronize();
}

TEST_F(Launch, EventsOrderAndTime) {
  const km::event start(context), end(context);
  EXPECT_TRUE(start.query());
  start.record(stream);
  stream.launch(fill).grid(1).block(4).args(out, 1u, 4u).submit();
  end.record(stream);
  const km::stream second(context);
  second.wait(end);
  EXPECT_EQ(out.to_vector(second), (Words{1, 2, 3, 4}));
  end.synchronize();
  EXPECT_TRUE(end.synchronize_for(0ns));
  EXPECT_GE(end.elapsed_since(start).count(), 0);
  const km::event untimed(context, KM_EVENT_DISABLE_TIMING);
  untimed.record(stream);
  stream.synchronize();
  EXPECT_EQ(status_of([&] { untimed.elapsed_since(start); }), KM_ERROR_INVALID_ARGUMENT);
}

TEST_F(Launch, WaitsHaveLimitsAndCallbacksRunOnce) {
  std::atomic<bool> go{false};
  std::atomic<int> calls{0};
  std::atomic<km_status> inner{KM_SUCCESS};
  stream.add_callback([&](km_status status) noexcept {
    while (!go) std::this_thread::yield();
    inner = km_stream_synchronize(stream.get());
    calls += status == KM_SUCCESS ? 1 : 100;
  });
  const km::event end(context);
  end.record(stream);
  EXPECT_FALSE(stream.query());
  EXPECT_FALSE(end.query());
  EXPECT_FALSE(stream.synchronize_for(1ms));
  EXPECT_FALSE(end.synchronize_for(-1ms));
  EXPECT_EQ(status_of([&] { end.elapsed_since(end); }), KM_NOT_READY);
  go = true;
  EXPECT_TRUE(stream.synchronize_for(1min));
  EXPECT_TRUE(stream.query());
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(inner, KM_ERROR_NOT_PERMITTED);
}

TEST_F(Launch, ACallbackThatIsRefusedIsDeletedAndNotCalled) {
  const auto shared = std::make_shared<int>(0);
  EXPECT_EQ(
      status_of([&] { km::stream().add_callback([shared](km_status) noexcept { ++*shared; }); }),
      KM_ERROR_INVALID_HANDLE);
  EXPECT_EQ(shared.use_count(), 1);
  stream.add_callback([shared](km_status) noexcept { ++*shared; });
  stream.synchronize();
  EXPECT_EQ(*shared, 1);
}

TEST_F(Launch, SourceIsCompiled) {
  km::program program("template <class T> __global__ void put(T* out, T v) { *out = v; }");
  program.add_name_expression("put<unsigned>");
  program.compile();
  EXPECT_TRUE(contains(program.ptx(), program.lowered_name("put<unsigned>")));
  const km::module loaded(context, program);
  stream.launch(loaded.function("put<unsigned>")).grid(1).block(1).args(out, 42u).submit();
  EXPECT_EQ(out.to_vector(stream)[0], 42u);
  EXPECT_EQ(status_of([&] { program.lowered_name("other"); }), KM_ERROR_NOT_FOUND);
}

TEST_F(Launch, SourceWithErrorsGivesTheWholeLog) {
  try {
    km::compile("#include \"n.h\"\n__global__ void k() { wrong(); also_wrong(); }", {"-DN=4"},
                "bad.cu");
    FAIL() << "compiled";
  } catch (const km::compile_error& error) {
    EXPECT_EQ(error.status(), KM_ERROR_COMPILATION_FAILED);
    EXPECT_EQ(error.category(), KM_ERROR_CATEGORY_PROGRAM);
    EXPECT_TRUE(contains(error.log(), "bad.cu")) << error.log();
  }
  km::program program("#include \"n.h\"\n__global__ void k(int* o) { *o = N; }");
  program.add_header("n.h", "#define N 4\n");
  program.compile();
  EXPECT_EQ(status_of([&] { km::compile("", {"--no-such-option"}); }), KM_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([&] { km::module::load_ptx(context, "no PTX"); }), KM_ERROR_INVALID_PTX);
  // The library reads texts of size 0 up to a zero: empty views have to bring one.
  EXPECT_EQ(status_of([&] { km::module::load_ptx(context, std::string_view()); }),
            KM_ERROR_INVALID_PTX);
  EXPECT_EQ(status_of([&] { km::module::load_ptx(context, std::string_view("text", 0)); }),
            KM_ERROR_INVALID_PTX);
}

}  // namespace
