// Steps, masks and edges of a region.
#include <algorithm>

#include "simt/emit/emitter.h"

namespace km::simt {

llvm::BasicBlock* Emitter::target_of(uint32_t step) {
  return step == kEndOfRegion ? packet_end_ : heads_[step];
}

void Emitter::emit_steps(uint32_t region, llvm::BasicBlock* packet_end) {
  const LinearPlan& plan = plan_.linear[region];
  packet_end_ = packet_end;
  heads_.clear();
  bodies_.clear();
  mask_variables_.clear();
  known_masks_.clear();
  first_arrival_.resize(kernel_.blocks.size());
  for (const Step& step : plan.steps) {
    uint32_t& first = first_arrival_[step.block] = kEndOfRegion;
    for (BlockId pred : kernel_.blocks[step.block].preds)
      first = std::min(first, plan.step_of[pred]);
  }
  for (const Step& step : plan.steps) {
    bodies_.push_back(builder_.new_block("step"));
    heads_.push_back(step.guard ? builder_.new_block("guard") : bodies_.back());
    if (step.mask == Step::Mask::variable) {
      mask_variables_[step.block] = builder_.variable(builder_.mask_storage(), "mask");
    }
  }
  auto clear = [&](uint32_t step) {
    b_.CreateStore(llvm::Constant::getNullValue(builder_.mask_storage()),
                   mask_variables_.at(plan.steps[step].block));
  };
  for (uint32_t step : plan.clear_at_start) clear(step);
  const bool starts_masked = code_plan_.masks.is_masked(region) && region != 0;
  if (starts_masked || code_plan_.masks.leads_to_masked(region)) {
    Value* packet = b_.CreateLoad(b_.getInt32Ty(), frame_.packet());
    Value* slot = frame_.packet_slot(packet, *code_plan_.spills.live_offset_bytes());
    if (starts_masked) {
      Value* live = b_.CreateLoad(b_.getInt32Ty(), slot);
      auto* start = builder_.new_block("live");
      b_.CreateCondBr(b_.CreateICmpNE(live, i32(0)), start, packet_end);
      b_.SetInsertPoint(start);
    }
    b_.CreateStore(i32(0), slot);  // until a barrier says otherwise, no lane reaches it
  }
  if (plan.steps[0].mask == Step::Mask::variable) {
    Value* entry = code_plan_.masks.is_masked(region)
                       ? static_cast<Value*>(b_.CreateLoad(builder_.mask_storage(), entry_mask_))
                       : llvm::Constant::getAllOnesValue(builder_.mask_storage());
    b_.CreateStore(entry, mask_variables_.at(plan.steps[0].block));
  }
  b_.CreateBr(heads_[0]);
  for (uint32_t i = 0; i < plan.steps.size() && !is_ended(); ++i) emit_step(i);
  emit_copies_for_all();
}

llvm::Value* Emitter::load_mask(uint32_t index) {
  if (plan_.has_independent_threads())
    return builder_.mask_of(b_.CreateLoad(b_.getInt32Ty(), group_));
  const LinearPlan& plan = plan_.linear[position_.region];
  const Step& step = plan.steps[index];
  if (!code_plan_.masks.step_is_masked(position_.region, index) || index == step_for_all_)
    return nullptr;
  if (step.mask == Step::Mask::same) return load_mask(step.mask_step);
  if (const auto known = known_masks_.find(step.block); known != known_masks_.end()) {
    return known->second;
  }
  auto* slot = step.mask == Step::Mask::entry ? entry_mask_ : mask_variables_.at(step.block);
  Value* content = b_.CreateLoad(builder_.mask_storage(), slot);
  if (has_avx512()) return content;
  return b_.CreateICmpSLT(content, llvm::Constant::getNullValue(builder_.mask_storage()));
}

void Emitter::emit_step(uint32_t index) {
  const LinearPlan& plan = plan_.linear[position_.region];
  const Step& step = plan.steps[index];
  step_ = index;
  position_.block = step.block;
  lowering_.begin_block();
  const Block& block = kernel_.blocks[position_.block];
  if (heads_[index] != bodies_[index]) {
    b_.SetInsertPoint(heads_[index]);
    builder_.set_location(block.insts.empty() ? block.terminator : block.insts[0].ptx);
    const bool is_rest_idle_too = idle_.is_rest_idle(index);
    auto* skip = is_rest_idle_too ? builder_.new_block("idle") : target_of(step.skip);
    b_.CreateCondBr(builder_.any(load_mask(index)), bodies_[index], skip);
    if (is_rest_idle_too) {
      b_.SetInsertPoint(skip);
      end_packets();
      b_.CreateBr(target_of(step.skip));
    }
  }
  b_.SetInsertPoint(bodies_[index]);
  builder_.set_location(block.insts.empty() ? block.terminator : block.insts[0].ptx);
  for (uint32_t cleared : step.clear_masks) {
    b_.CreateStore(llvm::Constant::getNullValue(builder_.mask_storage()),
                   mask_variables_.at(plan.steps[cleared].block));
  }
  builder_.set_mask(load_mask(index));
  for (const Inst& inst : block.insts) {
    builder_.set_location(inst.ptx);
    bool last = &inst == &block.insts.back();
    if (last && block.end == End::barrier) continue;  // emit_end() deals with it
    lowering_.lower(inst);
  }
  if (block.terminator != nullptr) builder_.set_location(block.terminator);
  emit_end(index);
  instructions_ += bodies_[index]->size();
}

void Emitter::emit_end(uint32_t index) {
  const Step& step = plan_.linear[position_.region].steps[index];
  const Block& block = kernel_.blocks[position_.block];
  if (block.end == End::barrier) return emit_barrier_end(index);
  if (block.end == End::exit) {
    b_.CreateBr(target_of(step.next[0]));
    return;
  }
  if (step.linear) return emit_linear_end(index);
  emit_uniform_end(index);
}

/// Modes a and b: lets others go on.
void Emitter::yield() {
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy(), b_.getPtrTy()}, false);
  frame_.call_runtime(offsetof(RuntimeTable, yield), type, {frame_.record(), frame_.state()});
}

