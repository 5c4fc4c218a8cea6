// km::nothrow: the same calls, which return a value or the failure.
#include <cstring>
#include <memory>
#include <random>

#include "support.h"

namespace {

using km_test::contains;
using Words = std::vector<std::uint32_t>;
constexpr int kNumbers = 10000;  // for each of eleven classes

TEST(Nothrow, TheWholeWayReturnsResults) {
  auto context = km::nothrow::context::create("cpu");
  ASSERT_TRUE(context) << context.error().what();
  auto stream = km::nothrow::stream::create(*context);
  auto module = km::nothrow::module::load_ptx(*context, km_test::kPtx);
  auto function = module->function("fill_index");
  auto out = km::nothrow::slice<std::uint32_t>::zeroed(*context, 4);
  auto launch = stream->launch(*function);
  ASSERT_TRUE(launch);
  ASSERT_TRUE(launch->grid(1).block(4).args(*out, 10u, 4u).submit());
  EXPECT_EQ(*out->to_vector(*stream), (Words{10, 11, 12, 13}));
  ASSERT_TRUE(stream->launch_kernel(*function, 1, 2, 0, *out, 5u, 2u));
  EXPECT_EQ(out->part(0, 2)->to_vector(*stream).value(), (Words{5, 6}));
  EXPECT_TRUE(*stream->query());
}

TEST(Nothrow, FailuresKeepAllThatTheLibrarySays) {
  const auto device = km::nothrow::device::open("gpu:0:1");
  ASSERT_FALSE(device);
  EXPECT_EQ(device.status(), KM_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(device.error().what(), "gpu:0:1"));
  EXPECT_EQ(device.error().category(), KM_ERROR_CATEGORY_USAGE);
  EXPECT_EQ(km::nothrow::stream().synchronize().status(), KM_ERROR_INVALID_HANDLE);
  EXPECT_EQ(km::nothrow::stream().query().status(), KM_ERROR_INVALID_HANDLE);
  EXPECT_EQ(km::nothrow::graph().add_empty({}).status(), KM_ERROR_INVALID_HANDLE);
  EXPECT_EQ(km::nothrow::slice<int>().part(0, 0).status(), KM_ERROR_INVALID_HANDLE);
  EXPECT_EQ(km::nothrow::context::create("none").status(), KM_ERROR_BACKEND_UNAVAILABLE);
}

TEST(Nothrow, TheFirstFailureOfAChainOfCallsIsReturned) {
  const km::context context("cpu");
  const km::stream stream(context);
  auto launch = km::nothrow::launch::create(stream, km_test::load(context).function("fill_index"));
  const auto done = launch->grid(1).block(4).arg(1.0f).arg(2u).submit();
  EXPECT_EQ(done.status(), KM_ERROR_INVALID_LAUNCH);
  EXPECT_TRUE(contains(done.error().what(), "km_launch_arg_value")) << done.error().what();
  // It is forgotten then: the chain begins with the first argument.
  const km::slice<std::uint32_t> out(context, 4);
  auto again = km::nothrow::launch::create(stream, km_test::load(context).function("fill_index"));
  EXPECT_FALSE(again->arg(1.0f).submit());
  EXPECT_TRUE(again->grid(1).block(4).args(out, 1u, 4u).submit());
}

TEST(Nothrow, BothKindsOfObjectsWorkTogether) {
  const km::context context("cpu");
  auto stream = km::nothrow::stream::create(context);
  const km::slice<std::uint32_t> slice(context, 2);
  ASSERT_TRUE(km::nothrow::slice<std::uint32_t>::adopt_handle(km_slice{}).status() ==
              KM_ERROR_INVALID_HANDLE);
  slice.fill(*stream, 4u);
  EXPECT_EQ(slice.to_vector(*stream), (Words{4, 4}));
}

TEST(Nothrow, ResultsAreUsedLikeExpected) {
  const auto count = km::nothrow::device::open("cpu").and_then(
      [](km::nothrow::device&& device) { return device.attribute(KM_DEVICE_ATTRIBUTE_WARP_SIZE); });
  EXPECT_EQ(count.value_or(0), 32);
  const auto none = km::nothrow::device::open("none").and_then(
      [](km::nothrow::device&& device) { return device.attribute(KM_DEVICE_ATTRIBUTE_WARP_SIZE); });
  EXPECT_EQ(none.value_or(7), 7);
  EXPECT_THROW(none.value(), km::error);
  EXPECT_EQ(km::result<std::unique_ptr<int>>(std::make_unique<int>(3)).value_or(nullptr) == nullptr,
            false);
  EXPECT_THROW(km::nothrow::stream().synchronize().value(), km::error);
}

TEST(Nothrow, SourceWithErrorsHasItsLog) {
  const auto program = km::nothrow::compile("__global__ void k() { wrong(); }", {}, "bad.cu");
  ASSERT_EQ(program.status(), KM_ERROR_COMPILATION_FAILED);
  EXPECT_TRUE(contains(program.error().log(), "bad.cu")) << program.error().log();
  EXPECT_TRUE(km::nothrow::device::open("none").error().log().empty());
}

// A call of each class that any number as a handle may be given to.
template <class Object, class Call>
void expect_no_handle(std::uint64_t number, Call call) {
  Object object;
  auto handle = object.get();
  static_assert(sizeof handle == sizeof number);
  std::memcpy(&handle, &number, sizeof handle);
  EXPECT_EQ(call(Object(handle)), KM_ERROR_INVALID_HANDLE) << number;
}

TEST(Nothrow, AnyNumberAsAHandleIsAFailure) {
  namespace twin = km::nothrow;
  std::mt19937_64 random(7);
  const auto number = [&] { return random() >> (random() % 64) | 1; };
  for (int i = 0; i < kNumbers; ++i) {
    expect_no_handle<twin::device>(number(), [](auto x) { return x.info().status(); });
    expect_no_handle<twin::context>(number(), [](auto x) { return x.synchronize().status(); });
    expect_no_handle<twin::stream>(number(), [](auto x) { return x.query().status(); });
    expect_no_handle<twin::event>(number(), [](auto x) { return x.query().status(); });
    expect_no_handle<twin::module>(number(), [](auto x) { return x.function("f").status(); });
    expect_no_handle<twin::function>(number(), [](auto x) { return x.prepare(1).status(); });
    expect_no_handle<twin::launch>(number(), [](auto x) { return x.grid(1).submit().status(); });
    expect_no_handle<twin::program>(number(), [](auto x) { return x.compile().status(); });
    expect_no_handle<twin::pool>(number(), [](auto x) { return x.trim().status(); });
    expect_no_handle<twin::graph>(number(), [](auto x) { return x.instantiate().status(); });
    expect_no_handle<twin::tuner>(number(), [](auto x) { return x.run().status(); });
    EXPECT_EQ(twin::graph_exec(km_graph_exec{}).launch(twin::stream()).status(),
              KM_ERROR_INVALID_HANDLE);
  }
}

TEST(Nothrow, FindsSlicesAndServices) {
  auto context = km::nothrow::context::create("cpu");
  auto slice = km::nothrow::slice<float>::create(*context, 4);
  const auto found = context->find_slice<float>({*slice->address() + 4});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->offset_bytes, 4u);
  EXPECT_EQ(context->find_slice<float>({1}).status(), KM_ERROR_NOT_FOUND);
  auto pool = km::nothrow::pool::create(*context);
  EXPECT_TRUE(pool->allocate<int>(3));
  EXPECT_TRUE(km::nothrow::profiler(*context).start());
  EXPECT_TRUE(km::nothrow::graph::create(*context)->instantiate());
  EXPECT_FALSE(km::nothrow::backends()->empty());
}

}  // namespace
