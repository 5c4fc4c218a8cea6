#include "comm/mpi/mpi_engine.h"

#include <utility>

#include "comm/engine/rank_queue.h"
#include "comm/mpi/mpi_exchange.h"

namespace km::comm {
namespace {

class MpiWorker final : public RankWorker {
 public:
  MpiWorker(std::shared_ptr<MpiRanks> ranks, std::function<void(const Failure&)> fail)
      : ranks_(std::move(ranks)), fail_(std::move(fail)), exchange_(*ranks_) {}

  void run(Batch& batch) override {
    Failure failure = ranks_->failure();
    for (const Operation& each : batch.operations()) {
      if (failure || is_between_two(each.call.kind)) continue;
      failure = exchange_.run(each);
    }
    if (!failure) failure = exchange_messages(*ranks_, batch.operations());
    if (failure) fail_(failure);
    for (size_t i = 0; i < batch.operations().size(); ++i) batch.finish_one();
  }
  bool uses_programs_library() const override { return true; }
  void look_around() override { ranks_->hear_news(); }

 private:
  const std::shared_ptr<MpiRanks> ranks_;
  const std::function<void(const Failure&)> fail_;
  MpiExchange exchange_;
};

}  // namespace

std::unique_ptr<Engine> make_mpi_engine(std::shared_ptr<MpiRanks> ranks,
                                        std::function<void(const Failure&)> fail) {
  return QueueEngine::start("km-comm-mpi",
                            std::make_unique<MpiWorker>(std::move(ranks), std::move(fail)));
}

}  // namespace km::comm
