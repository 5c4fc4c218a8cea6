// The thread that runs callbacks of the host: stream callbacks and release callbacks. One per
// process at a time, started at the first use; never a worker. A callback that ends it
// (pthread_exit) has it replaced.
#pragma once

#include <cstdint>
#include <functional>

#include "base/result.h"

namespace km::cpu {

/// Makes sure that the thread is there; false when the system has no more threads.
bool start_callback_thread();
Error no_callback_thread();

/// A call of the host's, and what follows on the same thread when it is over.
struct CallbackTask {
  std::function<void()> call;
  std::function<void()> then;  // may be empty
};
/// Runs the task on the callback thread, which has been started; tasks in order.
void post_callback(CallbackTask task);

/// How the host says that a callback has begun to end its thread (kmb_host.take_thread_end).
void use_thread_end(uint32_t (*take_thread_end)());

/// When the process exits: calls that are due are not made, only what follows them. Waits up to
/// `timeout_ns` for the one that runs.
void end_callbacks(uint64_t timeout_ns);

}  // namespace km::cpu
