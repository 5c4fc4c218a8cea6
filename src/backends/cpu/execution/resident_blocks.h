// The blocks that one thread runs in turn (modes b and c): their memory, and the choice of the next
// one to start.
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

/// Owns blocks, which later launches reuse.
class ResidentBlocks {
 public:
  /// `guard` is the thread's; fibers run under it.
  explicit ResidentBlocks(CodeGuard* guard) : guard_(guard) {}

  /// Allocates memory for one block or cluster of the launch, so that at least one can run. Returns
  /// false if there is none.
  bool prepare(const LaunchRun& launch, uint32_t warp_count);
  /// Begins to run blocks of the launch; all blocks are idle. `store` is the thread's.
  void begin(LaunchRun& launch, ReportedStore* store);
  /// Starts the next block or cluster of the launch if this thread has room for it. Blocks start
  /// with `state`; `part` is the part of the range that they come from.
  bool start_next(simt::BlockState& state, uint32_t* part);
  /// Ends the block at this index of running(); later ones move up. Returns true if it or its whole
  /// cluster is over: blocks of a cluster keep their shared memory until all of them are.
  bool finish(size_t index);
  /// Changes the order in which the blocks have their turns.
  void mix(simt::Schedule& schedule);
  /// Drops the suspended warps after a fault.
  void abandon();

  const std::vector<ResidentBlock*>& running() const { return running_; }
  /// True if all blocks that were taken from the range have started.
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
  ReportedStore* store_ = nullptr;
  Blocks fiber_blocks_, independent_blocks_;  // created so far, by the kernel's mode
  std::vector<ResidentBlock*> idle_, running_;
  std::vector<std::unique_ptr<Cluster>> clusters_;
  std::vector<Cluster*> idle_clusters_;
  uint64_t first_untaken_ = 0, end_untaken_ = 0;  // taken from the range, not started yet
};

}  // namespace km::cpu
