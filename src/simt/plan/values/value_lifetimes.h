// The values that outlive the basic block or the divergent loop of their definition.
#pragma once

#include <cstdint>
#include <vector>

#include "simt/plan/memory/address_plans.h"

namespace km::simt {

/// True if the block ends in a divergent branch.
bool diverges_at_end(const Plan& plan, const BasicBlock& block);

/// For each value: whether code elsewhere reads it, so that it needs a variable.
class ValueLifetimes {
 public:
  ValueLifetimes(const Plan& plan, const AddressPlans& addresses);

  /// True if a basic block other than the value's own may read it.
  bool is_cross_block(ValueId value) const { return cross_block_[value] != 0; }
  /// The values of a divergent loop that are read after the loop, in ascending order.
  const std::vector<ValueId>& left_by_loop(uint32_t loop) const { return loop_values_[loop]; }

 private:
  void note(const Plan& plan, ValueId value, BlockId at);
  void note_block(const Plan& plan, const AddressPlans& addresses, BlockId block);
  void note_speculative(const Plan& plan, const Inst& inst);
  void note_independent_threads(const Plan& plan);

  std::vector<uint8_t> cross_block_;               // by value
  std::vector<std::vector<ValueId>> loop_values_;  // by loop
};

}  // namespace km::simt
