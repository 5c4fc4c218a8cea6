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
      : membership_(std::move(membership)), fail_(std::move(fail)), exchange_(*membership_) {}

  void run(Batch& batch) override {
    Failure failure = membership_->failure();
    for (const Operation& each : batch.operations()) {
      if (failure || is_between_two(each.call.kind)) continue;
      failure = exchange_.run(each);
    }
    if (!failure) failure = Messages(*membership_, batch.operations()).run();
    if (failure) fail_(failure);
    for (size_t i = 0; i < batch.operations().size(); ++i) batch.finish_one();
  }
  /// Other ranks' failures lie in the shared memory.
  void look_around() override {}

 private:
  const std::shared_ptr<Membership> membership_;
  const std::function<void(const Failure&)> fail_;
  StagedExchange exchange_;
};

}  // namespace

std::unique_ptr<Engine> make_shared_engine(std::shared_ptr<Membership> membership,
                                           std::function<void(const Failure&)> fail) {
  return QueueEngine::start("km-comm-rank",
                            std::make_unique<SharedWorker>(std::move(membership), std::move(fail)));
}

}  // namespace km::comm
