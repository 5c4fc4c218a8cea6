#include "simt/object/isolated.h"

#include <llvm/Support/ErrorHandling.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <thread>

#include "base/arch/float_control.h"
#include "base/memory/host_allocator.h"
#include "base/thread/thread_signals.h"

namespace km::simt::internal {
namespace {

constexpr size_t kStackBytes = size_t{64} << 20;
/// Address space that has to be there before code is generated, for when memory runs out then.
constexpr size_t kReserveBytes = size_t{64} << 20;

// Interval at which a caller's interruption is polled.
constexpr std::chrono::milliseconds kPollTime{10};

/// The code generator's reserve, which exists while code is generated: LLVM's state is unusable if
/// an allocation fails in the middle of an operation.
class Reserve {
 public:
  Status enter();
  void leave();

 private:
  Status open();

  std::mutex mutex_;
  unsigned users_ = 0;
  bool is_open_ = false;
};

Status Reserve::open() {
  if (is_open_) {  // pieces are in use since memory ran out
    if (code_reserve().left_bytes() >= kReserveBytes / 2) return {};
    return Error{KM_ERROR_OUT_OF_HOST_MEMORY,
                 "the code generator's reserve is used up since the host was out of memory: "
                 "restart the program",
                 0};
  }
  void* const memory = mmap(nullptr, kReserveBytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    return make_error(KM_ERROR_OUT_OF_HOST_MEMORY,
                      "generating code takes %zu MiB of address space: free some, or raise the "
                      "limit (ulimit -v)",
                      kReserveBytes >> 20);
  }
  code_reserve().open(memory, kReserveBytes);
  is_open_ = true;
  return {};
}

Status Reserve::enter() {
  const std::lock_guard lock(mutex_);
  if (users_ == 0) KM_TRY(open());
  ++users_;
  return {};
}

void Reserve::leave() {
  const std::lock_guard lock(mutex_);
  if (--users_ != 0) return;
  void* const memory = code_reserve().close();
  if (memory == nullptr) return;
  munmap(memory, kReserveBytes);
  is_open_ = false;
}

/// Releases its use of the reserve when destroyed.
class ReserveUse {
 public:
  explicit ReserveUse(Reserve& reserve) : reserve_(reserve) {}
  ~ReserveUse() { reserve_.leave(); }
  ReserveUse(const ReserveUse&) = delete;
  ReserveUse& operator=(const ReserveUse&) = delete;

 private:
  Reserve& reserve_;
};

struct QueuedJob {
  Job work;
  Status status;
  bool done = false;
  std::atomic<bool> is_abandoned{false};  // no caller waits for it any more
  std::optional<ReserveUse> reserve;      // held until the job is done
};

/// The interruption given to a running job; it fails when the job is abandoned.
class JobInterruption final : public Interruption {
 public:
  explicit JobInterruption(const QueuedJob& job) : job_(job) {}
  Status check() const override {
    if (!job_.is_abandoned.load(std::memory_order_relaxed)) return {};
    return make_error(KM_ERROR_COMPILER, "no caller waits for this code any longer");
  }

 private:
  const QueuedJob& job_;
};

class Pool {
 public:
  Status run(Job work, const Interruption* interruption);
  /// Called on a thread of this pool: ends the job with an error and never returns.
  [[noreturn]] void park(QueuedJob& job, Error why);

  const pid_t process = getpid();

 private:
  static void* thread_main(void* pool);
  void serve();
  Status add_thread();
  bool replace_thread();
  Status run_in_turn(const std::shared_ptr<QueuedJob>& job, const Interruption* interruption);
  void abandon(QueuedJob& job);
  void finish(QueuedJob& job, Status status);
  void fail_queue(const Error& error);

