#include "comm/group/shared_engine.h"

#include <utility>

#include "base/thread/start_thread.h"
#include "comm/group/messages.h"
#include "comm/group/staged_exchange.h"
#include "comm/group/workers.h"

namespace km::comm {
namespace {

/// The operations that a rank's thread has before it. The thread keeps the object.
class RankQueue {
 public:
  RankQueue(std::shared_ptr<Membership> membership, std::function<void(const Failure&)> fail)
      : membership_(std::move(membership)), fail_(std::move(fail)), exchange_(*membership_) {}

  void add(const SharedBatch& batch) {
    {
      const std::lock_guard lock(mutex_);
      batches_.push_back(batch);
    }
    changed_.notify_one();
  }
  void end() {
    {
      const std::lock_guard lock(mutex_);
      is_ending_ = true;
    }
    changed_.notify_one();
  }

  void work() {
    for (;;) {
      SharedBatch batch;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return !batches_.empty() || is_ending_; });
        if (batches_.empty()) return;
        batch = std::move(batches_.front());
        batches_.pop_front();
      }
      run(*batch);
    }
  }

 private:
  void run(Batch& batch) {
    Failure failure = membership_->failure();
    for (const Operation& each : batch.operations()) {
      if (failure || is_between_two(each.call.kind)) continue;
      failure = exchange_.run(each);
    }
    if (!failure) failure = Messages(*membership_, batch.operations()).run();
    if (failure) fail_(failure);
    for (size_t i = 0; i < batch.operations().size(); ++i) batch.finish_one();
  }

  const std::shared_ptr<Membership> membership_;
  const std::function<void(const Failure&)> fail_;
  StagedExchange exchange_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<SharedBatch> batches_;
  bool is_ending_ = false;
};

class SharedEngine final : public Engine {
 public:
  explicit SharedEngine(std::shared_ptr<RankQueue> queue) : queue_(std::move(queue)) {}
  ~SharedEngine() override { queue_->end(); }
  void post(const SharedBatch& batch) override { queue_->add(batch); }
  /// The thread sees the failure by itself: what waits looks for it.
  void stop() override {}

 private:
  const std::shared_ptr<RankQueue> queue_;
};

}  // namespace

std::unique_ptr<Engine> make_shared_engine(std::shared_ptr<Membership> membership,
                                           std::function<void(const Failure&)> fail) {
  auto queue = std::make_shared<RankQueue>(std::move(membership), std::move(fail));
  if (!start_thread("km-comm-rank", kThreadStackBytes, -1, [queue] { queue->work(); }))
    return nullptr;
  return std::make_unique<SharedEngine>(std::move(queue));
}

}  // namespace km::comm
