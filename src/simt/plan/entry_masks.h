// The regions that may be entered with inactive lanes.
#pragma once

#include <cstdint>
#include <vector>

#include "simt/plan/plan.h"

namespace km::simt {

/// For each region, whether its packets need an entry mask. The first one does if the block is not
/// a multiple of the packet size; one after a barrier does if some lanes may not reach the barrier.
class EntryMasks {
 public:
  explicit EntryMasks(const Plan& plan);

  bool is_masked(uint32_t region) const { return masked_[region] != 0; }
  /// True if a region other than the first needs a mask.
  bool is_any_after_barrier() const;
  /// True if a step of a region may run with inactive lanes.
  bool step_is_masked(uint32_t region, uint32_t step) const;
  /// True if the region ends at a barrier that some lanes may not reach.
  bool leads_to_masked(uint32_t region) const;

 private:
  void find_after_barriers();
  bool is_passed_by(uint32_t region, BlockId barrier) const;

  const Plan& plan_;
  std::vector<uint8_t> masked_;  // by region
};

}  // namespace km::simt
