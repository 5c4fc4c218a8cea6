#include "comm/group/shared_engine.h"

#include <optional>
#include <utility>

#include "comm/engine/rank_queue.h"
#include "comm/group/messages.h"
#include "comm/group/staged_exchange.h"

namespace km::comm {
namespace {

class SharedWorker final : public RankWorker {
 public:
  SharedWorker(std::shared_ptr<Membership> membership, std::function<void(const Failure&)> fail)
      : RankWorker(std::move(fail)), membership_(std::move(membership)), exchange_(*membership_) {}

  bool are_short(std::span<const Operation> operations) const override {
    if (operations.empty()) return false;
    if (is_message(operations[0])) return Messages::are_short(operations);
    return operations.size() == 1 &&
           StagedExchange::is_short(operations[0].call, membership_->ranks());
  }

  bool try_run(Batch& batch) override {
    // After operations that others began late, the next one is not tried.
    if (!are_short(batch.operations()) || !std::exchange(may_try_, true)) return false;
    may_try_ = is_message(batch.operations()[0]) ? try_messages(batch) : try_collective(batch);
    if (may_try_) run(batch);
    return may_try_;
  }

 private:
  Failure ranks_failure() const override { return membership_->failure(); }
  Failure run_collective(const Operation& operation) override { return exchange_.run(operation); }
  Failure run_messages(std::span<const Operation> operations) override {
    if (!messages_) messages_.emplace(*membership_, operations);
    Failure failure = messages_->run();
    messages_.reset();
    return failure;
  }

  static bool is_message(const Operation& operation) { return is_between_two(operation.call.kind); }
  bool try_collective(const Batch& batch) {
    exchange_.begin(batch.operations()[0]);
    return membership_->patience().spend([this] { return exchange_.have_all_begun(); });
  }
  bool try_messages(const Batch& batch) {
    messages_.emplace(*membership_, batch.operations());
    return membership_->patience().spend([this] { return messages_->try_move(); });
  }

  const std::shared_ptr<Membership> membership_;
  StagedExchange exchange_;
  std::optional<Messages> messages_;  // those that have begun
  bool may_try_ = true;
};

}  // namespace

std::unique_ptr<Engine> make_shared_engine(std::shared_ptr<Membership> membership,
                                           std::function<void(const Failure&)> fail) {
  return QueueEngine::start("km-comm-rank",
                            std::make_unique<SharedWorker>(std::move(membership), std::move(fail)));
}

}  // namespace km::comm
