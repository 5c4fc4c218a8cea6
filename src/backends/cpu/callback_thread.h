// The thread that runs callbacks of the host: stream callbacks and release callbacks. One per
// process, started at the first use; never a worker.
#pragma once

#include <functional>

#include "base/result.h"

namespace km::cpu {

/// Makes sure that the thread is there; false when the system has no more threads.
bool start_callback_thread();
Error no_callback_thread();
/// Runs `task` on the callback thread, which has been started; tasks in order.
void post_callback(std::function<void()> task);

/// Whether this is the callback thread.
bool on_callback_thread();

}  // namespace km::cpu
