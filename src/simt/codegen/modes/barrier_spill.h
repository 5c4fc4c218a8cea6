// BarrierSpill, which keeps values from one barrier region to another.
#pragma once

#include <map>

#include "simt/codegen/modes/edges.h"

namespace km::simt {

class Lowering;

/// Stores values at barriers and loads them in the regions that read them. Values that differ
/// between packets go to spill slots in each packet's part of scratch memory; block-uniform values
/// go to variables, which LLVM can keep in registers.
class BarrierSpill : private EmitterBase {
 public:
  BarrierSpill(CodeBuilder& builder, const CodePlan& plan, LaunchFrame& frame, Values& values,
               Lowering& lowering, Edges& edges)
      : EmitterBase(builder, plan),
        frame_(frame),
        values_(values),
        lowering_(lowering),
        edges_(edges) {}

  /// Creates the variables of block-uniform values, and the sums of bar.red.
  void create_variables();
  /// Generates the start of a region for the whole block, before the loop over packets.
  void begin_region(uint32_t region);
  /// Marks the point in a packet's code at which load_needed() will insert loads, and recomputes
  /// cheap values, which have no spill slots.
  void load(uint32_t region);
  /// Inserts the loads. It is called after the region's code has been generated, which shows the
  /// values that are really used.
  void load_needed(uint32_t region);
  /// Adds the number of lanes whose predicate counts for a bar.red to the block's sum.
  void add_to_sum(const Inst& barrier);
  /// Stores the values that `region` may have changed and the region after `barrier` needs.
  void save(uint32_t region, BlockId barrier);
  /// Makes the block-uniform values that the region defined visible to later regions. It follows
  /// the last packet, because until then packets still read the old values.
  void commit(uint32_t region);

 private:
  /// The variables of a kept value, and the type of its slot.
  struct SpillVariables {
    // Only block-uniform values have variables: `in` holds the content with which a region begins,
    // `out` the one that its packets leave.
    llvm::AllocaInst *in = nullptr, *out = nullptr;
    llvm::Type* type = nullptr;
  };

  llvm::Type* spill_type(const SpillKey& key, const SpillSlot& slot);
  void load_value(ValueId value, uint32_t loop);
  void rematerialise(uint32_t region);
  void make_again(const Inst& inst, ValueId value, BlockId entry);

  LaunchFrame& frame_;
  Values& values_;
  Lowering& lowering_;
  Edges& edges_;
  std::map<SpillKey, SpillVariables> spill_variables_;
  std::map<ValueId, llvm::AllocaInst*> barrier_sums_;  // by result of bar.red
  llvm::Instruction* context_point_ = nullptr;         // insertion point of load_needed()
};

}  // namespace km::simt
