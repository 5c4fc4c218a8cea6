// Edges, which passes values from a basic block to its successors.
#pragma once

#include <vector>

#include "simt/codegen/modes/skip_idle_packets.h"
#include "simt/codegen/values.h"

namespace km::simt {

/// Stores the values that successors of the current basic block read. If other lanes reach a
/// successor by another edge, the stores are blended by the edge's mask, so that they keep those
/// lanes' values.
class Edges : private EmitterBase {
 public:
  Edges(CodeBuilder& builder, const CodePlan& plan, Values& values, SkipIdlePackets& idle)
      : EmitterBase(builder, plan),
        values_(values),
        idle_(idle),
        edge_slots_(kernel_.edge_slots()) {}

  /// Starts a region, whose steps must then be generated in order.
  void begin_region(uint32_t region);
  /// The index of an edge among the predecessors of its target, which selects the inputs of phis.
  uint32_t slot(BlockId block, size_t edge) const { return edge_slots_[block][edge]; }
  /// The lanes that take the branch to the block's first successor, as a vector; it may include
  /// inactive lanes.
  Value* branch_condition(const BasicBlock& block);
  /// Stores the inputs of the successor's phis, for the edge that leaves step `index`.
  void contribute_phis(uint32_t index, size_t slot, Value* edge_mask);
  /// Stores, for each divergent loop that the edge leaves, the values that are read after the loop:
  /// later iterations of other lanes change the values themselves.
  void contribute_loop_values(BlockId successor, Value* edge_mask);

 private:
  BlockId branch_before(uint32_t index) const;
  Value* blend_condition(uint32_t index, BlockId successor, Value* edge_mask);
  bool edge_blends(uint32_t index, BlockId successor) const;

  Values& values_;
  SkipIdlePackets& idle_;
  std::vector<std::vector<uint32_t>> edge_slots_;  // by block and edge, see slot()
  std::vector<uint32_t> first_arrival_;            // by block: the first step that leads to it
};

}  // namespace km::simt
