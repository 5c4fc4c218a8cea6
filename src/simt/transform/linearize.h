// Partial linearisation (after Moll and Hack, PLDI 2018): branches on which lanes part become a
// line of blocks that run one after another under masks; uniform branches stay branches.
#pragma once

#include <optional>

#include "simt/analysis/shape.h"
#include "simt/transform/regions.h"

namespace km::simt {

constexpr uint32_t kEndOfRegion = UINT32_MAX;  // as a step: this packet has finished the region

struct Step {
  BlockId block = 0;
  /// Lanes part here, or lanes wait elsewhere: control goes to next[0] whatever the condition.
  bool linear = false;
  /// The mask may be empty on arrival and the block must not run then: test, or go to `skip`.
  bool guard = false;
  uint32_t skip = kEndOfRegion;
  /// Step that follows, by successor slot of the block; one entry when linear.
  std::vector<uint32_t> next;
  /// Latch of a divergent loop: back to the header while any lane goes round, then next[0].
  uint32_t repeat = kEndOfRegion;

  enum class Mask : uint8_t {
    entry,     // the region's own entry mask
    same,      // that of the block `mask_block`
    variable,  // gathered from incoming edges
  };
  Mask mask = Mask::variable;
  BlockId mask_block = 0;
  /// The step at which the chain of `same` masks begins: this one when the mask is its own.
  uint32_t mask_step = 0;
  /// More than one contribution: the variable starts at zero and edges are or-ed into it.
  bool mask_accumulates = false;
  /// Steps whose mask variables start at zero when this step (a loop header) begins an iteration.
  std::vector<uint32_t> clear_masks;
};

struct LinearPlan {
  std::vector<Step> steps;               // steps[0] is the region's entry
  std::vector<uint32_t> step_of;         // by block, kEndOfRegion: not in the region
  std::vector<uint32_t> clear_at_start;  // steps whose masks start at zero with the region
  LoopForest loops;                      // of the region, by step
  std::vector<uint8_t> divergent_loop;   // by loop
  /// A barrier that some lanes of the warp pass by while they wait elsewhere; kNone: none.
  BlockId barrier_with_waiting_lanes = kNone;
};

/// `splits_at_barriers`: a barrier ends the region (mode a); otherwise it is an instruction like
/// others. Nothing: lanes wait at too many steps at the same time.
std::optional<LinearPlan> linearize(const Kernel& kernel, const Shapes& shapes,
                                    const Region& region, bool splits_at_barriers);

/// Only the order of linearize(), for mode c: a block comes before those it leads to, the blocks
/// of a loop lie together. Steps have a block and nothing else.
LinearPlan order_blocks(const Kernel& kernel, const Shapes& shapes, const Region& region);

/// The text KM_DUMP=masks prints.
std::string dump(const Kernel& kernel, const LinearPlan& plan);

}  // namespace km::simt
