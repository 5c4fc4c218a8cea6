// Ownership: moves, empty objects, handles given and taken, the order of going.
#include <thread>
#include <type_traits>
#include <utility>

#include "support.h"

namespace {

using km_test::status_of;

template <class T>
constexpr bool kIsMoveOnly =
    std::is_nothrow_default_constructible_v<T> && std::is_nothrow_move_constructible_v<T> &&
    std::is_nothrow_move_assignable_v<T> && !std::is_copy_constructible_v<T> &&
    !std::is_copy_assignable_v<T> && std::is_nothrow_destructible_v<T>;
static_assert(kIsMoveOnly<km::device> && kIsMoveOnly<km::context> && kIsMoveOnly<km::stream>);
static_assert(kIsMoveOnly<km::event> && kIsMoveOnly<km::module> && kIsMoveOnly<km::function>);
static_assert(kIsMoveOnly<km::launch> && kIsMoveOnly<km::program>);
static_assert(kIsMoveOnly<km::slice<float>> && kIsMoveOnly<km::view<float>>);
static_assert(kIsMoveOnly<km::host_memory<float>>);
// An owner is as large as its handle.
static_assert(sizeof(km::stream) == sizeof(km_stream) && sizeof(km::launch) == sizeof(km_launch));
// Kinds do not turn into each other.
static_assert(!std::is_constructible_v<km::event, km::stream>);
static_assert(!std::is_constructible_v<km::view<float>, km::slice<float>&&>);
static_assert(!std::is_constructible_v<km::slice<int>, km::slice<float>&&>);
static_assert(!std::is_convertible_v<km_stream, km::stream>);

struct Objects : km_test::Fixture {};

TEST_F(Objects, MovedFromObjectsAreEmpty) {
  const km_stream handle = stream.get();
  km::stream second = std::move(stream);
  EXPECT_EQ(second.get(), handle);
  EXPECT_FALSE(stream);
  EXPECT_EQ(stream.get(), nullptr);
  EXPECT_EQ(status_of([&] { stream.synchronize(); }), KM_ERROR_INVALID_HANDLE);
  EXPECT_EQ(status_of([&] { stream.query(); }), KM_ERROR_INVALID_HANDLE);
  EXPECT_EQ(status_of([&] { km::slice<int>(stream, 4); }), KM_ERROR_INVALID_HANDLE);
  stream = std::move(second);
  EXPECT_EQ(stream.get(), handle);
  EXPECT_TRUE(stream.query());
}

TEST_F(Objects, AssigningGivesTheOldHandleBack) {
  km::event event(context), other(context);
  const km_event old = event.get();
  event = std::move(other);
  EXPECT_EQ(km_event_query(old), KM_ERROR_INVALID_HANDLE);
  EXPECT_TRUE(event.query());
  km::event& self = event;
  event = std::move(self);
  EXPECT_TRUE(event.query());
}

TEST_F(Objects, EmptyObjectsThrowAndDoNotCrash) {
  const km::context no_context;
  const km::module no_module;
  const km::program no_program;
  km::slice<int> no_slice;
  km::launch no_launch;
  EXPECT_EQ(status_of([&] { km::stream{no_context}; }), KM_ERROR_INVALID_HANDLE);
  EXPECT_EQ(status_of([&] { no_module.function("noop"); }), KM_ERROR_INVALID_HANDLE);
  EXPECT_EQ(status_of([&] { no_module.function_names(); }), KM_ERROR_INVALID_HANDLE);
  EXPECT_EQ(status_of([&] { no_program.compile(); }), KM_ERROR_INVALID_HANDLE);
  EXPECT_EQ(status_of([&] { km::module(context, no_program); }), KM_ERROR_INVALID_HANDLE);
  EXPECT_EQ(status_of([&] { no_slice.address(); }), KM_ERROR_INVALID_HANDLE);
  EXPECT_EQ(status_of([&] { no_slice.part(0, 0); }), KM_ERROR_INVALID_HANDLE);
  EXPECT_EQ(status_of([&] { no_slice.to_vector(stream); }), KM_ERROR_INVALID_HANDLE);
  EXPECT_EQ(status_of([&] { no_launch.grid(1); }), KM_ERROR_INVALID_HANDLE);
  EXPECT_EQ(status_of([&] { no_launch.submit(); }), KM_ERROR_INVALID_HANDLE);
  no_slice.reset();
  EXPECT_EQ(status_of([&] { no_slice.reset_on(km::stream()); }), KM_ERROR_INVALID_HANDLE);
}

TEST_F(Objects, MovedFromSlicesAndHostMemoryHaveNoElements) {
  km::slice<int> slice(context, 8);
  km::slice<int> taken = std::move(slice);
  EXPECT_EQ(taken.size(), 8u);
  EXPECT_EQ(slice.size(), 0u);
  EXPECT_EQ(status_of([&] { slice.fill(stream, 1); }), KM_ERROR_INVALID_HANDLE);
  km::host_memory<int> memory(context, 8);
  km::host_memory<int> kept = std::move(memory);
  EXPECT_EQ(memory.data(), nullptr);
  EXPECT_EQ(memory.begin(), memory.end());
  EXPECT_EQ(kept.size(), 8u);
  kept.reset();
  EXPECT_EQ(kept.data(), nullptr);
  EXPECT_FALSE(kept);
}

TEST_F(Objects, HandlesCanBeGivenAwayAndTakenOver) {
  const km_event handle = km::event(context).release();
  ASSERT_EQ(km_event_query(handle), KM_SUCCESS);
  {
    const km::event owner(handle);
  }
  EXPECT_EQ(km_event_query(handle), KM_ERROR_INVALID_HANDLE);
  const km::event stale(handle);
  EXPECT_EQ(status_of([&] { stale.query(); }), KM_ERROR_INVALID_HANDLE);
}

TEST_F(Objects, TakingOverGarbageThrowsWhenUsed) {
  const auto garbage = reinterpret_cast<km_slice>(std::uintptr_t{0x1234});
  EXPECT_EQ(status_of([&] { km::slice<int>{garbage}; }), KM_ERROR_INVALID_HANDLE);
}

TEST_F(Objects, ParentsMayGoFirst) {
  km::slice<std::uint32_t> slice(context, 64);
  km::launch launch = stream.launch(km_test::load(context).function("fill_index"));
  launch.grid(1).block(64).args(slice, 5u, 64u);
  context.reset();
  launch.submit();
  EXPECT_EQ(slice.to_vector(stream)[63], 68u);
}

TEST_F(Objects, OneStreamServesManyThreads) {
  const km::function function = km_test::load(context).function("fill_index");
  std::vector<km::slice<std::uint32_t>> slices;
  for (int i = 0; i < 4; ++i) slices.push_back(km::slice<std::uint32_t>::zeroed(context, 256));
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 50; ++round) {
        stream.launch(function).grid(2).block(128).args(slices[i], i, 256u).submit();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::uint32_t i = 0; i < 4; ++i) EXPECT_EQ(slices[i].to_vector(stream)[255], 255 + i);
}

TEST_F(Objects, SayWhatTheyAre) {
  EXPECT_GE(km::device::count(), 1u);
  const km::device device = context.device();
  EXPECT_STREQ(device.info().uri, "cpu:0");
  EXPECT_EQ(device.attribute(KM_DEVICE_ATTRIBUTE_WARP_SIZE), 32);
  const auto memory = context.memory();
  EXPECT_GT(memory.total_bytes, 0u);
  EXPECT_LE(memory.free_bytes, memory.total_bytes);
  EXPECT_EQ(stream.priority(), 0);
  EXPECT_EQ(stream.context().error(), KM_SUCCESS);
  EXPECT_TRUE(km::stream::default_of(context).query());
}

}  // namespace