/// The branch stays a branch: every way out carries all lanes.
void Emitter::emit_uniform_end(uint32_t index) {
  const Step& step = plan_.linear[position_.region].steps[index];
  const Block& block = kernel_.blocks[position_.block];
  if (block.end == End::jump) {
    contribute(index, 0, mask());
    if (plan_.is_waiting_edge(position_.region, position_.block, block.succs[0])) yield();
    b_.CreateBr(target_of(step.next[0]));
    return;
  }
  Value* condition = values_.scalar(block.condition);
  if (const auto* known = working_lanes(position_.block); known && known->isAllOnesValue()) {
    condition = b_.getInt1((idle_.workers()->slot == 0) != block.condition_negated);
  }
  std::vector<llvm::BasicBlock*> edges;
  for (size_t slot = 0; slot < block.succs.size(); ++slot)
    edges.push_back(builder_.new_block("edge"));
  if (block.end == End::branch) {
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
        block.end == End::branch && plan_.shapes->warp_branch[position_.block] != 0;
    if (is_branch &&
        idle_.is_rest_idle(plan_.linear[position_.region].step_of[block.succs[1 - slot]])) {
      end_packets();
    }
    if (plan_.is_waiting_edge(position_.region, position_.block, block.succs[slot])) yield();
    b_.CreateBr(target_of(step.next[slot]));
  }
}

/// Which lanes go to the first successor, as far as they are there.
llvm::Value* Emitter::branch_condition(const Block& block) {
  if (llvm::Constant* known = working_lanes(static_cast<BlockId>(&block - kernel_.blocks.data()))) {
    return idle_.workers()->slot == 0 ? known : b_.CreateNot(known);
  }
  Value* condition = values_.shape_of(block.condition).is_varying()
                         ? values_.vector(block.condition)
                         : splat(values_.scalar(block.condition));
  return block.condition_negated ? b_.CreateNot(condition) : condition;
}

