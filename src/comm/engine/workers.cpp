#include "comm/engine/workers.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

#include "base/process/processors.h"
#include "base/thread/start_thread.h"

namespace km::comm {
namespace {

/// The threads and the jobs they take part in. It is never destroyed, because they may outlive all
/// static objects.
class Workers {
 public:
  static Workers& instance() {
    static auto* const made = new Workers;
    return *made;
  }

  void offer(const std::shared_ptr<Job>& job) {
    {
      const std::lock_guard lock(mutex_);
      if (!is_started_) start();
      jobs_.push_back(job);
    }
    changed_.notify_all();
  }

 private:
  void start() {
    is_started_ = true;
    // The threads that post jobs take part, too.
    const uint32_t processors = std::max(usable_processors(), 2U);
    for (uint32_t i = 1; i < processors; ++i) {
      if (!start_thread("km-comm-copy", kThreadStackBytes, -1, [this] { work(); })) return;
    }
  }

  void work() {
    for (;;) {
      std::shared_ptr<Job> job;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return drop_taken(); });
        job = jobs_.front();
      }
      job->take_part();
    }
  }
  /// Drops jobs without parts; true if another one is there.
  bool drop_taken() {
    while (!jobs_.empty() && !jobs_.front()->has_parts()) jobs_.pop_front();
    return !jobs_.empty();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Job>> jobs_;
  bool is_started_ = false;
};

}  // namespace

void run_job(std::shared_ptr<Job> job) {
  if (job->parts() == 0) return job->finish();
  if (job->parts() > 1) Workers::instance().offer(job);
  job->take_part();
}

}  // namespace km::comm
