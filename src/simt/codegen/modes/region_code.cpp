#include "simt/codegen/modes/region_code.h"

#include <algorithm>

#include "base/assert.h"
#include "simt/codegen/lower/barriers.h"

namespace km::simt {

RegionCode::RegionCode(Generator& g)
    : EmitterBase(g.builder, g.plan),
      frame_(g.frame),
      values_(g.values),
      lowering_(g.lowering),
      limit_(g.limit),
      idle_(g.builder, g.plan, g.frame),
      masks_(g.builder, g.plan, g.frame, idle_),
      edges_(g.builder, g.plan, g.values, idle_),
      spill_(g.builder, g.plan, g.frame, g.values, g.lowering, edges_),
      index_tests_(g.builder, g.plan, g.values) {
  lowering_.calls().set_leave([this] { b_.CreateBr(packet_end_); });
}

void RegionCode::create_variables() {
  masks_.create_entry_mask();
  spill_.create_variables();
}

void RegionCode::begin_packet(uint32_t region, Value* index) {
  KM_ASSERT(region == 0 || plan_.splits_at_barriers,
            "only kernels that are split at barriers have several regions");
  builder_.set_location(nullptr);
  position_.region = region;
  position_.block = plan_.regions.list[region].entry;
  builder_.forget_values();
  Value* first = b_.CreateMul(index, i32(lanes_));
  b_.CreateStore(first, frame_.first_thread());
  if (plan_.mode == Mode::run_to_completion && !code_plan_.tiling.is_interleaved(region)) {
    Value* slot =
        b_.CreateConstGEP1_64(b_.getInt8Ty(), frame_.state(), offsetof(BlockState, first_thread));
    builder_.in_context(b_.CreateStore(first, slot));
  }
  const bool keeps = plan_.mode == Mode::run_to_completion;
  const uint64_t own_bytes = keeps ? plan_.layout->local_packet_bytes(lanes_) : 0;
  Value* wide = b_.CreateZExt(index, b_.getInt64Ty());
  frame_.set_local_base(
      b_.CreateAdd(b_.CreateAdd(frame_.scratch(), i64(frame_.local_offset_bytes())),
                   b_.CreateMul(wide, i64(own_bytes))));
  if (code_plan_.masks.is_masked(region)) {
    if (region == 0) {
      Value* threads_here = b_.CreateAdd(splat(first), builder_.lane_numbers());
      masks_.store_entry_mask(b_.CreateICmpULT(threads_here, splat(frame_.block_threads())));
    } else {
      Value* slot = frame_.packet_slot(index, *code_plan_.spills.live_offset_bytes());
      Value* bits = b_.CreateLoad(b_.getInt32Ty(), slot);
      Value* narrow = b_.CreateTrunc(bits, b_.getIntNTy(lanes_));
      masks_.store_entry_mask(b_.CreateBitCast(narrow, vector_of(b_.getInt1Ty())));
    }
  }
  if (region != 0) spill_.load(region);
}

/// The first basic block of a step, or the end of the packet.
llvm::BasicBlock* RegionCode::target_of(uint32_t step) {
  KM_ASSERT(step == kEndOfRegion || step < heads_.size(), "the next step is in the same region");
  return step == kEndOfRegion ? packet_end_ : heads_[step];
}

void RegionCode::emit_steps(uint32_t region, llvm::BasicBlock* packet_end) {
  const LinearPlan& plan = plan_.linear[region];
  KM_ASSERT(!plan.steps.empty() && copies_for_all_.empty(),
            "a region has steps, and all copies of the last region were generated");
  packet_end_ = packet_end;
  heads_.clear();
  bodies_.clear();
  edges_.begin_region(region);
  masks_.begin_region(region);
  for (const Step& step : plan.steps) {
    bodies_.push_back(builder_.new_block("step"));
    heads_.push_back(step.guard ? builder_.new_block("guard") : bodies_.back());
  }
  masks_.begin_packet(region, packet_end);
  b_.CreateBr(heads_[0]);
  for (uint32_t i = 0; i < plan.steps.size() && !limit_.is_ended(); ++i) emit_step(i);
  emit_copies_for_all();
}

/// Generates one step. If the plan gives it a guard, code first tests the mask and skips the step
/// if no lane is active.
void RegionCode::emit_step(uint32_t index) {
  const LinearPlan& plan = plan_.linear[position_.region];
  const Step& step = plan.steps[index];
  KM_ASSERT(bodies_[index]->getTerminator() == nullptr,
            "the code of a step is generated only once");
  position_.block = step.block;
  lowering_.begin_block();
  const BasicBlock& block = kernel_.blocks[position_.block];
  if (heads_[index] != bodies_[index]) {
    b_.SetInsertPoint(heads_[index]);
    builder_.set_location(block.insts.empty() ? block.terminator_ptx : block.insts[0].ptx);
    const bool is_rest_idle_too = idle_.is_rest_idle(index);
    auto* skip = is_rest_idle_too ? builder_.new_block("idle") : target_of(step.skip);
    b_.CreateCondBr(builder_.any(masks_.load(index)), bodies_[index], skip);
    if (is_rest_idle_too) {
      b_.SetInsertPoint(skip);
      idle_.end_packets();
      b_.CreateBr(target_of(step.skip));
    }
  }
  b_.SetInsertPoint(bodies_[index]);
  builder_.set_location(block.insts.empty() ? block.terminator_ptx : block.insts[0].ptx);
  for (uint32_t cleared : step.clear_masks) masks_.clear(cleared);
  builder_.set_mask(masks_.load(index));
  for (const Inst& inst : block.insts) {
    builder_.set_location(inst.ptx);
    bool last = &inst == &block.insts.back();
    if (last && block.terminator == Terminator::barrier) continue;  // left to emit_end()
    lowering_.lower(inst);
  }
  if (block.terminator_ptx != nullptr) builder_.set_location(block.terminator_ptx);
  count_step(index);
  emit_end(index);
  KM_ASSERT(b_.GetInsertBlock()->getTerminator() != nullptr,
            "the basic block at the end of a step has a terminator");
  limit_.count(*bodies_[index]);
}

/// Counts the execution of a step for a profile.
void RegionCode::count_step(uint32_t index) {
  AccessCounts& counts = lowering_.reports().counts();
  if (!counts.is_used()) return;
  const bool may_part = plan_.linear[position_.region].steps[index].linear;
  const BasicBlock& block = kernel_.blocks[position_.block];
  Value* condition = nullptr;
  if (may_part && block.terminator == Terminator::branch) {
    condition = edges_.branch_condition(block);
  } else if (may_part && block.terminator == Terminator::table) {
    condition = values_.vector(block.condition);
  }
  counts.count_block(block, condition);
}

/// Generates the terminator of a step.
void RegionCode::emit_end(uint32_t index) {
  const Step& step = plan_.linear[position_.region].steps[index];
  const BasicBlock& block = kernel_.blocks[position_.block];
  if (block.terminator == Terminator::barrier) return emit_barrier_end(index);
  if (block.terminator == Terminator::exit) {
    b_.CreateBr(target_of(step.next[0]));
    return;
  }
  if (step.linear) return emit_linear_end(index);
  emit_uniform_end(index);
}

/// Generates a uniform branch as a branch: all active lanes take the same edge.
void RegionCode::emit_uniform_end(uint32_t index) {
  const Step& step = plan_.linear[position_.region].steps[index];
  const BasicBlock& block = kernel_.blocks[position_.block];
  KM_ASSERT(step.next.size() == block.succs.size(),
            "each successor of a basic block has a next step");
  if (block.terminator == Terminator::jump) {
    contribute(index, 0, mask());
    if (plan_.is_waiting_edge(position_.region, position_.block, block.succs[0])) frame_.yield();
    b_.CreateBr(target_of(step.next[0]));
    return;
  }
  Value* condition = values_.scalar(block.condition);
  if (const auto* known = idle_.working_lanes(position_.block); known && known->isAllOnesValue()) {
    condition = b_.getInt1((idle_.workers()->slot == 0) != block.condition_negated);
  }
  std::vector<llvm::BasicBlock*> edges;
  for (size_t slot = 0; slot < block.succs.size(); ++slot)
    edges.push_back(builder_.new_block("edge"));
  if (block.terminator == Terminator::branch) {
    if (block.condition_negated) condition = b_.CreateNot(condition);
    b_.CreateCondBr(condition, edges[0], edges[1]);
  } else {
    auto* table = b_.CreateSwitch(condition, edges.back());
    for (size_t slot = 0; slot + 1 < edges.size(); ++slot) {
      auto* key = llvm::ConstantInt::get(condition->getType(), slot);
      table->addCase(llvm::cast<llvm::ConstantInt>(key), edges[slot]);
    }
  }
  for (size_t slot = 0; slot < edges.size(); ++slot) {
    b_.SetInsertPoint(edges[slot]);
    const ValueCache::Scope values(builder_.values()), vectors(builder_.vectors());
    contribute(index, slot, mask());
    const bool is_branch =
        block.terminator == Terminator::branch && plan_.shapes->warp_branch[position_.block] != 0;
    if (is_branch &&
        idle_.is_rest_idle(plan_.linear[position_.region].step_of[block.succs[1 - slot]])) {
      idle_.end_packets();
    }
    if (plan_.is_waiting_edge(position_.region, position_.block, block.succs[slot])) frame_.yield();
    b_.CreateBr(target_of(step.next[slot]));
  }
}

/// Generates a divergent branch as straight code: masks of the edges select the lanes of the
/// following steps.
void RegionCode::emit_linear_end(uint32_t index) {
  const LinearPlan& plan = plan_.linear[position_.region];
  const Step& step = plan.steps[index];
  const BasicBlock& block = kernel_.blocks[position_.block];
  std::vector<Value*> edge_masks;
  if (block.terminator == Terminator::jump) edge_masks.push_back(mask());
  if (block.terminator == Terminator::branch) {
    Value* condition = edges_.branch_condition(block);
    edge_masks = {builder_.and_masks(mask(), condition),
                  builder_.and_masks(mask(), b_.CreateNot(condition))};
  }
  if (block.terminator == Terminator::table) {
    Value* condition = values_.vector(block.condition);
    for (size_t slot = 0; slot < block.succs.size(); ++slot) {
      Value* number = llvm::ConstantInt::get(condition->getType()->getScalarType(), slot);
      bool last = slot + 1 == block.succs.size();
      Value* here = last ? b_.CreateICmpUGE(condition, splat(number))
                         : b_.CreateICmpEQ(condition, splat(number));
      edge_masks.push_back(builder_.and_masks(mask(), here));
    }
  }
  KM_ASSERT(edge_masks.size() == block.succs.size(),
            "each successor of a basic block has an edge mask");
  // The back edge comes last because it overwrites the header's phis, which the edges out of the
  // loop still read.
  Value* repeat_mask = nullptr;
  std::optional<size_t> back;
  for (size_t slot = 0; slot < edge_masks.size(); ++slot) {
    if (plan.step_of[block.succs[slot]] <= index) {
      back = slot;
    } else {
      contribute(index, slot, edge_masks[slot]);
    }
  }
  if (back) {
    contribute(index, *back, edge_masks[*back]);
    repeat_mask = edge_masks[*back];
  }
  if (step.repeat == kEndOfRegion) return go_to_next(index, edge_masks);
  KM_ASSERT(back && step.repeat <= index, "the latch of a divergent loop has a back edge");
  llvm::BasicBlock* again = bodies_[step.repeat];
  llvm::BasicBlock* waits =
      plan_.is_waiting_edge(position_.region, position_.block, block.succs[*back])
          ? builder_.new_block("wait")
          : again;
  b_.CreateCondBr(builder_.any(repeat_mask), waits, target_of(step.next[0]));
  if (waits == again) return;
  b_.SetInsertPoint(waits);
  frame_.yield();
  b_.CreateBr(again);
}

// ---- Copies of steps after a branch like `if (i < n)`, which run without masks if all lanes take
// the branch. Most packets do, and unmasked memory accesses are faster.

/// True if a copy of the step without masks pays off. In longer code masks are a smaller part of
/// the cost, and the copy takes time to compile. Code for mask registers compiles faster, so its
/// limit is higher.
bool RegionCode::is_copied_for_all(uint32_t step) const {
  const size_t most = machine().has_mask_registers() ? 300 : 16;
  const Step& copied = plan_.linear[position_.region].steps[step];
  const BasicBlock& block = kernel_.blocks[copied.block];
  const bool is_straight = block.terminator == Terminator::jump ||
                           block.terminator == Terminator::exit ||
                           (block.terminator == Terminator::branch && copied.linear &&
                            copied.repeat == kEndOfRegion && machine().has_mask_registers());
  return is_straight && block.preds.size() == 1 && block.insts.size() <= most &&
         std::any_of(block.insts.begin(), block.insts.end(),
                     [](const Inst& inst) { return has_effects(*inst.ptx); });
}

/// Generates the jump from a divergent branch to the next step, or to its copy if all lanes take
/// that edge.
void RegionCode::go_to_next(uint32_t index, const std::vector<Value*>& edge_masks) {
  const LinearPlan& plan = plan_.linear[position_.region];
  const BasicBlock& block = kernel_.blocks[position_.block];
  const uint32_t next = plan.steps[index].next[0];
  const auto slot = std::find_if(block.succs.begin(), block.succs.end(),
                                 [&](BlockId succ) { return plan.step_of[succ] == next; });
  const bool may = plan_.mode == Mode::run_to_completion && !plan_.variant.checked &&
                   block.terminator == Terminator::branch &&
                   !code_plan_.masks.step_is_masked(position_.region, index);
  if (!may || slot == block.succs.end() || next == kEndOfRegion || !is_copied_for_all(next)) {
    b_.CreateBr(target_of(next));
    return;
  }
  const auto way = static_cast<size_t>(slot - block.succs.begin());
  Value* whole = builder_.all(edge_masks[way]);
  if (whole == b_.getFalse()) {
    b_.CreateBr(target_of(next));
    return;
  }
  if (!llvm::isa<llvm::Constant>(whole)) {
    if (Value* const surely = index_tests_.surely_all_take(block, way)) whole = surely;
  }
  auto* const copy = builder_.new_block("for.all");
  b_.CreateCondBr(whole, copy, target_of(next));
  copies_for_all_.emplace_back(next, copy);
}

/// Generates the copies that go_to_next() requested.
void RegionCode::emit_copies_for_all() {
  for (size_t i = 0; i < copies_for_all_.size(); ++i) {  // a copy may ask for further ones
    const auto [step, copy] = copies_for_all_[i];
    heads_[step] = bodies_[step] = copy;
    b_.SetInsertPoint(copy);
    masks_.begin_copy(step);
    emit_step(step);
  }
  masks_.end_copies();
  copies_for_all_.clear();
}

/// Generates a barrier: a call of the runtime in mode b, the end of the region in mode a.
void RegionCode::emit_barrier_end(uint32_t index) {
  const Step& step = plan_.linear[position_.region].steps[index];
  const BasicBlock& block = kernel_.blocks[position_.block];
  const Inst& barrier = block.insts.back();
  builder_.set_location(barrier.ptx);
  if (!plan_.splits_at_barriers) {
    lower_barrier(builder_, plan_, frame_, values_, lowering_.reports(), barrier);
    contribute(index, 0, mask());
    b_.CreateBr(target_of(step.next[0]));
    return;
  }
  const uint32_t next = plan_.regions.after_barrier[position_.block];
  KM_ASSERT(next < plan_.regions.list.size(),
            "the barrier at the end of a region starts another one");
  if (!barrier.writes.empty()) spill_.add_to_sum(barrier);
  spill_.save(position_.region, position_.block);
  if (code_plan_.masks.is_masked(next)) {
    Value* packet = b_.CreateLoad(b_.getInt32Ty(), frame_.packet());
    b_.CreateStore(mask_bits(), frame_.packet_slot(packet, *code_plan_.spills.live_offset_bytes()));
  }
  b_.CreateStore(i32(next), frame_.next_region());
  b_.CreateBr(target_of(step.next.empty() ? kEndOfRegion : step.next[0]));
}

/// Passes the values and the mask of an edge to its target.
void RegionCode::contribute(uint32_t index, size_t slot, Value* edge_mask) {
  const BlockId successor = kernel_.blocks[position_.block].succs[slot];
  edges_.contribute_loop_values(successor, edge_mask);
  edges_.contribute_phis(index, slot, edge_mask);
  masks_.contribute(index, successor, edge_mask);
}

}  // namespace km::simt
