// The regions that may begin with lanes missing.
#pragma once

#include <cstdint>
#include <vector>

#include "simt/plan/plan.h"

namespace km::simt {

/// For each region: must its packets begin under a mask. The first one must if the block has no
/// whole number of packets; one after a barrier must if some lanes may not reach the barrier.
class EntryMasks {
 public:
  explicit EntryMasks(const Plan& plan);

  bool is_masked(uint32_t region) const { return masked_[region] != 0; }
  /// True if a region other than the first is masked.
  bool is_any_after_barrier() const;
  /// True if the step of a region may run with lanes missing.
  bool step_is_masked(uint32_t region, uint32_t step) const;
  /// True if a barrier that not all lanes need reach ends the region.
  bool leads_to_masked(uint32_t region) const;

 private:
  void find_after_barriers();
  bool is_passed_by(uint32_t region, BlockId barrier) const;

  const Plan& plan_;
  std::vector<uint8_t> masked_;  // by region
};

}  // namespace km::simt
