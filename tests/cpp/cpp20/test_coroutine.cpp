// Coroutines that wait for streams.
#include <kernelmill/cpp/coroutine.hpp>

#include <atomic>
#include <chrono>
#include <coroutine>
#include <thread>

#include "../support.h"

namespace {

using namespace std::chrono_literals;
using Words = std::vector<std::uint32_t>;

struct Coroutine : km_test::Fixture {
  km::function fill = km_test::load(context).function("fill_index");
};

km::task<Words> filled(const km::context& context, const km::stream& stream,
                       const km::function& fill, std::uint32_t base) {
  const km::slice<std::uint32_t> out(context, 4);
  stream.launch_kernel(fill, 1, 4, 0, out, base, 4u);
  const km::event is_filled = stream.record_event();
  co_await stream;
  EXPECT_TRUE(is_filled.query());
  co_return out.to_vector(stream);  // a call that waits is permitted here
}

TEST_F(Coroutine, ATaskWaitsForAStream) {
  EXPECT_EQ(km::sync_wait(filled(context, stream, fill, 5)), (Words{5, 6, 7, 8}));
}

TEST_F(Coroutine, AWaitDoesNotBlockTheThreadAndOthersGoOn) {
  std::atomic<bool> go{false};
  const km::stream second(context);
  std::string order;
  const auto slow = [&]() -> km::task<> {
    stream.add_callback([&](km_status) noexcept {
      while (!go) std::this_thread::yield();
    });
    order += 'a';
    co_await stream;
    order += 'c';
  };
  const auto quick = [&]() -> km::task<> {
    co_await second;
    order += 'b';
    go = true;
  };
  auto one = slow();
  auto two = quick();
  km::sync_wait_all(one, two);
  EXPECT_EQ(order, "abc");
}

TEST_F(Coroutine, TasksAwaitTasks) {
  const auto outer = [&]() -> km::task<std::uint32_t> {
    const Words first = co_await filled(context, stream, fill, 1);
    const Words second = co_await filled(context, stream, fill, 10);
    co_return first[0] + second[3];
  };
  EXPECT_EQ(km::sync_wait(outer()), 14u);
}

TEST_F(Coroutine, FailuresAreThrownWhereTheyAreAwaited) {
  const auto faulty = [&]() -> km::task<km_status> {
    const km::slice<std::uint32_t> out(context, 1);
    stream.launch_kernel(km_test::load(context).function("store_far"), 1, 1, 0, out);
    try {
      co_await stream;
    } catch (const km::error& error) {
      EXPECT_TRUE(km_test::contains(error.what(), "store_far")) << error.what();
      co_return error.status();
    }
    co_return KM_SUCCESS;
  };
  EXPECT_EQ(km::sync_wait(faulty()), KM_ERROR_ILLEGAL_ADDRESS);
  const auto empty = []() -> km::task<> { co_await km::stream(); };
  EXPECT_EQ(km_test::status_of([&] { km::sync_wait(empty()); }), KM_ERROR_INVALID_HANDLE);
}

TEST_F(Coroutine, TheTwinReturnsTheFailure) {
  const auto run = []() -> km::task<km_status> {
    const km::nothrow::stream none;
    const km::result<void> done = co_await none;
    co_return done.status();
  };
  EXPECT_EQ(km::sync_wait(run()), KM_ERROR_INVALID_HANDLE);
}

TEST_F(Coroutine, ACaptureCannotBeAwaited) {
  const auto run = [&]() -> km::task<> {
    const auto capture = stream.capture();
    co_await stream;
  };
  EXPECT_EQ(km_test::status_of([&] { km::sync_wait(run()); }), KM_ERROR_CAPTURE_UNSUPPORTED);
  stream.synchronize();
}

// A coroutine of another library: it goes on where the library makes its callbacks.
struct Detached {
  struct promise_type {
    Detached get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
};

TEST_F(Coroutine, CoroutinesOfOthersGoOnInTheCallback) {
  std::atomic<km_status> inner{KM_SUCCESS};
  std::atomic<bool> go{false}, is_done{false};
  stream.add_callback([&](km_status) noexcept {
    while (!go) std::this_thread::yield();
  });
  const auto run = [&]() -> Detached {
    co_await stream;
    inner = km_stream_synchronize(stream.get());
    is_done = true;
  };
  run();
  EXPECT_FALSE(is_done);
  go = true;
  while (!is_done) std::this_thread::yield();
  EXPECT_EQ(inner, KM_ERROR_NOT_PERMITTED);
}

TEST_F(Coroutine, ManyWaitsOnManyStreams) {
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const km::stream own(context);
      const auto rounds = [&]() -> km::task<> {
        for (std::uint32_t round = 0; round < 200; ++round) {
          const Words words = co_await filled(context, own, fill, round);
          right += words[3] == round + 3 ? 1 : 0;
        }
      };
      km::sync_wait(rounds());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 4 * 200);
}

}  // namespace