/// Every way out is taken by some lanes; what follows runs under masks.
void Emitter::emit_linear_end(uint32_t index) {
  const LinearPlan& plan = plan_.linear[position_.region];
  const Step& step = plan.steps[index];
  const Block& block = kernel_.blocks[position_.block];
  std::vector<Value*> edge_masks;
  if (block.end == End::jump) edge_masks.push_back(mask());
  if (block.end == End::branch) {
    Value* condition = branch_condition(block);
    edge_masks = {builder_.and_masks(mask(), condition),
                  builder_.and_masks(mask(), b_.CreateNot(condition))};
  }
  if (block.end == End::table) {
    Value* condition = values_.vector(block.condition);
    for (size_t slot = 0; slot < block.succs.size(); ++slot) {
      Value* number = llvm::ConstantInt::get(condition->getType()->getScalarType(), slot);
      bool last = slot + 1 == block.succs.size();
      Value* here = last ? b_.CreateICmpUGE(condition, splat(number))
                         : b_.CreateICmpEQ(condition, splat(number));
      edge_masks.push_back(builder_.and_masks(mask(), here));
    }
  }
  // The back edge changes the header's phis, which the edges out of the loop still read.
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
  llvm::BasicBlock* again = bodies_[step.repeat];
  llvm::BasicBlock* waits =
      plan_.is_waiting_edge(position_.region, position_.block, block.succs[*back])
          ? builder_.new_block("wait")
          : again;
  b_.CreateCondBr(builder_.any(repeat_mask), waits, target_of(step.next[0]));
  if (waits == again) return;
  b_.SetInsertPoint(waits);
  yield();
  b_.CreateBr(again);
}

// ---- Code behind branches like `if (i < n)` is there twice: for all lanes, without masks.

/// Longer code has more to do than masks, and would take longer to compile: AVX-512 is quicker to
/// compile for, and has the room.
bool Emitter::is_copied_for_all(uint32_t step) const {
  const size_t most = has_avx512() ? 300 : 16;
  const Step& copied = plan_.linear[position_.region].steps[step];
  const Block& block = kernel_.blocks[copied.block];
  const bool is_straight =
      block.end == End::jump || block.end == End::exit ||
      (block.end == End::branch && copied.linear && copied.repeat == kEndOfRegion && has_avx512());
  return is_straight && block.preds.size() == 1 && block.insts.size() <= most &&
         std::any_of(block.insts.begin(), block.insts.end(),
                     [](const Inst& inst) { return has_effects(*inst.ptx); });
}

namespace {

using Predicate = llvm::CmpInst::Predicate;

/// The order that a comparison of integers asks for; BAD_ICMP_PREDICATE if values in between do not
/// follow from it.
Predicate order_of(const ptx::Instruction& setp) {
  using ptx::Modifier;
  if (setp.has(Modifier::lo)) return Predicate::ICMP_ULT;
  if (setp.has(Modifier::ls)) return Predicate::ICMP_ULE;
  if (setp.has(Modifier::hi)) return Predicate::ICMP_UGT;
  if (setp.has(Modifier::hs)) return Predicate::ICMP_UGE;
  const bool is_signed = ptx::is_signed(setp.type());
  if (setp.has(Modifier::lt)) return is_signed ? Predicate::ICMP_SLT : Predicate::ICMP_ULT;
  if (setp.has(Modifier::le)) return is_signed ? Predicate::ICMP_SLE : Predicate::ICMP_ULE;
  if (setp.has(Modifier::gt)) return is_signed ? Predicate::ICMP_SGT : Predicate::ICMP_UGT;
  if (setp.has(Modifier::ge)) return is_signed ? Predicate::ICMP_SGE : Predicate::ICMP_UGE;
  return Predicate::BAD_ICMP_PREDICATE;
}

}  // namespace

