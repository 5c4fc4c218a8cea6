#include "simt/plan/values/value_lifetimes.h"

#include <algorithm>

#include "base/assert.h"

namespace km::simt {

bool diverges_at_end(const Plan& plan, const BasicBlock& block) {
  return block.terminator == Terminator::branch &&
         plan.shapes->values[block.condition].is_varying();
}

ValueLifetimes::ValueLifetimes(const Plan& plan, const AddressPlans& addresses)
    : cross_block_(plan.kernel->values.size()), loop_values_(plan.shapes->loops.loops.size()) {
  for (BlockId b = 0; b < plan.kernel->blocks.size(); ++b) note_block(plan, addresses, b);
  for (size_t r = 0; r < plan.regions.list.size(); ++r) {
    for (ValueId value : plan.regions.live_in[r]) {
      cross_block_[value] = 1;
      note(plan, value, plan.regions.list[r].entry);
    }
  }
  for (auto& list : loop_values_) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  if (plan.has_independent_threads()) note_independent_threads(plan);
}

/// Records that `value` is read in block `at`.
void ValueLifetimes::note(const Plan& plan, ValueId value, BlockId at) {
  const Kernel& kernel = *plan.kernel;
  const Shapes& shapes = *plan.shapes;
  if (value == kNone || kernel.values[value].block == kNone) return;
  const BlockId home = kernel.values[value].block;
  if (home != at || is_rematerialised(kernel, value)) cross_block_[value] = 1;
  if (shapes.loop_left(kernel, value, at) == UINT32_MAX) return;
  for (uint32_t l = shapes.loops.innermost[home]; l != UINT32_MAX;
       l = shapes.loops.loops[l].parent) {
    if (shapes.divergent_loop[l] && !shapes.loops.contains(l, at)) loop_values_[l].push_back(value);
  }
}

void ValueLifetimes::note_block(const Plan& plan, const AddressPlans& addresses, BlockId b) {
  const BasicBlock& block = plan.kernel->blocks[b];
  for (const Phi& phi : block.phis) {
    cross_block_[phi.result] = 1;
    KM_ASSERT(phi.inputs.size() == block.preds.size(), "a phi has an input for each predecessor");
    for (size_t i = 0; i < phi.inputs.size(); ++i) note(plan, phi.inputs[i], block.preds[i]);
  }
  for (const Inst& inst : block.insts) {
    for (const auto& read : inst.reads) note(plan, read.second, b);
    for (ValueId read : addresses.reads(inst)) note(plan, read, b);
    for (ValueId old : inst.old_values) note(plan, old, b);
    note(plan, inst.guard, b);
    note_speculative(plan, inst);
  }
  note(plan, block.condition, b);
  // The code that blends values after the branch reads its condition.
  if (!plan.machine().has_mask_registers() && diverges_at_end(plan, block)) {
    cross_block_[block.condition] = 1;
  }
}

/// The operands of a speculative value may be read wherever that value is read.
void ValueLifetimes::note_speculative(const Plan& plan, const Inst& inst) {
  const bool speculative =
      std::any_of(inst.writes.begin(), inst.writes.end(),
                  [&](const auto& write) { return plan.shapes->values[write.second].speculative; });
  if (!speculative) return;
  for (const auto& read : inst.reads) cross_block_[read.second] = 1;
}

/// In mode c other lanes may run between the beginning of a block and its end.
void ValueLifetimes::note_independent_threads(const Plan& plan) {
  for (const BasicBlock& block : plan.kernel->blocks) {
    for (const Phi& phi : block.phis) cross_block_[phi.result] = 1;
    if (block.terminator != Terminator::warp_sync && block.terminator != Terminator::barrier)
      continue;
    for (const auto& read : block.insts.back().reads) cross_block_[read.second] = 1;
  }
}

}  // namespace km::simt
