// The thread that runs stream callbacks and release callbacks of the host. A process has one at a
// time, started at the first use; it is not a worker. If a callback ends it (pthread_exit), another
// one replaces it.
#pragma once

#include <cstdint>
#include <functional>

#include "base/result.h"

namespace km {

/// Starts the thread if it does not run; returns false if the system has no more threads.
bool start_callback_thread();
Error no_callback_thread();

/// A call of a host function, and an action that follows on the same thread.
struct CallbackTask {
  std::function<void()> call;
  std::function<void()> then;  // may be empty
};
/// Queues the task for the callback thread, which must have been started. Tasks run in order.
void post_callback(CallbackTask task);

/// Sets the function that reports if a callback has begun to end its thread
/// (kmb_host.take_thread_end).
void use_thread_end(uint32_t (*take_thread_end)());

/// Called when the process exits: queued callbacks are no longer called, but their `then` runs.
/// Waits up to `timeout_ns` for the running one.
void end_callbacks(uint64_t timeout_ns);

}  // namespace km
