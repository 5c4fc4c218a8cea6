#include "base/thread/thread_object.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <thread>

namespace km {
namespace {

std::atomic<int> alive{0}, made{0};

struct Counted {
  int value = 0;
  Counted() {
    ++alive;
    ++made;
  }
  ~Counted() {
    // Its own end may ask for it.
    EXPECT_EQ(&ThreadObject<Counted>::get(), this);
    --alive;
  }
};
using Objects = ThreadObject<Counted>;

TEST(ThreadObject, EachThreadHasItsOwnUntilItEnds) {
  alive = made = 0;
  std::thread([] {
    EXPECT_EQ(Objects::find(), nullptr);
    Objects::get().value = 5;
    EXPECT_EQ(Objects::find()->value, 5);
    std::thread([] { EXPECT_EQ(Objects::get().value, 0); }).join();
    EXPECT_EQ(Objects::get().value, 5);
    EXPECT_EQ(alive, 1);
  }).join();
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(made, 2);
}

// Destructors of keys run after those of thread-local objects.
TEST(ThreadObject, LaterCallsGetANewOne) {
  alive = made = 0;
  pthread_key_t key{};
  ASSERT_EQ(pthread_key_create(&key,
                               [](void* late) {
                                 EXPECT_EQ(Objects::find(), nullptr);
                                 EXPECT_EQ(Objects::get().value, 0);
                                 Objects::get().value = 7;
                                 *static_cast<int*>(late) = Objects::get().value;
                               }),
            0);
  int late = 0;
  std::thread([&] {
    pthread_setspecific(key, &late);
    Objects::get().value = 5;
  }).join();
  pthread_key_delete(key);
  EXPECT_EQ(late, 7);
  EXPECT_EQ(made, 2);
  EXPECT_EQ(alive, 1);
}

}  // namespace
}  // namespace km
