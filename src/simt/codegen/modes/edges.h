// Edges: the values that a block leaves to its successors.
#pragma once

#include <vector>

#include "simt/codegen/modes/skip_idle_packets.h"
#include "simt/codegen/values.h"

namespace km::simt {

/// Stores what successors of the current block read: for the lanes of an edge only, if others came
/// another way.
class Edges : public Room {
 public:
  Edges(CodeBuilder& builder, const CodePlan& plan, Values& values, SkipIdlePackets& idle)
      : Room(builder, plan), values_(values), idle_(idle), edge_slots_(kernel_.edge_slots()) {}

  /// Begins a region, whose steps are made in order.
  void begin_region(uint32_t region);
  /// The place of an edge among the predecessors of its end.
  uint32_t slot(BlockId block, size_t edge) const { return edge_slots_[block][edge]; }
  /// The lanes that go to the block's first successor, as far as they are there.
  Value* branch_condition(const BasicBlock& block);
  /// Stores the inputs of the successor's phis. `index`: the step that the edge leaves.
  void contribute_phis(uint32_t index, size_t slot, Value* edge_mask);
  /// Lanes that leave a divergent loop take the values of this iteration with them.
  void contribute_loop_values(BlockId successor, Value* edge_mask);

 private:
  BlockId branch_before(uint32_t index) const;
  Value* blend_condition(uint32_t index, BlockId successor, Value* edge_mask);
  bool edge_blends(uint32_t index, BlockId successor) const;

  Values& values_;
  SkipIdlePackets& idle_;
  std::vector<std::vector<uint32_t>> edge_slots_;  // Kernel::edge_slots()
  std::vector<uint32_t> first_arrival_;            // by block: the first step that leads to it
};

}  // namespace km::simt
