#include "backends/cuda/driver/reaper.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <vector>

#include "base/memory/host_allocator.h"
#include "base/thread/thread_signals.h"

namespace km::cuda {
namespace {

using Milliseconds = std::chrono::milliseconds;
constexpr Milliseconds kShortest{1}, kLongest{16};  // between two rounds of running the jobs

class Reaper {
 public:
  bool post(std::function<bool()> job) {
    const std::lock_guard lock(mutex_);
    if (!is_running_ && !start()) return false;
    jobs_.push_back(std::move(job));
    wake_locked();
    return true;
  }

  void wake() {
    const std::lock_guard lock(mutex_);
    if (!jobs_.empty() || is_asking_) wake_locked();
  }

 private:
  static void* run(void* self) {
    pthread_setname_np(pthread_self(), "km-cuda");
    // Release callbacks may hold state for this thread, so it may not be cancelled.
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
    const HostMemoryNeeded needed;  // the thread has no caller to report a lack of memory to
    static_cast<Reaper*>(self)->loop();
    return nullptr;
  }

  bool start() {
    pthread_t thread;
    const LibraryThreadSignals signals;
    is_running_ = pthread_create(&thread, nullptr, run, this) == 0;
    if (is_running_) pthread_detach(thread);
    return is_running_;
  }

  void wake_locked() {
    is_awake_ = true;
    changed_.notify_one();
  }

  [[noreturn]] void loop() {
    std::unique_lock lock(mutex_);
    Milliseconds delay = kShortest;
    while (true) {
      const auto is_awake = [this] { return is_awake_; };
      if (jobs_.empty()) {
        changed_.wait(lock, is_awake);
      } else {
        changed_.wait_for(lock, delay, is_awake);
      }
      delay = is_awake_ ? kShortest : std::min(delay * 2, kLongest);
      is_awake_ = false;
      ask(lock);
    }
  }

  void ask(std::unique_lock<std::mutex>& lock) {
    std::vector<std::function<bool()>> jobs;
    jobs.swap(jobs_);
    is_asking_ = true;
    lock.unlock();
    std::erase_if(jobs, [](const std::function<bool()>& job) { return job(); });
    lock.lock();
    is_asking_ = false;
    for (auto& job : jobs) jobs_.push_back(std::move(job));
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::function<bool()>> jobs_;
  bool is_running_ = false, is_awake_ = false, is_asking_ = false;
};

Reaper& reaper() {
  alignas(Reaper) static char place[sizeof(Reaper)];
  static Reaper& made = *::new (place) Reaper;  // never destroyed, because its thread may still run
  return made;
}

}  // namespace

bool post_job(std::function<bool()> job) { return reaper().post(std::move(job)); }
void wake_reaper() { reaper().wake(); }

}  // namespace km::cuda