/// An index, one for each lane, that a branch compares with what is the same for all.
std::optional<Emitter::IndexTest> Emitter::index_test(const Block& block, size_t slot) {
  const auto& info = kernel_.values[block.condition];
  if (info.block != position_.block || info.instruction == kNone) return std::nullopt;
  const Inst& inst = block.insts[info.instruction];
  const auto& ptx = *inst.ptx;
  const bool is_plain = ptx.opcode == ptx::Opcode::setp && ptx.operand_count == 3 &&
                        inst.writes.size() == 1 && inst.guard == kNone &&
                        ptx::is_integer(ptx.type()) && ptx::size_bits(ptx.type()) >= 32;
  if (!is_plain || order_of(ptx) == Predicate::BAD_ICMP_PREDICATE) return std::nullopt;
  IndexTest test{order_of(ptx), nullptr, nullptr, nullptr};
  const ptx::Operand *index = &ptx.operands[1], *bound = &ptx.operands[2];
  const auto shape = [&](const ptx::Operand& operand) {
    if (operand.kind == ptx::Operand::Kind::immediate) return Shape::uniform(true);
    if (operand.kind != ptx::Operand::Kind::reg) return Shape::varying();
    return values_.shape_of(inst.read(operand.reg));
  };
  if (!shape(*index).is_offset()) {
    std::swap(index, bound);
    test.order = llvm::CmpInst::getSwappedPredicate(test.order);
  }
  if (!shape(*index).is_offset() || shape(*index).guarded || !shape(*bound).is_uniform()) {
    return std::nullopt;
  }
  const bool wanted = (slot == 0) != block.condition_negated;
  if (!wanted) test.order = llvm::CmpInst::getInversePredicate(test.order);
  const ValueId value = inst.read(index->reg);
  test.base = builder_.coerce(values_.scalar(value), kernel_.values[value].type, ptx.type());
  test.bound = values_.operand(inst, *bound, ptx.type(), false, false);
  test.offsets = &plan_.shapes->offsets[shape(*index).offsets];
  return test;
}

/// True if all lanes take the way, decided by the lowest and the highest index alone. Null: these
/// do not decide it. False: perhaps not all do.
llvm::Value* Emitter::surely_all_take(const Block& block, size_t slot) {
  const auto test = index_test(block, slot);
  if (!test) return nullptr;
  const auto [least, most] = extremes_of(test->offsets, lanes_);
  auto* type = test->base->getType();
  const auto at = [&](int64_t offset) {
    auto* constant = llvm::ConstantInt::get(type, static_cast<uint64_t>(offset), true);
    return offset == 0 ? test->base : b_.CreateAdd(test->base, constant);
  };
  Value *low = at(least), *high = at(most);
  const bool is_signed = llvm::CmpInst::isSigned(test->order);
  Value* in_order = b_.CreateICmp(is_signed ? Predicate::ICMP_SLE : Predicate::ICMP_ULE, low, high);
  const bool below = test->order == Predicate::ICMP_SLT || test->order == Predicate::ICMP_SLE ||
                     test->order == Predicate::ICMP_ULT || test->order == Predicate::ICMP_ULE;
  return b_.CreateAnd(in_order, b_.CreateICmp(test->order, below ? high : low, test->bound));
}

/// From a branch that parts lanes to the next step, or to its copy.
void Emitter::go_to_next(uint32_t index, const std::vector<Value*>& edge_masks) {
  const LinearPlan& plan = plan_.linear[position_.region];
  const Block& block = kernel_.blocks[position_.block];
  const uint32_t next = plan.steps[index].next[0];
  const auto slot = std::find_if(block.succs.begin(), block.succs.end(),
                                 [&](BlockId succ) { return plan.step_of[succ] == next; });
  const bool may = plan_.mode == Mode::run_to_completion && !plan_.variant.checked &&
                   block.end == End::branch &&
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
    if (Value* const surely = surely_all_take(block, way)) whole = surely;
  }
  auto* const copy = builder_.new_block("for.all");
  b_.CreateCondBr(whole, copy, target_of(next));
  copies_for_all_.emplace_back(next, copy);
}

