#include "backends/cpu/execution/stall.h"

#include "backends/cpu/config/config.h"
#include "backends/cpu/execution/launch_run.h"
#include "backends/cpu/threads/futex.h"

namespace km::cpu {

void StallWatch::begin(LaunchRun& launch) {
  launch_ = &launch;
  since_ns_ = 0;
  if (launch.stall.threads.fetch_add(1) == 0) launch.stall.reported.store(false);
}

void StallWatch::end() {
  if (launch_ == nullptr) return;
  set_stalled(false);
  launch_->stall.threads.fetch_sub(1);
  launch_ = nullptr;
}

bool StallWatch::note_wait() {
  const uint64_t limit_ns = config().stall_warning_ms * 1'000'000;
  if (limit_ns == 0) return false;
  const uint64_t now = now_ns();
  if (since_ns_ == 0) since_ns_ = now;
  if (now - since_ns_ < limit_ns) return false;
  set_stalled(true);
  Stall& stall = launch_->stall;
  return stall.stalled.load() == stall.threads.load() && !stall.reported.exchange(true);
}

void StallWatch::set_stalled(bool is_stalled) {
  if (is_stalled == is_stalled_) return;
  is_stalled_ = is_stalled;
  if (is_stalled) {
    launch_->stall.stalled.fetch_add(1);
  } else {
    launch_->stall.stalled.fetch_sub(1);
  }
}

}  // namespace km::cpu
