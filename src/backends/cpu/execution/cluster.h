// The running blocks of one cluster, all on one thread.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/cpu/check/block_checks.h"
#include "backends/cpu/check/knowledge.h"
#include "base/assert.h"

namespace km::cpu {

class ResidentBlock;

class Cluster {
 public:
  /// Starts a cluster of `size` blocks, whose shared memories lie `stride_bytes` apart from
  /// `shared` on.
  void begin(uint32_t size, uint8_t* shared, uint64_t stride_bytes) {
    KM_ASSERT(size > 1 && shared != nullptr, "a cluster has one block, or no memory for several");
    members.clear();
    shadows.clear();
    size_ = size;
    arrived_ = finished_ = rounds_ = 0;
    known_.reset();
    shared_ = shared;
    stride_bytes_ = stride_bytes;
  }
  uint8_t* shared_of(uint32_t rank) const {
    KM_ASSERT(rank < size_, "a cluster does not have a block of this rank");
    return shared_ + rank * stride_bytes_;
  }
  /// The size from the first block's shared memory to the end of the last one's.
  uint64_t shared_bytes() const { return size_ * stride_bytes_; }

  /// Called when a block arrives at the barrier; returns the number of the barrier's round.
  uint32_t arrive() {
    KM_ASSERT(arrived_ + finished_ < size_, "more blocks come to a barrier than the cluster has");
    ++arrived_;
    const uint32_t round = rounds_;
    open_if_complete();
    return round;
  }
  /// Called when a block ends, after which it counts as arrived. True for the last one.
  bool leave() {
    KM_ASSERT(finished_ < size_, "more blocks end than the cluster has");
    ++finished_;
    open_if_complete();
    return finished_ == size_;
  }
  bool is_past(uint32_t round) const { return rounds_ != round; }

  /// The checker's knowledge of the blocks that have arrived at the barrier.
  const SharedKnowledge& known() const { return known_; }
  /// Adds the knowledge of a block that arrives.
  void add_known(const SharedKnowledge& more) { known_ = joined(known_, more); }

  std::vector<ResidentBlock*> members;  // by rank
  std::vector<SharedShadow> shadows;    // the checker's, of the members' shared memory

 private:
  void open_if_complete() {
    if (arrived_ == 0 || arrived_ + finished_ < size_) return;
    arrived_ = 0;
    ++rounds_;
  }

  uint32_t size_ = 0, arrived_ = 0, finished_ = 0;
  uint32_t rounds_ = 0;  // completed rounds of the barrier
  uint8_t* shared_ = nullptr;
  uint64_t stride_bytes_ = 0;
  SharedKnowledge known_;
};

}  // namespace km::cpu
