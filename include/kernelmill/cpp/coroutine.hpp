// C++20 coroutines: co_await on a stream, and tasks that run on the thread that waits for them.
#ifndef KERNELMILL_CPP_COROUTINE_HPP
#define KERNELMILL_CPP_COROUTINE_HPP

#include <kernelmill/cpp/stream.hpp>

#if defined(__cpp_impl_coroutine) && defined(__cpp_lib_coroutine)

#include <condition_variable>
#include <coroutine>
#include <deque>
#include <mutex>

namespace km {
inline namespace v1 {

namespace detail {

// A queue of coroutines that are ready to resume, on the thread that drains it.
class run_loop {
 public:
  void post(std::coroutine_handle<> ready) {
    // The notification happens under the lock because the owner may destroy the loop as soon as it
    // sees the posted coroutine.
    const std::lock_guard<std::mutex> lock(mutex_);
    ready_.push_back(ready);
    wake_.notify_one();
  }
  void run_one() {
    std::unique_lock<std::mutex> lock(mutex_);
    wake_.wait(lock, [this] { return !ready_.empty(); });
    const std::coroutine_handle<> next = ready_.front();
    ready_.pop_front();
    lock.unlock();
    next.resume();
  }

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::coroutine_handle<>> ready_;
};

// The part that all promises of km::task share: the loop it runs in, and the coroutine that awaits
// it.
struct promise_base {
  run_loop* loop = nullptr;
  std::coroutine_handle<> waiter;
#if KM_HAS_EXCEPTIONS
  std::exception_ptr thrown;
#endif

  std::suspend_always initial_suspend() const noexcept { return {}; }
  struct final_awaiter {
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> done) const noexcept {
      const std::coroutine_handle<> next = done.promise().waiter;
      return next ? next : std::noop_coroutine();
    }
    void await_resume() const noexcept {}
  };
  final_awaiter final_suspend() const noexcept { return {}; }
#if KM_HAS_EXCEPTIONS
  void unhandled_exception() noexcept { thrown = std::current_exception(); }
  void rethrow() const {
    if (thrown) std::rethrow_exception(thrown);
  }
#else
  void unhandled_exception() noexcept { std::terminate(); }
  void rethrow() const noexcept {}
#endif
};

template <class T>
struct task_promise : promise_base {
  std::optional<T> value;
  template <class Value>
  void return_value(Value&& returned) {
    value.emplace(std::forward<Value>(returned));
  }
  T take() {
    rethrow();
    return std::move(*value);
  }
};
template <>
struct task_promise<void> : promise_base {
  void return_void() const noexcept {}
  void take() const { rethrow(); }
};

}  // namespace detail

/// A coroutine that waits for streams. It starts when another task awaits it or km::sync_wait gets
/// it, and runs on the thread that waits there, where every call is permitted.
template <class T = void>
class [[nodiscard]] task {
 public:
  struct promise_type : detail::task_promise<T> {
    task get_return_object() noexcept {
      return task(std::coroutine_handle<promise_type>::from_promise(*this));
    }
  };

  task() noexcept = default;
  task(task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  task& operator=(task&& other) noexcept {
    task moved(std::move(other));
    std::swap(handle_, moved.handle_);
    return *this;
  }
  ~task() {
    if (handle_) handle_.destroy();
  }

  /// Starts the task and yields its value when it is done; its exception is rethrown here.
  auto operator co_await() && noexcept { return awaiter{handle_}; }

 private:
  struct awaiter {
    std::coroutine_handle<promise_type> of;
    bool await_ready() const noexcept { return of.done(); }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> waiting) noexcept {
      static_assert(std::is_base_of_v<detail::promise_base, Promise>,
                    "a km::task is awaited by another one, or given to km::sync_wait");
      of.promise().loop = waiting.promise().loop;
      of.promise().waiter = waiting;
      return of;
    }
    T await_resume() { return of.promise().take(); }
  };

  explicit task(std::coroutine_handle<promise_type> handle) noexcept : handle_(handle) {}
  template <class... Values>
  friend void sync_wait_all(task<Values>&... tasks);
  template <class Value>
  friend Value sync_wait(task<Value> task);

  void begin(detail::run_loop& loop) {
    handle_.promise().loop = &loop;
    loop.post(handle_);
  }

  std::coroutine_handle<promise_type> handle_;
};

/// Runs tasks concurrently on the calling thread until all are done. An exception is kept until
/// sync_wait() is called with its task, or the task is awaited.
template <class... Values>
void sync_wait_all(task<Values>&... tasks) {
  detail::run_loop loop;
  (tasks.begin(loop), ...);
  while (!(tasks.handle_.done() && ...)) loop.run_one();
}

/// Runs a task on the calling thread until it is done, and returns its value; its exception is
/// rethrown here.
template <class Value>
Value sync_wait(task<Value> task) {
  if (!task.handle_.done()) sync_wait_all(task);
  return task.handle_.promise().take();
}

namespace detail {

// Waits for the work queued in a stream so far.
template <class P>
class stream_awaiter {
 public:
  explicit stream_awaiter(km_stream stream) noexcept : stream_(stream) {}

  bool await_ready() noexcept {
    status_ = km_stream_query(stream_);
    return status_ != KM_NOT_READY;
  }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> waiter) {
    waiter_ = waiter;
    if constexpr (std::is_base_of_v<promise_base, Promise>) loop_ = waiter.promise().loop;
    if (is_captured(stream_)) {
      status_ = km_stream_synchronize(stream_);  // fails with the reason: a wait cannot be captured
      return false;
    }
    // After this call succeeds, the thread that resumes owns this object, so nothing may touch it
    // here.
    const km_status status = km_stream_add_callback(stream_, resume, this);
    if (status == KM_SUCCESS) return true;
    status_ = status;
    return false;
  }
  result_of<P, void> await_resume() {
    if (status_ == KM_SUCCESS) return P::give(status_);
    // The query sets this thread's last error, so that the failure has the text of the sticky
    // error.
    const km_status now = km_stream_query(stream_);
    if (now == status_) return P::give(now);
    return P::template refuse<void>(error(status_, failure_of(status_)));
  }

 private:
  static std::string failure_of(km_status status) {
    return std::string("co_await on a stream: ") + status_name(status) + ": " + description(status);
  }
  static void resume(void* data, km_status status) {
    auto* self = static_cast<stream_awaiter*>(data);
    self->status_ = status;
    if (self->loop_ != nullptr) {
      self->loop_->post(self->waiter_);
    } else {
      self->waiter_.resume();
    }
  }

  km_stream stream_;
  km_status status_ = KM_SUCCESS;
  run_loop* loop_ = nullptr;
  std::coroutine_handle<> waiter_;
};

}  // namespace detail

/// co_await stream: waits for the work queued so far without blocking a thread. A failed kernel is
/// reported as by synchronize(). A km::task resumes in its loop; a coroutine of another library
/// resumes on this library's callback thread, where calls that wait give KM_ERROR_NOT_PERMITTED.
template <class P>
detail::stream_awaiter<P> operator co_await(const basic_stream<P>& stream) noexcept {
  return detail::stream_awaiter<P>(stream.get());
}

}  // namespace v1
}  // namespace km

#endif
#endif
