#include "base/memory/host_allocator.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "base/callback/contained_call.h"

namespace km {
namespace {

struct Counted {
  int taken = 0, released = 0, needed = 0;
  bool is_empty = false;
};

void* take(void* user_data, uint64_t size_bytes, km_host_allocation_flags flags) {
  auto* counted = static_cast<Counted*>(user_data);
  if (counted->is_empty) return nullptr;
  ++counted->taken;
  if ((flags & KM_HOST_ALLOCATION_NEEDED) != 0) ++counted->needed;
  return std::malloc(size_bytes);
}

void give_back(void* user_data, void* pointer) {
  ++static_cast<Counted*>(user_data)->released;
  std::free(pointer);
}

class HostAllocatorTest : public testing::Test {
 protected:
  ~HostAllocatorTest() override { set_host_allocator(nullptr, nullptr, nullptr); }
};

TEST_F(HostAllocatorTest, AlignsAsAsked) {
  for (size_t align = 1; align <= 4096; align *= 2) {
    for (const size_t size : {size_t{0}, size_t{1}, size_t{15}, size_t{100}, size_t{5000}}) {
      void* memory = host_allocate(size, align);
      ASSERT_NE(memory, nullptr);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % align, 0U);
      std::memset(memory, 0xFF, size);
      host_release(memory);
    }
  }
  host_release(nullptr);
}

TEST_F(HostAllocatorTest, RefusesWhatDoesNotFit) {
  EXPECT_EQ(host_allocate(SIZE_MAX, 16), nullptr);
  EXPECT_EQ(host_allocate(SIZE_MAX - 8, 4096), nullptr);
}

TEST_F(HostAllocatorTest, GivesMemoryBackToWhereItCameFrom) {
  Counted first, second;
  void* from_malloc = host_allocate(10, 16);
  ASSERT_TRUE(set_host_allocator(take, give_back, &first));
  void* from_first = host_allocate(10, 64);
  ASSERT_TRUE(set_host_allocator(take, give_back, &second));
  void* from_second = host_allocate(10, 16);
  ASSERT_TRUE(set_host_allocator(nullptr, nullptr, nullptr));
  host_release(from_second);
  host_release(from_first);
  host_release(from_malloc);
  EXPECT_EQ(first.taken, 1);
  EXPECT_EQ(first.released, 1);
  EXPECT_EQ(second.taken, 1);
  EXPECT_EQ(second.released, 1);
}

TEST_F(HostAllocatorTest, SaysWhatCannotGoOnWithout) {
  Counted counted;
  ASSERT_TRUE(set_host_allocator(take, give_back, &counted));
  {
    const HostMemoryNeeded needed;
    host_release(host_allocate(1, 16));
  }
  host_release(host_allocate(1, 16));
  EXPECT_EQ(counted.taken, 2);
  EXPECT_EQ(counted.needed, 1);
  counted.is_empty = true;
  EXPECT_EQ(host_allocate(1, 16), nullptr);
}

TEST_F(HostAllocatorTest, ThreadsThatNeedMemoryHaveAReserve) {
  Counted counted;
  ASSERT_TRUE(set_host_allocator(take, give_back, &counted));
  counted.is_empty = true;
  const HostMemoryNeeded needed;
  for (int turn = 0; turn < 100; ++turn) {  // more in all than there is at once
    void* const memory = host_allocate(100000, 64);
    ASSERT_NE(memory, nullptr);
    std::memset(memory, 0xFF, 100000);
    host_release(memory);
  }
  {
    const HostMemoryOptional optional;
    EXPECT_EQ(host_allocate(1, 16), nullptr);
  }
  EXPECT_EQ(counted.taken, 0);
  EXPECT_EQ(counted.released, 0);
}

TEST_F(HostAllocatorTest, ThreadsThatNeedMemoryWaitForIt) {
  static std::atomic<bool> is_empty{true};
  const auto take_later = [](void*, uint64_t size_bytes, km_host_allocation_flags) -> void* {
    return is_empty.load() ? nullptr : std::malloc(size_bytes);
  };
  const auto release = [](void*, void* pointer) { std::free(pointer); };
  ASSERT_TRUE(set_host_allocator(take_later, release, nullptr));
  std::thread other([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    is_empty.store(false);
  });
  void* memory = nullptr;
  {
    const HostMemoryNeeded needed;
    memory = host_allocate(64 << 20, 16);  // more than the reserve has
  }
  EXPECT_FALSE(is_empty.load());
  EXPECT_NE(memory, nullptr);
  host_release(memory);
  other.join();
}

TEST_F(HostAllocatorTest, AnAllocatorThatDoesNotReturnHasNoMemory) {
  const auto never = [](void*, uint64_t, km_host_allocation_flags) -> void* {
    pthread_exit(nullptr);
  };
  const auto release = [](void*, void*) {};
  bool went_on = false;
  std::thread other([&] {
    ASSERT_TRUE(set_host_allocator(never, release, nullptr));
    EXPECT_EQ(host_allocate(10, 16), nullptr);
    went_on = take_thread_end();
  });
  other.join();
  EXPECT_TRUE(went_on);
}

TEST_F(HostAllocatorTest, UsesTheCellOfItsHost) {
  Counted counted;
  HostAllocator record{take, give_back, &counted};
  HostAllocatorCell cell{&record};
  use_host_allocator_cell(&cell);
  void* memory = host_allocate(1, 16);
  use_host_allocator_cell(host_allocator_cell());
  host_release(memory);
  EXPECT_EQ(counted.taken, 1);
  EXPECT_EQ(counted.released, 1);
}

}  // namespace
}  // namespace km
