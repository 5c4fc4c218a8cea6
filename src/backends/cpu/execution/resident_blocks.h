// The blocks that one thread keeps going in turn (modes b and c): their memory, and which of them
// begins next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "backends/cpu/execution/cluster.h"
#include "backends/cpu/execution/launch_run.h"
#include "backends/cpu/execution/resident_block.h"
#include "backends/cpu/fault/fault.h"

namespace km::cpu {

/// ResidentBlocks keeps blocks that have been made for use by later launches.
class ResidentBlocks {
 public:
  /// `guard`: of the thread, on whose stacks fibers run.
  explicit ResidentBlocks(CodeGuard* guard) : guard_(guard) {}

  /// Prepares memory for one block of the launch, or one cluster, so that it has it for certain.
  /// False: there is none left.
  bool prepare(const LaunchRun& launch, uint32_t warp_count);
  /// A run of blocks of the launch begins, with all blocks idle.
  void begin(LaunchRun& launch);
  /// Starts the next block or cluster of the launch, as long as this thread has room for it. Blocks
  /// begin as `state` says; `part` is the part of the range that they are taken from.
  bool start_next(simt::BlockState& state, uint32_t* part);
  /// Ends the block with this index in running(), which those after it move up to. True if it, or
  /// its cluster, is over; others of a cluster may use its shared memory until all of them are.
  bool finish(size_t index);
  /// After a fault: forgets the warps that were left in the middle.
  void abandon();

  const std::vector<ResidentBlock*>& running() const { return running_; }
  /// True if all blocks that were taken from the range have begun.
  bool has_begun_all() const { return first_untaken_ == end_untaken_; }

 private:
  using Blocks = std::vector<std::unique_ptr<ResidentBlock>>;
  Blocks& blocks_of(const CodeUnit& unit) {
    return unit.independent_entry != nullptr ? independent_blocks_ : fiber_blocks_;
  }
  std::unique_ptr<ResidentBlock> make_block(const CodeUnit& unit);
  bool make_ready(uint32_t count, uint32_t warp_count);
  Cluster* new_cluster(uint32_t size);

  CodeGuard* const guard_;
  LaunchRun* launch_ = nullptr;
  Blocks fiber_blocks_, independent_blocks_;  // made so far, by the kernel's mode
  std::vector<ResidentBlock*> idle_, running_;
  std::vector<std::unique_ptr<Cluster>> clusters_;
  std::vector<Cluster*> idle_clusters_;
  uint64_t first_untaken_ = 0, end_untaken_ = 0;  // taken from the range, not yet started
};

}  // namespace km::cpu
