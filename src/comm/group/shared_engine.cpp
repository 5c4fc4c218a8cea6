#include "comm/group/shared_engine.h"

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

 private:
  Failure ranks_failure() const override { return membership_->failure(); }
  Failure run_collective(const Operation& operation) override { return exchange_.run(operation); }
  Failure run_messages(std::span<const Operation> operations) override {
    return Messages(*membership_, operations).run();
  }

  const std::shared_ptr<Membership> membership_;
  StagedExchange exchange_;
};

}  // namespace

std::unique_ptr<Engine> make_shared_engine(std::shared_ptr<Membership> membership,
                                           std::function<void(const Failure&)> fail) {
  return QueueEngine::start("km-comm-rank",
                            std::make_unique<SharedWorker>(std::move(membership), std::move(fail)));
}

}  // namespace km::comm
