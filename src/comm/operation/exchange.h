// A collective operation whose buffers are all within reach: reductions and copies between the
// ranks' memory, in parts that threads may run concurrently.
#pragma once

#include <cstdint>
#include <span>

#include "comm/operation/operation.h"

namespace km::comm {

/// The bytes that an operation writes, of all ranks together.
uint64_t written_bytes(const Signature& call, uint64_t ranks) noexcept;

/// True if the results of an operation bypass the caches, which have no room for them.
bool bypasses_caches(const Signature& call, uint64_t ranks);

/// The operation as the ranks called it, rank by rank.
class Exchange {
 public:
  explicit Exchange(std::span<const Operation> ranks) : ranks_(ranks) {}

  /// The number of parts, which have about kPartBytes each.
  uint64_t parts() const noexcept;
  void run(uint64_t part) const;

 private:
  /// A range of one block.
  struct Range {
    uint64_t block, first_byte, size_bytes;
  };
  const Signature& call() const { return ranks_[0].call; }
  uint64_t blocks() const noexcept;
  Range range_of(uint64_t part) const noexcept;
  void reduce_range(const Range& range) const;
  void copy_range(const Range& range) const;
  void swap_range(uint64_t first_rank, uint64_t second_rank, const Range& range) const;

  const std::span<const Operation> ranks_;
};

}  // namespace km::comm
