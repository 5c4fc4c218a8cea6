// One step of a stream: commands for the device, a call of the host, or a wait.
#pragma once

#include <cstdint>
#include <functional>

#include "backend/interface.h"
#include "backends/vulkan/device/commands.h"

namespace km::vulkan {

/// All members may be empty. A step of a failed context is dropped: of its functions only
/// `complete` and `callback` are called.
struct Step {
  /// True when the step may start; called with the scheduler's lock held.
  std::function<bool()> may_start;
  /// True if the answer of `may_start` changes without notice, so that it is asked now and then.
  bool polls = false;
  /// True if the step starts only when all earlier steps of the stream are complete.
  bool follows_all = false;
  /// True if recording takes no time, so that the caller's thread may do it, which saves the way to
  /// the scheduler's thread.
  bool is_quick = false;
  /// Records the commands, on one thread at a time and without the scheduler's lock. An error is
  /// the context's failure.
  std::function<Status(Commands&)> record;
  /// Follows the commands, on a thread of the device and without the lock.
  std::function<Status()> finish;
  /// The host function that the step calls, on the thread for callbacks.
  std::function<void(km_status)> callback;
  /// Called once when the step and all earlier ones are over, with the lock held.
  std::function<void()> complete;
  uint64_t ticket = 0;  // 0: not the last step of its operation
};

}  // namespace km::vulkan
