#include "backends/vulkan/driver/driver_use.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "base/thread/clock.h"

namespace km::vulkan {
namespace {

using namespace std::chrono_literals;

constexpr uint64_t kLongNs = 60'000'000'000;
constexpr uint64_t kShortNs = 20'000'000;

/// Ends the process with 0 if the end waits for the use that has begun, and none begins after it.
[[noreturn]] void end_while_in_use() {
  static std::atomic<bool> has_begun{false}, has_ended{false}, has_come_back{false};
  std::thread([] {
    const DriverUse use;
    has_begun = true;
    std::this_thread::sleep_for(30ms);
    has_ended = true;
  }).detach();
  while (!has_begun) std::this_thread::yield();
  end_driver_uses(now_ns() + kLongNs);
  if (!has_ended) _exit(1);
  std::thread([] {
    const DriverUse use;
    has_come_back = true;
  }).detach();
  std::this_thread::sleep_for(30ms);
  end_driver_uses(now_ns() + kLongNs);
  _exit(has_come_back ? 2 : 0);
}

/// Ends the process with 0 if a use that does not end is waited for until the deadline.
[[noreturn]] void end_with_one_that_stays() {
  const DriverUse use;
  const uint64_t begin_ns = now_ns();
  end_driver_uses(begin_ns + kShortNs);
  _exit(now_ns() - begin_ns >= kShortNs ? 0 : 1);
}

TEST(DriverUseDeathTest, TheEndWaitsForThoseThatHaveBegun) {
  EXPECT_EXIT(end_while_in_use(), testing::ExitedWithCode(0), "");
}
TEST(DriverUseDeathTest, TheEndWaitsUntilItsDeadline) {
  EXPECT_EXIT(end_with_one_that_stays(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace km::vulkan