  Reserve reserve_;
  std::mutex mutex_;
  std::condition_variable queued_, finished_;
  std::deque<std::shared_ptr<QueuedJob>> queue_;
  unsigned threads_ = 0, idle_ = 0;
  const unsigned max_threads_ = std::max(1u, std::thread::hardware_concurrency());
};

thread_local Pool* this_pool = nullptr;
thread_local QueuedJob* this_job = nullptr;

/// If memory has run out, the text is omitted.
Error llvm_error(const char* reason) {
  const HostMemoryOptional optional;
  try {
    return make_error(KM_ERROR_COMPILER, "LLVM gave up: %s", reason ? reason : "unknown reason");
  } catch (const std::bad_alloc&) {
    return Error{KM_ERROR_COMPILER, "LLVM gave up", 0};
  }
}

Error out_of_memory() {
  const HostMemoryOptional optional;
  try {
    return make_error(KM_ERROR_OUT_OF_HOST_MEMORY, "out of memory in the code generator");
  } catch (const std::bad_alloc&) {
    return Error{KM_ERROR_OUT_OF_HOST_MEMORY, {}, 0};
  }
}

void on_fatal_error(void*, const char* reason, bool) {
  // On other threads LLVM's default behaviour applies.
  if (this_pool && this_job) this_pool->park(*this_job, llvm_error(reason));
}

void on_exhausted() {
  if (this_pool && this_job) this_pool->park(*this_job, out_of_memory());
}

void on_bad_alloc(void*, const char*, bool) { on_exhausted(); }

std::atomic<Pool*> current_pool{nullptr};

void install_handlers() {
  static const bool installed = [] {
    llvm::install_fatal_error_handler(on_fatal_error);
    llvm::install_bad_alloc_error_handler(on_bad_alloc);
    return true;
  }();
  static_cast<void>(installed);
}

/// The pool of this process. A forked child has none of its parent's threads and starts its own
/// pool. Pools are never destroyed: their threads, and calls that wait for them, continue while the
/// process exits.
Pool& pool() {
  Pool* found = current_pool.load(std::memory_order_acquire);
  while (!found || found->process != getpid()) {
    install_handlers();
    auto fresh = std::make_unique<Pool>();
    if (current_pool.compare_exchange_strong(found, fresh.get(), std::memory_order_acq_rel)) {
      found = fresh.release();
    }
  }
  return *found;
}

Status run_job(QueuedJob& job) {
  const CodeGeneratorMemory memory(on_exhausted);
  try {
    job.work(JobInterruption(job));
    return {};
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  } catch (...) {
    return Error{KM_ERROR_INTERNAL, "an exception left the code generator", 0};
  }
}

Status Pool::run(Job work, const Interruption* interruption) {
  auto job = std::make_shared<QueuedJob>();
  job->work = std::move(work);
  KM_TRY(reserve_.enter());
  job->reserve.emplace(reserve_);
  return run_in_turn(job, interruption);
}

Status Pool::run_in_turn(const std::shared_ptr<QueuedJob>& job, const Interruption* interruption) {
  std::unique_lock lock(mutex_);
  if (queue_.size() >= idle_ && threads_ < max_threads_) {
    Status added = add_thread();
    if (!added && threads_ == 0) return added;
  }
  queue_.push_back(job);
  queued_.notify_one();
  const auto is_done = [&] { return job->done; };
  if (interruption == nullptr) finished_.wait(lock, is_done);
  while (!finished_.wait_for(lock, kPollTime, is_done)) {
    lock.unlock();
    Status status = interruption->check();
    lock.lock();
    if (status || job->done) continue;
    abandon(*job);
    return status;
  }
  return std::move(job->status);
}

void Pool::abandon(QueuedJob& job) {
  job.is_abandoned = true;
  std::erase_if(queue_, [&](const auto& queued) { return queued.get() == &job; });
}

Status Pool::add_thread() {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  int code = pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_t thread;
  if (code == 0) {
    const LibraryThreadSignals signals;
    code = pthread_create(&thread, &attributes, &Pool::thread_main, this);
  }
  pthread_attr_destroy(&attributes);
  if (code != 0) {
    Error error =
        make_error(KM_ERROR_OUT_OF_HOST_MEMORY,
                   "cannot start a compiler thread with a stack of 64 MiB (error %d)", code);
    error.native_code = code;
    return error;
  }
  ++threads_;
  return {};
}

bool Pool::replace_thread() {
  try {
    return static_cast<bool>(add_thread());
  } catch (const std::bad_alloc&) {
    return false;  // the error was stored already
  }
}

void* Pool::thread_main(void* pool) {
  pthread_setname_np(pthread_self(), "km-compile");
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);  // the allocator may know this thread
  // The creator may have flush-to-zero set, and LLVM folds constants with the host's arithmetic.
  arch::set_float_control(arch::kDefaultFloatControl);
  this_pool = static_cast<Pool*>(pool);
  const HostMemoryNeeded needed;  // a failed allocation could not be reported here
  this_pool->serve();
  return nullptr;
}

void Pool::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    queued_.wait(lock, [this] { return !queue_.empty(); });
    --idle_;
    std::shared_ptr<QueuedJob> job = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    this_job = job.get();
    Status status = run_job(*job);
    this_job = nullptr;
    job->work = nullptr;
    finish(*job, std::move(status));
    job.reset();
    lock.lock();
  }
}

void Pool::finish(QueuedJob& job, Status status) {
  {
    std::lock_guard lock(mutex_);
    job.status = std::move(status);
    job.done = true;
    finished_.notify_all();
  }
  job.reserve.reset();
}

void Pool::park(QueuedJob& job, Error why) {
  CodeGeneratorMemory::abandon();
  const HostMemoryOptional optional;
  {
    std::lock_guard lock(mutex_);
    --threads_;
    // Another thread replaces this one, otherwise nobody would serve the queue.
    if (!queue_.empty() && !replace_thread() && threads_ == 0) {
      fail_queue(Error{KM_ERROR_OUT_OF_HOST_MEMORY, {}, 0});
    }
  }
  finish(job, std::move(why));
  for (;;) pause();
}

void Pool::fail_queue(const Error& error) {
  for (const std::shared_ptr<QueuedJob>& job : queue_) {
    job->status = error;
    job->done = true;
  }
  queue_.clear();
  finished_.notify_all();
}

}  // namespace

Status run_on_engine_thread(Job job, const Interruption* interruption) {
  if (this_job == nullptr) return pool().run(std::move(job), interruption);
  job(JobInterruption(*this_job));
  return {};
}

}  // namespace km::simt::internal
