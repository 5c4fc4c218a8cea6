#include "base/callback/callback_thread.h"

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

#include "base/assert.h"
#include "base/log.h"
#include "base/process/dylib.h"
#include "base/thread/lock_at_exit.h"
#include "base/thread/start_thread.h"

namespace km {
namespace {

constexpr uint64_t kStackBytes = 8 << 20;  // callbacks of the program run on it

thread_local bool is_callback_thread = false;

uint32_t goes_on() { return 0; }

/// True if a CPython in this process is shutting down. It then ends every thread that acquires its
/// lock, and frees functions that the program has passed.
bool python_ends() {
  for (const char* const name : {"Py_IsFinalizing", "_Py_IsFinalizing"}) {
    void* const symbol = symbol_of_process(name);
    if (symbol != nullptr) return reinterpret_cast<int (*)()>(symbol)() != 0;
  }
  return false;
}

/// The queue of the callback thread. It is never destroyed, because the thread may outlive all
/// static objects.
class CallbackQueue {
 public:
  static CallbackQueue& instance() {
    static auto* const made = new CallbackQueue;
    return *made;
  }

  /// Implements start_callback_thread().
  bool start() {
    const std::lock_guard lock(mutex_);
    if (!is_started_) is_started_ = start_another();
    return is_started_;
  }

  /// Implements post_callback().
  void add(CallbackTask task) {
    const std::lock_guard lock(mutex_);
    KM_ASSERT(is_started_, "a task is posted to a thread that was not started");
    tasks_.push_back(std::move(task));
    changed_.notify_one();
  }

  void use_thread_end(uint32_t (*take_thread_end)()) { take_thread_end_ = take_thread_end; }

  /// Implements end_callbacks().
  void end(std::chrono::nanoseconds timeout) {
    std::unique_lock lock = lock_at_exit(mutex_);
    if (!lock.owns_lock()) return;
    for (CallbackTask& task : tasks_) task.call = nullptr;
    if (is_callback_thread) return;
    over_.wait_for(lock, timeout, [this] { return !is_calling_; });
  }

 private:
  bool start_another() {
    return start_thread("km-callback", kStackBytes, -1, [this] { run(); });
  }

  void drop_calls() {
    const std::lock_guard lock(mutex_);
    drops_calls_ = true;
  }

  CallbackTask take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !tasks_.empty(); });
    CallbackTask task = std::move(tasks_.front());
    tasks_.pop_front();
    KM_ASSERT(!is_calling_, "a callback begins while another one runs");
    if (drops_calls_) task.call = nullptr;
    is_calling_ = task.call != nullptr;
    return task;
  }

  void make(std::function<void()> call) {
    if (call) call();
    // The callback may have enabled cancellation, but this thread waits at cancellation points,
    // where it must not be cancelled.
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
    const std::lock_guard lock(mutex_);
    is_calling_ = false;
    over_.notify_all();
  }

  void run() {
    is_callback_thread = true;
    for (;;) {
      CallbackTask task = take();
      make(std::exchange(task.call, nullptr));
      const bool ends = take_thread_end_() != 0;
      if (task.then) task.then();
      if (!ends) continue;
      if (python_ends()) drop_calls();
      if (start_another()) return;
      log(LogLevel::kWarn, "callback",
          "a callback ended its thread, but the system cannot start another: the thread continues");
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_, over_;
  std::deque<CallbackTask> tasks_;
  bool is_started_ = false, is_calling_ = false, drops_calls_ = false;
  uint32_t (*take_thread_end_)() = goes_on;
};

}  // namespace

bool start_callback_thread() { return CallbackQueue::instance().start(); }

Error no_callback_thread() {
  return make_error(KM_ERROR_OUT_OF_HOST_MEMORY,
                    "cannot start the thread for callbacks: raise the limit on processes "
                    "(ulimit -u)");
}

void post_callback(CallbackTask task) { CallbackQueue::instance().add(std::move(task)); }

void use_thread_end(uint32_t (*take_thread_end)()) {
  CallbackQueue::instance().use_thread_end(take_thread_end);
}

void end_callbacks(uint64_t timeout_ns) {
  CallbackQueue::instance().end(std::chrono::nanoseconds(timeout_ns));
}

}  // namespace km
