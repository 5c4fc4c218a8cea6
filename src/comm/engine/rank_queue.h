// The operations that the thread of a rank has before it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <utility>

#include "base/thread/start_thread.h"
#include "comm/engine/engine.h"
#include "comm/engine/workers.h"

namespace km::comm {

/// Carries out the batches of one rank, one after the other.
class RankWorker {
 public:
  /// `fail` gets failures, which are those of the communicator.
  explicit RankWorker(std::function<void(const Failure&)> fail) : fail_(std::move(fail)) {}
  virtual ~RankWorker() = default;

  void run(Batch& batch) {
    Failure failure = ranks_failure();
    for (const Operation& each : batch.operations()) {
      if (failure || is_between_two(each.call.kind)) continue;
      failure = run_collective(each);
    }
    if (!failure) failure = run_messages(batch.operations());
    if (failure) fail_(failure);
    for (size_t left = batch.operations().size(); left != 0; --left) batch.finish_one();
  }
  /// True if try_run() of the operations is likely to carry them out.
  virtual bool are_short(std::span<const Operation>) const { return false; }
  /// Carries out the batch if that takes a moment only, and returns true. Otherwise it may have
  /// begun, and run() carries it out next.
  virtual bool try_run(Batch&) { return false; }
  /// True if it uses a library that has to be called to hear of other ranks, and that the program
  /// may end as soon as the engine is gone (MPI_Finalize).
  virtual bool uses_programs_library() const { return false; }
  /// Called now and then, while there is nothing to run, for such a library.
  virtual void look_around() {}

 private:
  virtual Failure ranks_failure() const = 0;
  virtual Failure run_collective(const Operation& operation) = 0;
  virtual Failure run_messages(std::span<const Operation> operations) = 0;

  const std::function<void(const Failure&)> fail_;
};

/// The queue of a worker, which its thread keeps. Threads that post to an idle queue may use the
/// worker themselves, since a wake-up of its thread takes longer than a short operation.
class RankQueue {
 public:
  explicit RankQueue(std::unique_ptr<RankWorker> worker)
      : uses_programs_library_(worker->uses_programs_library()), worker_(std::move(worker)) {}

  void add(const SharedBatch& batch, Poster poster) {
    if (!take_worker(batch)) return;
    const bool is_over = poster == Poster::kWaits || worker_->try_run(*batch);
    if (poster == Poster::kWaits) worker_->run(*batch);
    give_worker_back(is_over ? nullptr : batch);
  }
  /// Asks the worker, while the engine is there.
  bool are_short(std::span<const Operation> operations) const {
    return worker_->are_short(operations);
  }
  void end() {
    {
      const std::lock_guard lock(mutex_);
      is_ending_ = true;
    }
    changed_.notify_one();
  }
  void work() {
    for (SharedBatch batch = next(); batch != nullptr; batch = next()) {
      worker_->run(*batch);
      give_worker_back(nullptr);
    }
    worker_.reset();
    const std::lock_guard lock(mutex_);
    has_left_ = true;
    left_.notify_all();
  }
  /// Waits until a worker that uses the program's library is destroyed, or has had time for that.
  /// Returns at once on its own thread.
  void wait_until_left() {
    constexpr std::chrono::seconds kMost(2);
    std::unique_lock lock(mutex_);
    if (on_engine_thread() || !uses_programs_library_) return;
    left_.wait_for(lock, kMost, [this] { return has_left_; });
  }

 private:
  /// Takes the worker if it is idle; otherwise it gets the batch later.
  bool take_worker(const SharedBatch& batch) {
    const std::lock_guard lock(mutex_);
    if (!is_busy_ && batches_.empty()) return is_busy_ = true;
    batches_.push_back(batch);
    return false;
  }
  /// Gives the worker back, with a batch that its thread has to end.
  void give_worker_back(const SharedBatch& begun) {
    const std::lock_guard lock(mutex_);
    is_busy_ = false;
    if (begun != nullptr) batches_.push_front(begun);
    if (!batches_.empty() || is_ending_) changed_.notify_one();
  }
  /// Waits for a batch, with which it takes the worker; null at the end.
  SharedBatch next() {
    constexpr std::chrono::milliseconds kLook(50);
    const auto has_changed = [this] { return !is_busy_ && (!batches_.empty() || is_ending_); };
    std::unique_lock lock(mutex_);
    if (!uses_programs_library_) changed_.wait(lock, has_changed);
    while (!changed_.wait_for(lock, kLook, has_changed)) {
      if (is_busy_) continue;
      is_busy_ = true;
      lock.unlock();
      worker_->look_around();
      lock.lock();
      is_busy_ = false;
    }
    if (batches_.empty()) return nullptr;
    is_busy_ = true;
    SharedBatch batch = std::move(batches_.front());
    batches_.pop_front();
    return batch;
  }

  const bool uses_programs_library_;
  std::unique_ptr<RankWorker> worker_;  // of the thread, which destroys it
  std::mutex mutex_;
  std::condition_variable changed_, left_;
  std::deque<SharedBatch> batches_;
  bool is_busy_ = false;  // a thread uses the worker
  bool is_ending_ = false, has_left_ = false;
};

/// An engine whose operations a thread carries out.
class QueueEngine final : public Engine {
 public:
  /// Null if the system has no thread.
  static std::unique_ptr<Engine> start(const char* thread, std::unique_ptr<RankWorker> worker) {
    auto queue = std::make_shared<RankQueue>(std::move(worker));
    if (!start_thread(thread, kThreadStackBytes, -1, [queue] { queue->work(); })) return nullptr;
    return std::make_unique<QueueEngine>(std::move(queue));
  }
  explicit QueueEngine(std::shared_ptr<RankQueue> queue) : queue_(std::move(queue)) {}
  /// The program may end what the worker uses (MPI_Finalize) as soon as the engine is gone.
  ~QueueEngine() override {
    queue_->end();
    queue_->wait_until_left();
  }
  void post(const SharedBatch& batch, Poster poster) override { queue_->add(batch, poster); }
  bool begins_at_once(std::span<const Operation> operations) const override {
    return queue_->are_short(operations);
  }
  /// The thread sees the failure by itself: what waits looks for it.
  void stop() override {}
  std::function<void()> departure() const override {
    return [queue = queue_] { queue->wait_until_left(); };
  }

 private:
  const std::shared_ptr<RankQueue> queue_;
};

}  // namespace km::comm
