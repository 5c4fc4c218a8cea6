// Threads that copy and reduce, shared by all communicators of the process.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace km::comm {

/// The stacks of the threads of communicators.
constexpr uint64_t kThreadStackBytes = 1 << 20;

/// Work in parts that threads may run concurrently.
class Job {
 public:
  explicit Job(uint64_t parts) : parts_(parts) {}
  virtual ~Job() = default;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  virtual void run(uint64_t part) = 0;
  /// Called once, by the thread that ends the last part.
  virtual void finish() = 0;

  /// Runs parts until none is left to take.
  void take_part() {
    for (uint64_t part = next_.fetch_add(1); part < parts_; part = next_.fetch_add(1)) {
      run(part);
      if (ended_.fetch_add(1) + 1 == parts_) finish();
    }
  }
  bool has_parts() const { return next_.load(std::memory_order_relaxed) < parts_; }
  uint64_t parts() const { return parts_; }

 private:
  const uint64_t parts_;
  std::atomic<uint64_t> next_{0}, ended_{0};
};

/// Runs the job on the calling thread, and on others if it has parts for them. It may still run
/// when the call returns.
void run_job(std::shared_ptr<Job> job);

}  // namespace km::comm
