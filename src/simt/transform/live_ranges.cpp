#include "simt/transform/live_ranges.h"

namespace km::simt {

namespace {

/// Calls `use(value, block)` for each value that is read in a block or at its end.
template <class Use>
void visit_uses(const Kernel& kernel, Use use) {
  for (BlockId b = 0; b < kernel.blocks.size(); ++b) {
    const BasicBlock& block = kernel.blocks[b];
    for (const Phi& phi : block.phis) {
      for (size_t slot = 0; slot < phi.inputs.size(); ++slot)
        use(phi.inputs[slot], block.preds[slot]);
    }
    for (const Inst& inst : block.insts) {
      for (const auto& read : inst.reads) use(read.second, b);
      for (ValueId old : inst.old_values) use(old, b);
      use(inst.guard, b);
    }
    use(block.condition, b);
  }
}

}  // namespace

LiveRanges::LiveRanges(const Kernel& kernel)
    : kernel_(kernel), first_use_(kernel.values.size() + 2), seen_(kernel.blocks.size()) {
  const auto is_elsewhere = [&](ValueId value, BlockId block) {
    return value != kNone && kernel.values[value].block != block;
  };
  visit_uses(kernel, [&](ValueId value, BlockId block) {
    if (is_elsewhere(value, block)) ++first_use_[value + 2];
  });
  for (size_t v = 2; v < first_use_.size(); ++v) first_use_[v] += first_use_[v - 1];
  uses_.resize(first_use_.back());
  visit_uses(kernel, [&](ValueId value, BlockId block) {
    if (is_elsewhere(value, block)) uses_[first_use_[value + 1]++] = block;
  });
}

}  // namespace km::simt
