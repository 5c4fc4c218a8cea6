#include "core/profiler/activity.h"

#include <atomic>

namespace km {
namespace {

std::atomic<ActivityListener> g_listener{nullptr};

}  // namespace

void set_activity_listener(ActivityListener listener) noexcept {
  g_listener.store(listener, std::memory_order_release);
}

ActivityListener activity_listener() noexcept { return g_listener.load(std::memory_order_acquire); }

}  // namespace km
