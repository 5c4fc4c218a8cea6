#include "backends/cpu/execution/stall.h"

#include "backends/cpu/config/config.h"
#include "backends/cpu/threads/futex.h"
#include "base/assert.h"

namespace km::cpu {

void StallWatch::begin(Stall& launch) {
  KM_ASSERT(launch_ == nullptr, "a thread watches two launches");
  launch_ = &launch;
  since_ns_ = 0;
  if (launch.threads.fetch_add(1) == 0) launch.reported.store(false);
}

void StallWatch::end() {
  if (launch_ == nullptr) return;
  set_stalled(false);
  [[maybe_unused]] const uint32_t threads = launch_->threads.fetch_sub(1);
  KM_ASSERT(threads != 0, "more threads leave a launch than have begun it");
  launch_ = nullptr;
}

bool StallWatch::note_wait() {
  KM_ASSERT(launch_ != nullptr, "a thread waits in a launch that it does not watch");
  const uint64_t limit_ns = config().stall_warning_ms * 1'000'000;
  if (limit_ns == 0) return false;
  const uint64_t now = now_ns();
  if (since_ns_ == 0) since_ns_ = now;
  if (now - since_ns_ < limit_ns) return false;
  set_stalled(true);
  Stall& stall = *launch_;
  return stall.stalled.load() == stall.threads.load() && !stall.reported.exchange(true);
}

void StallWatch::set_stalled(bool is_stalled) {
  if (is_stalled == is_stalled_) return;
  is_stalled_ = is_stalled;
  if (is_stalled) {
    launch_->stalled.fetch_add(1);
  } else {
    [[maybe_unused]] const uint32_t stalled = launch_->stalled.fetch_sub(1);
    KM_ASSERT(stalled != 0, "more threads continue than have stalled");
  }
}

}  // namespace km::cpu
