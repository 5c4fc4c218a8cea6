#include "backends/cpu/plugin/watchdog.h"

#include <unistd.h>

#include <algorithm>
#include <mutex>

#include "backends/cpu/device/context.h"
#include "backends/cpu/fault/kernel_thread.h"
#include "base/thread/start_thread.h"

namespace km::cpu {
namespace {

constexpr uint64_t kStackBytes = 256 << 10;

void watch(uint64_t limit_ms) {
  uint64_t turn_ms = std::clamp<uint64_t>(limit_ms / 8, 1, 250);
  for (;;) {
    usleep(static_cast<useconds_t>(turn_ms * 1000));
    const void* owner = KernelThread::find_overdue(limit_ms * 1000000);
    if (owner != nullptr) Context::stop_overdue_of(owner);
  }
}

}  // namespace

Status start_watchdog(uint64_t limit_ms) {
  static std::mutex mutex;
  static bool started = false;
  std::lock_guard lock(mutex);
  if (started) return {};
  KernelThread::keep_start_times();
  started = start_thread("km-cpu-watchdog", kStackBytes, -1, [limit_ms] { watch(limit_ms); });
  if (started) return {};
  return make_error(KM_ERROR_OUT_OF_HOST_MEMORY,
                    "cannot start the thread that watches KM_KERNEL_TIMEOUT_MS: raise the limit on "
                    "processes (ulimit -u)");
}

}  // namespace km::cpu
