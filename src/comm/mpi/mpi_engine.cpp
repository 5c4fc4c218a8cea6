#include "comm/mpi/mpi_engine.h"

#include <utility>

#include "comm/engine/rank_queue.h"
#include "comm/mpi/mpi_exchange.h"

namespace km::comm {
namespace {

class MpiWorker final : public RankWorker {
 public:
  MpiWorker(std::shared_ptr<MpiRanks> ranks, std::function<void(const Failure&)> fail)
      : RankWorker(std::move(fail)), ranks_(std::move(ranks)), exchange_(*ranks_) {}

  bool uses_programs_library() const override { return true; }
  void look_around() override { ranks_->hear_news(); }

 private:
  Failure ranks_failure() const override { return ranks_->failure(); }
  Failure run_collective(const Operation& operation) override { return exchange_.run(operation); }
  Failure run_messages(std::span<const Operation> operations) override {
    return exchange_messages(*ranks_, operations);
  }

  const std::shared_ptr<MpiRanks> ranks_;
  MpiExchange exchange_;
};

}  // namespace

std::unique_ptr<Engine> make_mpi_engine(std::shared_ptr<MpiRanks> ranks,
                                        std::function<void(const Failure&)> fail) {
  return QueueEngine::start("km-comm-mpi",
                            std::make_unique<MpiWorker>(std::move(ranks), std::move(fail)));
}

}  // namespace km::comm
