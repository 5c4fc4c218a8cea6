#include "simt/codegen/modes/edges.h"

#include <algorithm>

#include "base/assert.h"

namespace km::simt {

void Edges::begin_region(uint32_t region) {
  const LinearPlan& plan = plan_.linear[region];
  first_arrival_.resize(kernel_.blocks.size());
  for (const Step& step : plan.steps) {
    uint32_t& first = first_arrival_[step.block] = kEndOfRegion;
    for (BlockId pred : kernel_.blocks[step.block].preds)
      first = std::min(first, plan.step_of[pred]);
  }
}

void Edges::contribute_phis(uint32_t index, size_t slot, Value* edge_mask) {
  const BasicBlock& block = kernel_.blocks[position_.block];
  const BasicBlock& successor = kernel_.blocks[block.succs[slot]];
  const uint32_t pred = edge_slots_[position_.block][slot];
  const bool blend = edge_mask != nullptr && edge_blends(index, block.succs[slot]);
  if (blend && !successor.phis.empty()) {
    edge_mask = blend_condition(index, block.succs[slot], edge_mask);
  }
  std::vector<Value*> contents;
  for (const Phi& phi : successor.phis) {
    KM_ASSERT(pred < phi.inputs.size() && phi.inputs.size() == successor.preds.size(),
              "a phi has one input per predecessor");
    const ValueId input = phi.inputs[pred];
    const bool lanes = plan_.shapes->values[phi.result].is_varying();
    Value* content = lanes ? values_.vector(input) : values_.scalar(input);
    if (code_plan_.nans.is_mixed(phi.result)) content = values_.canonical(input, content);
    contents.push_back(content);
  }
  for (size_t p = 0; p < contents.size(); ++p) {
    const ValueId result = successor.phis[p].result;
    const Values::Place target = values_.value_variable(result);
    Value* content = contents[p];
    const bool is_mask =
        target.type == builder_.mask_storage() && kernel_.values[result].type == ptx::Type::pred;
    if (is_mask && !machine().has_mask_registers())
      content = b_.CreateSExt(content, builder_.mask_storage());
    if (blend && content->getType()->isVectorTy()) {
      Value* old = b_.CreateLoad(target.type, target.pointer);
      content = b_.CreateSelect(edge_mask, content, old);
    }
    KM_ASSERT(content->getType() == target.type, "a phi's variable has the type of its inputs");
    b_.CreateStore(content, target.pointer);
    builder_.values().erase(result);
    builder_.vectors().erase(result);
  }
}

void Edges::contribute_loop_values(BlockId successor, Value* edge_mask) {
  const auto& loops = plan_.shapes->loops;
  const BlockId home = position_.block;
  for (uint32_t l = loops.innermost[home]; l != UINT32_MAX; l = loops.loops[l].parent) {
    if (!plan_.shapes->divergent_loop[l] || loops.contains(l, successor)) continue;
    for (ValueId value : code_plan_.lifetimes.left_by_loop(l)) {
      if (!plan_.shapes->dominators.dominates(kernel_.values[value].block, home)) continue;
      values_.store_loop_value(value, l, edge_mask);
    }
  }
}

/// True if a store for this edge must keep the values of lanes that came by another edge.
bool Edges::edge_blends(uint32_t index, BlockId successor) const {
  if (plan_.has_independent_threads()) return true;
  const LinearPlan& plan = plan_.linear[position_.region];
  const uint32_t target = plan.step_of[successor];
  // Back edge: no phi of lanes outside the mask is read again.
  if (target == kEndOfRegion || target <= index) return false;
  const auto& loops = plan_.shapes->loops;
  for (uint32_t l = loops.innermost[position_.block]; l != UINT32_MAX; l = loops.loops[l].parent) {
    if (plan_.shapes->divergent_loop[l] && !loops.contains(l, successor)) return true;
  }
  return plan_.shapes->divergent_join[successor] != 0 && first_arrival_[successor] < index;
}

/// The basic block whose branch alone decides the mask of a step, or kNone.
BlockId Edges::branch_before(uint32_t index) const {
  const auto& steps = plan_.linear[position_.region].steps;
  const BasicBlock& first = kernel_.blocks[steps[steps[index].mask_step].block];
  if (first.preds.size() != 1) return kNone;
  return kernel_.blocks[first.preds[0]].terminator == Terminator::branch ? first.preds[0] : kNone;
}

/// The condition by which stores for an edge are blended. If only the two sides of one branch meet
/// at the successor, the branch's condition is enough, because the other lanes hold no values yet.
/// On machines without mask registers this saves converting the edge's mask to a vector; with mask
/// registers it would save nothing.
llvm::Value* Edges::blend_condition(uint32_t index, BlockId successor, Value* edge_mask) {
  const LinearPlan& plan = plan_.linear[position_.region];
  const auto& innermost = plan_.shapes->loops.innermost;
  const BlockId divergent = plan_.has_independent_threads() || machine().has_mask_registers()
                                ? kNone
                                : branch_before(index);
  if (divergent == kNone || kernel_.blocks[position_.block].terminator != Terminator::jump)
    return edge_mask;
  if (!diverges_at_end(plan_, kernel_.blocks[divergent])) return edge_mask;
  if (plan.step_of[divergent] == kEndOfRegion || plan.step_of[divergent] >= index) return edge_mask;
  for (BlockId block : {divergent, successor}) {
    if (innermost[block] != innermost[position_.block]) return edge_mask;
  }
  for (BlockId pred : kernel_.blocks[successor].preds) {
    const uint32_t step = plan.step_of[pred];
    if (step == kEndOfRegion || step >= index || pred == divergent) continue;
    if (kernel_.blocks[pred].terminator != Terminator::jump || branch_before(step) != divergent)
      return edge_mask;
  }
  const BlockId arm = plan.steps[plan.steps[index].mask_step].block;
  Value* condition = branch_condition(kernel_.blocks[divergent]);
  return kernel_.blocks[divergent].succs[0] == arm ? condition : b_.CreateNot(condition);
}

llvm::Value* Edges::branch_condition(const BasicBlock& block) {
  if (llvm::Constant* known =
          idle_.working_lanes(static_cast<BlockId>(&block - kernel_.blocks.data()))) {
    return idle_.workers()->slot == 0 ? known : b_.CreateNot(known);
  }
  Value* condition = values_.shape_of(block.condition).is_varying()
                         ? values_.vector(block.condition)
                         : splat(values_.scalar(block.condition));
  return block.condition_negated ? b_.CreateNot(condition) : condition;
}

}  // namespace km::simt
