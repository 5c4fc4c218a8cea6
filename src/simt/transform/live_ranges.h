// Live ranges in units of blocks, computed value by value: local values cost no time, and no table
// of all values and blocks is needed.
#pragma once

#include <cstdint>
#include <vector>

#include "simt/kernel/kernel.h"

namespace km::simt {

class LiveRanges {
 public:
  explicit LiveRanges(const Kernel& kernel);

  /// Calls `visit(block)` for each block in which the value is live-in, in any order, until `visit`
  /// returns false; then it returns false. A value that a phi reads is live to the end of the
  /// corresponding predecessor.
  template <class Visit>
  bool for_each_block(ValueId value, Visit visit) {
    const BlockId home = kernel_.values[value].block;
    ++round_;
    auto enter = [&](BlockId block) {
      if (block == home || seen_[block] == round_) return;
      seen_[block] = round_;
      open_.push_back(block);
    };
    for (uint32_t i = first_use_[value]; i < first_use_[value + 1]; ++i) enter(uses_[i]);
    while (!open_.empty()) {
      const BlockId block = open_.back();
      open_.pop_back();
      if (!visit(block)) {
        open_.clear();
        return false;
      }
      for (BlockId pred : kernel_.blocks[block].preds) enter(pred);
    }
    return true;
  }

 private:
  const Kernel& kernel_;
  std::vector<uint32_t> first_use_;  // by value: start of its uses in uses_, with an end marker
  std::vector<BlockId> uses_;        // blocks with uses, other than the value's own
  std::vector<uint32_t> seen_;       // by block: the last query that reached it
  uint32_t round_ = 0;
  std::vector<BlockId> open_;
};

}  // namespace km::simt