void Emitter::emit_copies_for_all() {
  for (const auto& [step, copy] : copies_for_all_) {
    heads_[step] = bodies_[step] = copy;
    step_for_all_ = step;
    if (plan_.linear[position_.region].steps[step].mask == Step::Mask::variable) {
      b_.SetInsertPoint(copy);  // for what follows under the same mask
      auto* slot = mask_variables_.at(plan_.linear[position_.region].steps[step].block);
      b_.CreateStore(llvm::Constant::getAllOnesValue(builder_.mask_storage()), slot);
    }
    emit_step(step);
  }
  step_for_all_ = kEndOfRegion;
  copies_for_all_.clear();
}

void Emitter::emit_barrier_end(uint32_t index) {
  const Step& step = plan_.linear[position_.region].steps[index];
  const Block& block = kernel_.blocks[position_.block];
  const Inst& barrier = block.insts.back();
  builder_.set_location(barrier.ptx);
  if (!plan_.splits_at_barriers) {
    lowering_.barriers().lower_barrier(barrier);
    contribute(index, 0, mask());
    b_.CreateBr(target_of(step.next[0]));
    return;
  }
  const uint32_t next = plan_.regions.after_barrier[position_.block];
  if (!barrier.writes.empty()) {
    const ValueId result = barrier.writes[0].second;
    const auto& last = barrier.ptx->operands[barrier.ptx->operand_count - 1];
    Value* predicate = values_.operand(barrier, last, ptx::Type::pred, true, false);
    if (barrier.ptx->has(ptx::Modifier::and_)) predicate = b_.CreateNot(predicate);
    Value* bits = builder_.bits_of(builder_.and_masks(mask(), predicate));
    Value* count = b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, bits);
    auto* sum = barrier_sums_.at(result);
    b_.CreateStore(b_.CreateAdd(b_.CreateLoad(b_.getInt32Ty(), sum), count), sum);
  }
  save_context(position_.region, next);
  if (code_plan_.masks.is_masked(next)) {
    Value* packet = b_.CreateLoad(b_.getInt32Ty(), frame_.packet());
    b_.CreateStore(mask_bits(), frame_.packet_slot(packet, *code_plan_.spills.live_offset_bytes()));
  }
  b_.CreateStore(i32(next), frame_.next_region());
  b_.CreateBr(target_of(step.next.empty() ? kEndOfRegion : step.next[0]));
}

// ---- Edges: what a block leaves to its successors.

void Emitter::contribute(uint32_t index, size_t slot, Value* edge_mask) {
  const BlockId successor = kernel_.blocks[position_.block].succs[slot];
  contribute_loop_values(successor, edge_mask);
  contribute_phis(index, slot, edge_mask);
  contribute_mask(index, successor, edge_mask);
}

void Emitter::contribute_mask(uint32_t index, BlockId successor, Value* edge_mask) {
  const LinearPlan& plan = plan_.linear[position_.region];
  const uint32_t target = plan.step_of[successor];
  if (target == kEndOfRegion || plan.steps[target].mask != Step::Mask::variable) return;
  auto* slot = mask_variables_.at(successor);
  Value* content = edge_mask;
  if (content == nullptr) content = llvm::Constant::getAllOnesValue(vector_of(b_.getInt1Ty()));
  const bool back_edge = target <= index;
  // Only one branch parts lanes before those that work: who comes to its successor came by it.
  auto* const known = llvm::dyn_cast<llvm::Constant>(content);
  const bool is_only_way = kernel_.blocks[successor].preds.size() == 1;
  if (known && is_only_way && idle_.workers() && idle_.workers()->branch == position_.block) {
    known_masks_[successor] = known;
  }
  if (plan.steps[target].mask_accumulates && !back_edge) {
    Value* old = b_.CreateLoad(builder_.mask_storage(), slot);
    Value* fresh = has_avx512() ? content : b_.CreateSExt(content, builder_.mask_storage());
    b_.CreateStore(b_.CreateOr(old, fresh), slot);
    return;
  }
  builder_.store_mask(slot, content);
}

