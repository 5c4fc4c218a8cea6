// The worker threads of a device. They run streams that are ready, and share the blocks of large
// commands.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "backends/cpu/execution/block_range.h"
#include "backends/cpu/execution/stall.h"
#include "backends/cpu/threads/futex.h"
#include "backends/cpu/threads/idle_workers.h"
#include "backends/cpu/threads/thread_pool_options.h"
#include "backends/cpu/threads/worker_census.h"
#include "base/result.h"
#include "base/thread/spin_lock.h"

namespace km::cpu {

struct Command;
class Context;
class Executor;
class Stream;

class ThreadPool final : public StallRelief {
 public:
  /// Starts as many workers as threads and memory allow; it fails if none starts. They sleep
  /// without work, and live as long as the process.
  static Result<ThreadPool*> start(const ThreadPoolOptions& options);

  uint32_t threads() const { return options_.threads; }
  uint64_t spin_ticks() const { return options_.may_spin ? kSpinTicks : 0; }
  /// True if more threads are awake than there are processors for them.
  bool is_crowded() const { return census_.awake_lately() > options_.threads; }

  /// A host thread that waits for work and helps; one worker fewer is awake meanwhile.
  class Helping {
   public:
    /// A null pool means that the thread only waits.
    explicit Helping(ThreadPool* pool) : pool_(pool) { start(); }
    ~Helping() { stop(); }
    Helping(const Helping&) = delete;
    Helping& operator=(const Helping&) = delete;

    void start() {
      if (pool_ != nullptr && !std::exchange(counts_, true)) pool_->census_.change({.awake = 1});
    }
    void stop() {
      if (!std::exchange(counts_, false)) return;
      pool_->census_.change({.awake = -1});
      if (pool_->census_.spinners() == 0) pool_->wake_for_more();
    }

   private:
    ThreadPool* pool_;
    bool counts_ = false;
  };

  // Functions for streams.
  void add_ready(Stream* stream);
  /// True if the owner of a stream should let another stream run: one of higher priority at once,
  /// others after a while.
  bool others_wait(const Stream* stream) const;

  /// Returns a stream that was closed and whose work is over, for reuse; null if there is none.
  Stream* take_closed_stream();
  void keep_closed_stream(Stream* stream);

  // Functions for jobs: commands that several threads run together. A job's name is a word that is
  // never 0 and is not reused for a long time.
  bool wants_to_share(const Command& command) const;
  /// Publishes a job, in which the caller takes part. Returns 0 if there are too many jobs: then
  /// the caller runs the command alone.
  uint64_t publish(Stream* stream, Command* command, uint64_t first_piece);
  /// Leaves the job when no blocks are left. Returns true for the last participant, which continues
  /// the stream.
  bool leave(uint64_t job);
  /// Runs work_on() for a command that the caller runs, alone or with others.
  void work(Command& command, Executor& executor, Context& context);
  void relieve() override;
  void widen(uint64_t job) override;
  /// Takes part in this job until it has no blocks left; false if it is over or has enough threads.
  bool help(uint64_t job, Executor* executor, uint64_t until);

 private:
  static constexpr uint64_t kSpinTicks = ticks_of_ns(50'000);
  static constexpr uint64_t kSliceTicks = ticks_of_ns(1'500'000);
  static constexpr int kPriorities = 3;
  static constexpr uint32_t kMaxJobs = 64;
  static constexpr uint32_t kMaxSpares = 256;

  struct alignas(64) Job {
    std::atomic<uint64_t> state{0};          // open bit, generation, number of participants
    std::atomic<int> list{0};                // priority list of its stream
    std::atomic<uint32_t> most{1};           // participants
    std::atomic<uint32_t> asleep_wanted{0};  // sleeping workers that participants still wake
    Stream* stream = nullptr;
    Command* command = nullptr;
    std::unique_ptr<BlockRange::SharedParts> parts;  // one for each thread
  };
  struct ReadyList {
    Stream* first = nullptr;
    Stream* last = nullptr;
    std::atomic<uint32_t> count{0};
  };

  /// Work that a thread has taken: a stream that it owns or a job that it has joined.
  struct Item {
    Stream* stream = nullptr;
    uint64_t job = 0;
  };

  explicit ThreadPool(const ThreadPoolOptions& options);
  struct Arrivals;
  bool start_worker(uint32_t worker, const std::shared_ptr<Arrivals>& arrivals);
  void run_worker(uint32_t worker, Executor* executor);
  bool take(Item* out_item, bool gives_grace);
  void run(const Item& item, Executor* executor);
  void run_spare();
  bool spin_for_work(uint32_t worker, Item* out_item);
  bool retire();
  void wake_for_more();
  bool has_unowned_stream();
  bool wait_for_work(uint32_t worker, Item* out_item);
  uint64_t job_with_room() const;
  bool has_work() const { return ready_count_.load() != 0 || job_with_room() != 0; }
  bool has_ready_before(int list) const;
  Stream* take_ready(bool gives_grace, int lists);
  void wake_up_to(uint32_t count);
  void call_helpers(Job& job, uint32_t count);
  void wake_helpers(Job& job);
  uint32_t looking() const;
  bool enter(uint64_t job);
  void take_part(uint64_t job, Executor* executor, uint64_t until);

  ThreadPoolOptions options_;
  std::array<Job, kMaxJobs> jobs_;
  // A bit for each job that can use more participants.
  alignas(64) std::atomic<uint64_t> open_jobs_{0};
  std::atomic<uint64_t> free_jobs_{UINT64_MAX};
  alignas(64) std::atomic<uint32_t> ready_count_{0};
  SpinLock ready_lock_;
  std::array<ReadyList, kPriorities> ready_;
  SpinLock closed_lock_;
  std::vector<Stream*> closed_;
  alignas(64) WorkerCensus census_;
  std::atomic<uint32_t> spares_{0};  // threads beyond the workers, while streams are ready
  IdleWorkers idle_;
};

}  // namespace km::cpu
