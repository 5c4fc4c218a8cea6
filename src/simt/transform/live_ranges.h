// Blocks in which values are live, found value by value: one that lives in one block takes no time,
// and nobody needs a table of all values and blocks.
#pragma once

#include <cstdint>
#include <vector>

#include "simt/kernel.h"

namespace km::simt {

class LiveRanges {
 public:
  explicit LiveRanges(const Kernel& kernel);

  /// Calls `visit(block)` for each block at whose beginning the value is live, in any order, until
  /// that gives false. A value that a phi reads is live to the end of the predecessor it comes
  /// from. False: `visit` gave that.
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
  std::vector<uint32_t> first_use_;  // by value, and one more: where its uses_ begin
  std::vector<BlockId> uses_;        // in other blocks than the value's own
  std::vector<uint32_t> seen_;       // by block: the round that came to it last
  uint32_t round_ = 0;
  std::vector<BlockId> open_;
};

}  // namespace km::simt
