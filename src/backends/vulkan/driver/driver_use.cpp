#include "backends/vulkan/driver/driver_use.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "base/assert.h"
#include "base/thread/clock.h"

namespace km::vulkan {
namespace {

constexpr std::chrono::microseconds kPeriod{100};

// Atomics instead of a mutex: exit() may be called in a signal handler that has interrupted
// anything. Both are sequentially consistent, so that either side sees the other's store.
std::atomic<uint64_t> g_uses{0};
std::atomic<bool> g_is_over{false};

}  // namespace

DriverUse::DriverUse() {
  g_uses.fetch_add(1);
  if (!g_is_over.load()) return;
  g_uses.fetch_sub(1);
  for (;;) pause();
}

DriverUse::~DriverUse() {
  const uint64_t before = g_uses.fetch_sub(1);
  KM_ASSERT(before != 0, "a use of the driver ends that has not begun");
}

void end_driver_uses(uint64_t deadline_ns) {
  g_is_over.store(true);
  while (g_uses.load() != 0 && now_ns() < deadline_ns) {
    std::this_thread::sleep_for(kPeriod);
  }
}

bool are_driver_uses_over() { return g_is_over.load(std::memory_order_acquire); }

}  // namespace km::vulkan
