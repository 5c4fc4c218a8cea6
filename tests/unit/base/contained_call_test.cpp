// Functions that do not return: nothing of it reaches the frames above the call, until the thread's
// end is asked for.
#include "base/callback/contained_call.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdint>
#include <stdexcept>

#include "base/thread/cancellation.h"

namespace km {
namespace {

void* const kResult = reinterpret_cast<void*>(uintptr_t{42});

struct Seen {
  CallEnd end = CallEnd::returned;
  bool went_on = false, frame_complete = false, came_back = false;
};

struct SetAtEnd {
  bool& flag;
  ~SetAtEnd() { flag = true; }
};

/// What the library's frames are: they have destructors, and an exception may not pass them.
template <class Function>
CallEnd call_in_frames(Seen& seen, Function function) noexcept {
  const SetAtEnd at_end{seen.frame_complete};
  const CallEnd end = call_contained(function);
  seen.went_on = true;
  return end;
}

void* run(void* (*body)(void*), Seen& seen) {
  pthread_t thread;
  void* result = nullptr;
  EXPECT_EQ(pthread_create(&thread, nullptr, body, &seen), 0);
  EXPECT_EQ(pthread_join(thread, &result), 0);
  return result;
}

TEST(ContainedCall, GivesBackWhatReturns) {
  int calls = 0;
  EXPECT_EQ(call_contained([&] { ++calls; }), CallEnd::returned);
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(take_thread_end());
  end_thread_if_begun();
}

TEST(ContainedCall, DropsExceptions) {
  for (int i = 0; i < 3; ++i) {
    Seen seen;
    EXPECT_EQ(call_in_frames(seen, [] { throw std::runtime_error("of the host's"); }),
              CallEnd::threw);
    EXPECT_TRUE(seen.went_on);
  }
  EXPECT_FALSE(take_thread_end());
}

TEST(ContainedCall, AThreadEndsWhenTheFramesAreComplete) {
  Seen seen;
  void* const result = run(
      [](void* argument) -> void* {
        auto& all = *static_cast<Seen*>(argument);
        all.end = call_in_frames(all, [] { pthread_exit(kResult); });
        end_thread_if_begun();
        all.came_back = true;
        return nullptr;
      },
      seen);
  EXPECT_EQ(result, kResult);
  EXPECT_EQ(seen.end, CallEnd::ended_thread);
  EXPECT_TRUE(seen.went_on);
  EXPECT_TRUE(seen.frame_complete);
  EXPECT_FALSE(seen.came_back);
}

TEST(ContainedCall, TheEndMayBeForgotten) {
  Seen seen;
  void* const result = run(
      [](void* argument) -> void* {
        auto& all = *static_cast<Seen*>(argument);
        for (int i = 0; i < 3; ++i) {
          all.end = call_in_frames(all, [] { pthread_exit(kResult); });
        }
        all.came_back = take_thread_end() && !take_thread_end();
        end_thread_if_begun();
        return argument;
      },
      seen);
  EXPECT_EQ(result, &seen);
  EXPECT_EQ(seen.end, CallEnd::ended_thread);
  EXPECT_TRUE(seen.came_back);
}

TEST(ContainedCall, ContainsCallsWithinCalls) {
  Seen seen;
  run(
      [](void* argument) -> void* {
        auto& all = *static_cast<Seen*>(argument);
        Seen inner;
        all.end = call_contained([&] {
          inner.end = call_contained([] { pthread_exit(kResult); });
          end_thread_if_begun();
        });
        all.came_back = inner.end == CallEnd::ended_thread && take_thread_end();
        return nullptr;
      },
      seen);
  EXPECT_EQ(seen.end, CallEnd::ended_thread);
  EXPECT_TRUE(seen.came_back);
}

TEST(ContainedCall, DisablesCancellation) {
  Seen seen;
  void* const result = run(
      [](void* argument) -> void* {
        auto& all = *static_cast<Seen*>(argument);
        pthread_cancel(pthread_self());
        all.end = call_in_frames(all, [] { usleep(1); });
        all.came_back = true;
        pthread_testcancel();
        return nullptr;
      },
      seen);
  EXPECT_EQ(result, PTHREAD_CANCELED);
  EXPECT_EQ(seen.end, CallEnd::returned);
  EXPECT_TRUE(seen.came_back);
}

TEST(ContainedCall, ContainsACancellationThatTheFunctionAllows) {
  Seen seen;
  void* const result = run(
      [](void* argument) -> void* {
        auto& all = *static_cast<Seen*>(argument);
        pthread_cancel(pthread_self());
        all.end = call_in_frames(all, [] {
          pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, nullptr);
          pthread_testcancel();
        });
        end_thread_if_begun();
        all.came_back = true;
        return nullptr;
      },
      seen);
  EXPECT_EQ(result, PTHREAD_CANCELED);
  EXPECT_EQ(seen.end, CallEnd::ended_thread);
  EXPECT_TRUE(seen.frame_complete);
  EXPECT_FALSE(seen.came_back);
}

TEST(NoCancellation, PutsBackWhatWasThere) {
  int state = -1;
  {
    const NoCancellation outer;
    {
      const NoCancellation inner;
    }
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    EXPECT_EQ(state, PTHREAD_CANCEL_DISABLE);
  }
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
  EXPECT_EQ(state, PTHREAD_CANCEL_ENABLE);
}

}  // namespace
}  // namespace km
