// Ranks that are all in one process: the last one that calls an operation has all buffers at hand,
// and copies and reduces between them.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "comm/engine/engine.h"
#include "comm/segment/unique_id.h"

namespace km::comm {

/// The operations that ranks have called and others have not. All ranks share it.
class LocalGroup {
 public:
  /// The group of the ranks with this id, which the first of them makes.
  static std::shared_ptr<LocalGroup> of(const UniqueId& id, uint32_t ranks, uint64_t timeout_ns);
  LocalGroup(uint32_t ranks, uint64_t timeout_ns);

  uint32_t ranks() const { return ranks_; }
  /// Begins the rank's operations. A failure is one of all ranks.
  Failure post(uint32_t rank, const SharedBatch& batch);
  /// Ends all operations that wait, now and later.
  void stop();
  /// A failure if an operation has waited beyond the limit.
  Failure overdue();
  /// Hears that a rank leaves. A failure if others wait for it.
  Failure leave(uint32_t rank);

  /// A call of all ranks, as far as they have come.
  struct Call {
    std::vector<Operation> operations;
    std::vector<SharedBatch> batches;  // null: the rank has not called
    uint32_t arrived = 0;
    uint64_t begin_ns = 0;
  };
  /// A send or a receive that waits for its other side.
  struct Half {
    uint32_t rank;
    Operation operation;
    SharedBatch batch;
    uint64_t begin_ns;
  };

 private:
  Failure add(uint32_t rank, const Operation& operation, const SharedBatch& batch,
              std::vector<std::shared_ptr<class Job>>* jobs);
  Failure add_to_call(uint32_t rank, const Operation& operation, const SharedBatch& batch,
                      std::vector<std::shared_ptr<class Job>>* jobs);
  Failure add_half(uint32_t rank, const Operation& operation, const SharedBatch& batch,
                   std::vector<std::shared_ptr<class Job>>* jobs);
  Failure compare(const Call& call) const;
  /// A failure if a rank has left that has not called.
  Failure find_left(const Call& call) const;
  std::string absent_ranks(const Call& call) const;

  const uint32_t ranks_;
  const uint64_t timeout_ns_;
  std::mutex mutex_;                  // guards the members below
  std::deque<Call> calls_;            // those that some ranks have called
  uint64_t first_call_ = 0;           // the number of the first one
  std::vector<uint64_t> next_calls_;  // by rank: the number of its next call
  std::vector<bool> has_left_;        // by rank
  std::deque<Half> halves_;
  bool is_stopped_ = false;
};

/// The engine of one rank of a local group. Failures are passed to `fail`.
std::unique_ptr<Engine> make_local_engine(std::shared_ptr<LocalGroup> group, uint32_t rank,
                                          std::function<void(const Failure&)> fail);

}  // namespace km::comm