/// True if values of lanes that came another way must survive this edge.
bool Emitter::edge_blends(uint32_t index, BlockId successor) const {
  if (plan_.has_independent_threads()) return true;
  const LinearPlan& plan = plan_.linear[position_.region];
  const uint32_t target = plan.step_of[successor];
  if (target == kEndOfRegion || target <= index) return false;  // to the header of its loop
  const auto& loops = plan_.shapes->loops;
  for (uint32_t l = loops.innermost[position_.block]; l != UINT32_MAX; l = loops.loops[l].parent) {
    if (plan_.shapes->divergent_loop[l] && !loops.contains(l, successor)) return true;
  }
  return plan_.shapes->divergent_join[successor] != 0 && first_arrival_[successor] < index;
}

/// The block whose branch alone leads to the lanes of a step, or kNone.
BlockId Emitter::branch_before(uint32_t index) const {
  const auto& steps = plan_.linear[position_.region].steps;
  const Block& first = kernel_.blocks[steps[steps[index].mask_step].block];
  if (first.preds.size() != 1) return kNone;
  return kernel_.blocks[first.preds[0]].end == End::branch ? first.preds[0] : kNone;
}

/// The condition that separates lanes that come over an edge from those that came before. If only
/// the two ways of one branch meet, its condition is enough: other lanes hold nothing yet. With
/// AVX2 that saves turning masks of bytes into vectors, with AVX-512 nothing.
llvm::Value* Emitter::blend_condition(uint32_t index, BlockId successor, Value* edge_mask) {
  const LinearPlan& plan = plan_.linear[position_.region];
  const auto& innermost = plan_.shapes->loops.innermost;
  const BlockId parting =
      plan_.has_independent_threads() || has_avx512() ? kNone : branch_before(index);
  if (parting == kNone || kernel_.blocks[position_.block].end != End::jump) return edge_mask;
  if (!parts_lanes(plan_, kernel_.blocks[parting])) return edge_mask;
  if (plan.step_of[parting] == kEndOfRegion || plan.step_of[parting] >= index) return edge_mask;
  for (BlockId block : {parting, successor}) {
    if (innermost[block] != innermost[position_.block]) return edge_mask;
  }
  for (BlockId pred : kernel_.blocks[successor].preds) {
    const uint32_t step = plan.step_of[pred];
    if (step == kEndOfRegion || step >= index || pred == parting) continue;
    if (kernel_.blocks[pred].end != End::jump || branch_before(step) != parting) return edge_mask;
  }
  const BlockId arm = plan.steps[plan.steps[index].mask_step].block;
  Value* condition = branch_condition(kernel_.blocks[parting]);
  return kernel_.blocks[parting].succs[0] == arm ? condition : b_.CreateNot(condition);
}

void Emitter::contribute_phis(uint32_t index, size_t slot, Value* edge_mask) {
  const Block& block = kernel_.blocks[position_.block];
  const Block& successor = kernel_.blocks[block.succs[slot]];
  const uint32_t pred = edge_slots_[position_.block][slot];
  const bool blend = edge_mask != nullptr && edge_blends(index, block.succs[slot]);
  if (blend && !successor.phis.empty()) {
    edge_mask = blend_condition(index, block.succs[slot], edge_mask);
  }
  std::vector<Value*> contents;
  for (const Phi& phi : successor.phis) {
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
    if (is_mask && !has_avx512()) content = b_.CreateSExt(content, builder_.mask_storage());
    if (blend && content->getType()->isVectorTy()) {
      Value* old = b_.CreateLoad(target.type, target.pointer);
      content = b_.CreateSelect(edge_mask, content, old);
    }
    b_.CreateStore(content, target.pointer);
    builder_.values().erase(result);
    builder_.vectors().erase(result);
  }
}

/// Lanes that leave a divergent loop take the values of this iteration with them.
void Emitter::contribute_loop_values(BlockId successor, Value* edge_mask) {
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

}  // namespace km::simt
