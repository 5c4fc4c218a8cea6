// Partial linearisation (Moll and Hack, PLDI 2018): divergent branches become a sequence of blocks
// that run one after another under masks; uniform branches stay branches.
#pragma once

#include <optional>

#include "simt/analysis/shape.h"
#include "simt/transform/regions.h"

namespace km::simt {

// The pseudo-step at which the packet has finished the region.
constexpr uint32_t kEndOfRegion = UINT32_MAX;

struct Step {
  BlockId block = 0;
  /// The branch is divergent, or other lanes wait elsewhere: control goes to next[0] for either
  /// condition.
  bool linear = false;
  /// The mask may be empty on arrival and the block must not run then, so code tests it and skips
  /// to `skip`.
  bool guard = false;
  uint32_t skip = kEndOfRegion;
  /// The following step for each successor of the block; one entry if linear.
  std::vector<uint32_t> next;
  /// Latch of a divergent loop: control goes back to the header while any lane repeats, then to
  /// next[0].
  uint32_t repeat = kEndOfRegion;

  enum class Mask : uint8_t {
    entry,     // the region's own entry mask
    same,      // the mask of the block `mask_block`
    variable,  // accumulated from incoming edges
  };
  Mask mask = Mask::variable;
  BlockId mask_block = 0;
  /// The first step of the chain of `same` masks; this step if it has its own mask.
  uint32_t mask_step = 0;
  /// The mask has several contributions, so its variable is cleared first and edges are or-ed into
  /// it.
  bool mask_accumulates = false;
  /// The steps whose mask variables are cleared when this step, a loop header, begins an iteration.
  std::vector<uint32_t> clear_masks;
};

struct LinearPlan {
  std::vector<Step> steps;               // steps[0] is the region's entry
  std::vector<uint32_t> step_of;         // by block; kEndOfRegion: not in the region
  std::vector<uint32_t> clear_at_start;  // steps whose masks are cleared when the region begins
  LoopForest loops;                      // loops of the region; nodes are steps
  std::vector<uint8_t> divergent_loop;   // by loop
  /// A barrier that some lanes of the warp skip because they wait elsewhere; kNone if there is
  /// none.
  BlockId barrier_with_waiting_lanes = kNone;
};

/// Linearises a region. `splits_at_barriers`: a barrier ends the region (mode a); otherwise it is
/// an ordinary instruction. Nothing if lanes wait at too many steps at the same time.
std::optional<LinearPlan> linearize(const Kernel& kernel, const Shapes& shapes,
                                    const Region& region, bool splits_at_barriers);

/// Like linearize(), but only the order, for mode c: a block precedes its successors, and the
/// blocks of a loop are contiguous. Steps have only their block.
LinearPlan order_blocks(const Kernel& kernel, const Shapes& shapes, const Region& region);

/// The text of KM_DUMP=masks.
std::string dump(const Kernel& kernel, const LinearPlan& plan);

}  // namespace km::simt
