#include "backends/cpu/callback_thread.h"

#include <condition_variable>
#include <deque>
#include <mutex>

#include "backends/cpu/threads.h"

namespace km::cpu {
namespace {

constexpr uint64_t kStackBytes = 8 << 20;  // the host's code runs here

thread_local bool is_callback_thread = false;

/// Never destroyed: the thread may outlive every static object.
struct CallbackQueue {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> tasks;
  bool started = false;

  void run() {
    is_callback_thread = true;
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [this] { return !tasks.empty(); });
      std::function<void()> task = std::move(tasks.front());
      tasks.pop_front();
      lock.unlock();
      task();
      task = nullptr;
      lock.lock();
    }
  }
};

CallbackQueue& queue() {
  static auto* const made = new CallbackQueue;
  return *made;
}

}  // namespace

bool start_callback_thread() {
  CallbackQueue& callbacks = queue();
  std::lock_guard lock(callbacks.mutex);
  if (!callbacks.started) {
    callbacks.started =
        start_thread("km-cpu-callback", kStackBytes, -1, [&callbacks] { callbacks.run(); });
  }
  return callbacks.started;
}

Error no_callback_thread() {
  return make_error(KM_ERROR_OUT_OF_HOST_MEMORY,
                    "cannot start the thread for callbacks: raise the limit on processes "
                    "(ulimit -u)");
}

void post_callback(std::function<void()> task) {
  CallbackQueue& callbacks = queue();
  std::lock_guard lock(callbacks.mutex);
  callbacks.tasks.push_back(std::move(task));
  callbacks.changed.notify_one();
}

bool on_callback_thread() { return is_callback_thread; }

}  // namespace km::cpu
