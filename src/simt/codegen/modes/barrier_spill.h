// Values that are kept from one barrier region for another.
#pragma once

#include <map>

#include "simt/codegen/modes/edges.h"

namespace km::simt {

class Lowering;

/// Stores values at barriers in the packet's context, or in variables if they are the same for the
/// whole block, and loads them where a region turns out to need them.
class BarrierSpill : public Room {
 public:
  BarrierSpill(CodeBuilder& builder, const CodePlan& plan, LaunchFrame& frame, Values& values,
               Lowering& lowering, Edges& edges)
      : Room(builder, plan), frame_(frame), values_(values), lowering_(lowering), edges_(edges) {}

  /// Creates the variables of block-uniform values and of bar.red.
  void create_variables();
  /// Makes the code that a block begins a region with, before its packets.
  void begin_region(uint32_t region);
  /// Marks the place in a packet's code for the loads of what earlier regions left, and makes cheap
  /// values again.
  void load(uint32_t region);
  /// Makes the loads that the region needs, once all its code has been made.
  void load_needed(uint32_t region);
  /// Counts the lanes of the barrier's predicate.
  void add_to_sum(const Inst& barrier);
  /// Stores at the barrier that ends the block `barrier` what `region` leaves to the next one.
  void save(uint32_t region, BlockId barrier);
  /// Takes over what the region's packets have left of block-uniform values, after the last one.
  void commit(uint32_t region);

 private:
  struct SpillVariables {
    llvm::AllocaInst *in = nullptr, *out = nullptr;  // block-uniform
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
  std::map<ValueId, llvm::AllocaInst*> barrier_sums_;  // results of bar.red
  llvm::Instruction* context_point_ = nullptr;         // the place for load_needed()
};

}  // namespace km::simt
