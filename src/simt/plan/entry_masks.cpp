#include "simt/plan/entry_masks.h"

#include <algorithm>
#include <optional>

#include "base/assert.h"
#include "simt/analysis/reach.h"

namespace km::simt {

EntryMasks::EntryMasks(const Plan& plan) : plan_(plan) {
  const uint64_t threads = plan_.variant.threads();
  masked_.assign(plan_.regions.list.size(), 0);
  KM_ASSERT(!masked_.empty() && plan_.linear.size() == masked_.size(),
            "a kernel has a region, and each region its order of steps");
  masked_[0] = threads == 0 || threads % plan_.lanes != 0;
  if (plan_.splits_at_barriers) find_after_barriers();
}

void EntryMasks::find_after_barriers() {
  struct Way {
    uint32_t region, step, next;
    BlockId barrier;
    std::optional<bool> is_passed_by = {};
  };
  std::vector<Way> ways;  // paths from region to region
  for (uint32_t r = 0; r < plan_.regions.list.size(); ++r) {
    for (uint32_t s = 0; s < plan_.linear[r].steps.size(); ++s) {
      const BlockId b = plan_.linear[r].steps[s].block;
      if (plan_.kernel->blocks[b].terminator != Terminator::barrier) continue;
      ways.push_back({r, s, plan_.regions.after_barrier[b], b});
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (Way& way : ways) {
      auto& flag = masked_[way.next];
      if (flag != 0) continue;
      if (!step_is_masked(way.region, way.step)) {
        if (!way.is_passed_by) way.is_passed_by = is_passed_by(way.region, way.barrier);
        if (!*way.is_passed_by) continue;
      }
      flag = 1;
      changed = true;
    }
  }
}

bool EntryMasks::is_any_after_barrier() const {
  return std::find(masked_.begin() + 1, masked_.end(), 1) != masked_.end();
}

bool EntryMasks::step_is_masked(uint32_t region, uint32_t step) const {
  const auto& steps = plan_.linear[region].steps;
  const Step& source = steps[steps[step].mask_step];
  KM_ASSERT(source.mask != Step::Mask::same, "a chain of shared masks begins with one of its own");
  return source.mask != Step::Mask::entry || masked_[region] != 0;
}

/// True if warps diverge at a branch to elsewhere in the region. These warps must be exiting, since
/// others wait at this barrier.
bool EntryMasks::is_passed_by(uint32_t region, BlockId barrier) const {
  const auto& blocks = plan_.regions.list[region].blocks;
  const auto diverges = [&](BlockId b) {
    return plan_.shapes->warp_branch[b] != 0 && b != barrier;
  };
  if (std::none_of(blocks.begin(), blocks.end(), diverges)) return false;
  // Blocks from which the barrier is reached, by index in `blocks`.
  const auto place = [&](BlockId b) {
    const auto found = std::lower_bound(blocks.begin(), blocks.end(), b);
    return static_cast<size_t>(found - blocks.begin());
  };
  BlockSet leading(blocks.size());
  std::vector<BlockId> open{barrier};
  leading[place(barrier)] = 1;
  while (!open.empty()) {
    const BlockId b = open.back();
    open.pop_back();
    for (BlockId pred : plan_.kernel->blocks[b].preds) {
      const size_t at = place(pred);
      const bool is_inside = at < blocks.size() && blocks[at] == pred;
      if (!is_inside || leading[at] || plan_.kernel->blocks[pred].terminator == Terminator::barrier)
        continue;
      leading[at] = 1;
      open.push_back(pred);
    }
  }
  const auto leads = [&](BlockId b) {
    const size_t at = place(b);
    return at < blocks.size() && blocks[at] == b && leading[at] != 0;
  };
  return std::any_of(blocks.begin(), blocks.end(), [&](BlockId b) {
    const auto& succs = plan_.kernel->blocks[b].succs;
    return diverges(b) && leads(b) &&
           std::any_of(succs.begin(), succs.end(), [&](BlockId succ) { return !leads(succ); });
  });
}

bool EntryMasks::leads_to_masked(uint32_t region) const {
  const auto& steps = plan_.linear[region].steps;
  return std::any_of(steps.begin(), steps.end(), [&](const Step& step) {
    const bool barrier = plan_.splits_at_barriers &&
                         plan_.kernel->blocks[step.block].terminator == Terminator::barrier;
    return barrier && masked_[plan_.regions.after_barrier[step.block]] != 0;
  });
}

}  // namespace km::simt
