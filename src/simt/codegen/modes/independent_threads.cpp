#include "simt/codegen/modes/independent_threads.h"

#include <algorithm>

#include "base/assert.h"
#include "simt/codegen/lower/tensors/warpgroup_matrices.h"
#include "simt/kernel/warpgroup_rules.h"

namespace km::simt {

using ptx::Modifier;
using ptx::Operand;
using ptx::Type;

IndependentThreads::IndependentThreads(Generator& g)
    : EmitterBase(g.builder, g.plan),
      frame_(g.frame),
      values_(g.values),
      warp_frame_(g.warp_frame),
      lowering_(g.lowering),
      limit_(g.limit),
      idle_(g.builder, g.plan, g.frame),
      edges_(g.builder, g.plan, g.values, idle_) {
  lowering_.calls().set_leave([this] { exit_group(); });
}

/// Places the values after the IndependentWarp in scratch memory, in which they survive a return of
/// the entry function.
void IndependentThreads::lay_out() {
  const uint64_t end = values_.lay_out_in_scratch(sizeof(IndependentWarp));
  const uint64_t local_offset_bytes = (end + 63) / 64 * 64;
  const uint64_t local_bytes = plan_.layout->local_packet_bytes(lanes_);
  KM_ASSERT(end >= sizeof(IndependentWarp), "values are laid out after the IndependentWarp");
  frame_.lay_out(local_offset_bytes, (local_offset_bytes + local_bytes + 63) / 64 * 64);
}

void IndependentThreads::run() {
  frame_.load_block();
  Value* warp = builder_.entry()->getArg(2);
  frame_.take_scratch_of(warp);
  warp_frame_.set_warp(frame_.scratch());
  frame_.set_local_base(b_.CreateAdd(frame_.scratch(), i64(frame_.local_offset_bytes())));
  b_.CreateStore(b_.CreateMul(warp, i32(kWarpLanes)), frame_.first_thread());
  group_ = builder_.variable(b_.getInt32Ty(), "group");
  position_.region = 0;
  const auto& steps = plan_.linear[0].steps;
  for (const Step& step : steps) {
    const Terminator terminator = kernel_.blocks[step.block].terminator;
    bodies_.push_back(builder_.new_block("block"));
    const bool resumes = terminator == Terminator::warp_sync || terminator == Terminator::barrier;
    resumes_.push_back(resumes ? builder_.new_block("resume") : nullptr);
  }
  dispatch_ = builder_.new_block("dispatch");
  b_.CreateBr(dispatch_);
  emit_dispatch();
  for (uint32_t i = 0; i < steps.size() && !limit_.is_ended(); ++i) emit_block_code(i);
}

/// Generates the dispatcher, which asks the runtime for the lanes that run next and their state,
/// and jumps to the code of the state.
void IndependentThreads::emit_dispatch() {
  b_.SetInsertPoint(dispatch_);
  builder_.set_location(nullptr);
  auto* type = llvm::FunctionType::get(b_.getInt64Ty(), {b_.getPtrTy()}, false);
  Value* next =
      frame_.call_runtime(offsetof(RuntimeTable, independent_next), type, {warp_frame_.field(0)});
  Value* lanes = b_.CreateTrunc(next, b_.getInt32Ty());
  Value* state = b_.CreateTrunc(b_.CreateLShr(next, 32), b_.getInt32Ty());
  b_.CreateStore(lanes, group_);
  auto *leave = builder_.new_block("leave"), *enter = builder_.new_block("enter");
  b_.CreateCondBr(b_.CreateICmpEQ(lanes, i32(0)), leave, enter);
  b_.SetInsertPoint(leave);
  b_.CreateRet(state);
  b_.SetInsertPoint(enter);
  auto* stray = builder_.new_block("stray");
  auto* table = b_.CreateSwitch(state, stray);
  for (uint32_t i = 0; i < bodies_.size(); ++i) {
    table->addCase(b_.getInt32(2 * i), bodies_[i]);
    if (resumes_[i] != nullptr) table->addCase(b_.getInt32(2 * i + 1), resumes_[i]);
  }
  b_.SetInsertPoint(stray);
  b_.CreateUnreachable();
}

/// Starts code to which the dispatcher jumps. No cached value is valid there, and the mask is the
/// selected group.
void IndependentThreads::begin_part(uint32_t index, llvm::BasicBlock* at) {
  KM_ASSERT(at != nullptr && at->empty(), "the code of a state is generated only once");
  position_.block = plan_.linear[0].steps[index].block;
  lowering_.begin_block();
  b_.SetInsertPoint(at);
  builder_.set_mask(builder_.mask_of(b_.CreateLoad(b_.getInt32Ty(), group_)));
}

/// Generates a basic block. A barrier or warp operation at its end is left to emit_end(), because
/// it divides the code into two states.
void IndependentThreads::emit_block_code(uint32_t index) {
  const BasicBlock& block = kernel_.blocks[plan_.linear[0].steps[index].block];
  builder_.set_location(block.insts.empty() ? block.terminator_ptx : block.insts[0].ptx);
  begin_part(index, bodies_[index]);
  const bool ends_in_wait =
      block.terminator == Terminator::warp_sync || block.terminator == Terminator::barrier;
  for (const Inst& inst : block.insts) {
    builder_.set_location(inst.ptx);
    if (ends_in_wait && &inst == &block.insts.back()) continue;
    lowering_.lower(inst);
  }
  if (block.terminator_ptx != nullptr) builder_.set_location(block.terminator_ptx);
  if (AccessCounts& counts = lowering_.reports().counts(); counts.is_used()) {
    const bool parts =
        block.terminator == Terminator::branch || block.terminator == Terminator::table;
    counts.count_block(block, parts ? values_.vector(block.condition) : nullptr);
  }
  emit_end(index);
  limit_.count(*bodies_[index]);
}

// ---- Terminators of basic blocks.

void IndependentThreads::emit_end(uint32_t index) {
  const BasicBlock& block = kernel_.blocks[position_.block];
  switch (block.terminator) {
    case Terminator::jump:
      return leave_block(index, {mask()});
    case Terminator::branch:
    case Terminator::table:
      return emit_branch(index);
    case Terminator::barrier:
      return emit_barrier(index);
    case Terminator::warp_sync:
      return emit_warp_sync(index);
    case Terminator::exit:
      return exit_group();
  }
}

/// Removes the active lanes from the live ones.
void IndependentThreads::exit_group() {
  constexpr uint64_t kLive = offsetof(IndependentWarp, live);
  Value* live = warp_frame_.load(kLive, b_.getInt32Ty());
  b_.CreateStore(b_.CreateAnd(live, b_.CreateNot(mask_bits())), warp_frame_.field(kLive));
  b_.CreateBr(dispatch_);
}

/// Generates a branch or jump table, after which lanes with different conditions have different
/// states.
void IndependentThreads::emit_branch(uint32_t index) {
  const BasicBlock& block = kernel_.blocks[position_.block];
  Value* condition = values_.vector(block.condition);
  std::vector<Value*> edges;
  if (block.terminator == Terminator::branch) {
    if (block.condition_negated) condition = b_.CreateNot(condition);
    edges = {b_.CreateAnd(mask(), condition), b_.CreateAnd(mask(), b_.CreateNot(condition))};
  } else {
    for (size_t slot = 0; slot < block.succs.size(); ++slot) {
      Value* number = splat(llvm::ConstantInt::get(condition->getType()->getScalarType(), slot));
      const bool last = slot + 1 == block.succs.size();
      Value* here = last ? b_.CreateICmpUGE(condition, number) : b_.CreateICmpEQ(condition, number);
      edges.push_back(b_.CreateAnd(mask(), here));
    }
  }
  leave_block(index, edges);
}

bool IndependentThreads::leaves_spin_loop(BlockId from, BlockId to) const {
  const LoopForest& loops = plan_.shapes->loops;
  for (uint32_t l = loops.innermost[from]; l != UINT32_MAX; l = loops.loops[l].parent) {
    if ((*plan_.spin_loop)[l] && !loops.contains(l, to)) return true;
  }
  return false;
}

/// True if lanes may jump to the successor without the dispatcher, because no other lane is there
/// already or can arrive by another path. A lane that leaves a spin loop returns to the dispatcher,
/// which compares the lanes' waiting times.
bool IndependentThreads::continues_directly(uint32_t index, BlockId successor) const {
  const auto& insts = kernel_.blocks[successor].insts;
  const bool may_change_places =
      plan_.variant.is_scheduled() && !insts.empty() && is_shared_access(*insts[0].ptx);
  return kernel_.blocks[successor].preds.size() == 1 && !may_change_places &&
         plan_.linear[0].step_of[successor] > index &&
         !leaves_spin_loop(position_.block, successor);
}

namespace {

/// The PTX line of the block's last instruction; 0 if it has none.
uint32_t line_of(const BasicBlock& block) {
  if (block.terminator_ptx != nullptr) return block.terminator_ptx->location.line;
  return block.insts.empty() ? 0 : block.insts.back().ptx->location.line;
}

}  // namespace

/// Sets the state of the lanes that take an edge. An edge that repeats a spin loop stamps them with
/// a new clock, because the runtime first runs the lanes that have waited longest; leaving the loop
/// clears the stamp.
void IndependentThreads::leave_to(BlockId successor, Value* edge_mask) {
  constexpr uint64_t kClock = offsetof(IndependentWarp, clock);
  warp_frame_.store(offsetof(IndependentWarp, state), i32(2 * plan_.linear[0].step_of[successor]),
                    edge_mask);
  if (plan_.is_waiting_edge(position_.region, position_.block, successor)) {
    Value* now = b_.CreateAdd(warp_frame_.load(kClock, b_.getInt32Ty()), i32(1));
    b_.CreateStore(now, warp_frame_.field(kClock));
    b_.CreateStore(i32(line_of(kernel_.blocks[position_.block])),
                   warp_frame_.field(offsetof(IndependentWarp, line)));
    warp_frame_.store(offsetof(IndependentWarp, stamp), now, edge_mask);
  } else if (leaves_spin_loop(position_.block, successor)) {
    warp_frame_.store(offsetof(IndependentWarp, stamp), i32(0), edge_mask);
  }
}

/// Passes values and states to all successors. If all lanes take one edge and no other lane can
/// join them, code jumps there directly, which is cheaper than the dispatcher.
void IndependentThreads::leave_block(uint32_t index, const std::vector<Value*>& edge_masks) {
  const BasicBlock& block = kernel_.blocks[position_.block];
  KM_ASSERT(edge_masks.size() == block.succs.size(),
            "each successor of a basic block has an edge mask");
  for (size_t slot = 0; slot < edge_masks.size(); ++slot) {
    edges_.contribute_phis(index, slot, edge_masks[slot]);
    leave_to(block.succs[slot], edge_masks[slot]);
  }
  for (size_t slot = 0; slot < edge_masks.size() && edge_masks.size() <= 2; ++slot) {
    if (!continues_directly(index, block.succs[slot])) continue;
    auto* body = bodies_[plan_.linear[0].step_of[block.succs[slot]]];
    if (edge_masks.size() == 1) {
      b_.CreateBr(body);
      return;
    }
    auto* diverged = builder_.new_block("diverged");
    b_.CreateCondBr(b_.CreateICmpEQ(builder_.bits_of(edge_masks[slot]), mask_bits()), body,
                    diverged);
    b_.SetInsertPoint(diverged);
  }
  b_.CreateBr(dispatch_);
}

/// Generates a barrier: the runtime records the lanes that wait and later selects the state in
/// which they resume.
void IndependentThreads::emit_barrier(uint32_t index) {
  const BasicBlock& block = kernel_.blocks[position_.block];
  const Inst& inst = block.insts.back();
  const auto& ptx = *inst.ptx;
  builder_.set_location(&ptx);
  const bool reduces = ptx.has(Modifier::red);
  const unsigned first = reduces ? 1 : 0;
  const unsigned last = ptx.operand_count - (reduces ? 1 : 0);
  auto uniform = [&](const Operand& source) {
    return builder_.of_first_lane(values_.operand(inst, source, Type::u32, true, false),
                                  mask_bits());
  };
  Value *id = i32(kClusterBarrier), *expected = i32(0);
  if (is_warpgroup_wait(ptx)) {
    id = warpgroup_barrier(builder_, frame_);
    expected = i32(kWarpgroupThreads);
  } else {
    if (last > first) id = uniform(ptx.operands[first]);
    if (last > first + 1) expected = uniform(ptx.operands[first + 1]);
  }
  Value* predicates = i32(0);
  if (reduces) {
    Value* lanes =
        values_.operand(inst, ptx.operands[ptx.operand_count - 1], Type::pred, true, false);
    if (ptx.has(Modifier::and_)) lanes = b_.CreateNot(lanes);
    predicates = b_.CreateAnd(builder_.bits_of(lanes), mask_bits());
  }
  lowering_.reports().report_barrier(inst, id, expected);
  const bool waits = !ptx.has(Modifier::arrive);
  llvm::Type *pointer = b_.getPtrTy(), *word = b_.getInt32Ty();
  auto* type = llvm::FunctionType::get(
      b_.getVoidTy(), {pointer, pointer, pointer, word, word, word, word, word, word}, false);
  frame_.call_runtime(offsetof(RuntimeTable, independent_barrier), type,
                      {frame_.record(), frame_.state(), warp_frame_.field(0), mask_bits(), id,
                       expected, predicates, i32(waits ? 1 : 0), i32(2 * index + 1)});
  b_.CreateBr(waits ? dispatch_ : resumes_[index]);

  begin_part(index, resumes_[index]);
  if (reduces) {
    Value* count = warp_frame_.load(offsetof(IndependentWarp, participants), vector_of(word));
    Value* none = llvm::Constant::getNullValue(count->getType());
    Value* result = count;
    Type result_type = ptx.has(Modifier::popc) ? Type::u32 : Type::pred;
    if (ptx.has(Modifier::or_)) result = b_.CreateICmpNE(count, none);
    if (ptx.has(Modifier::and_)) result = b_.CreateICmpEQ(count, none);
    values_.define_result(inst, inst.writes[0].first, result, result_type);
  }
  leave_block(index, {mask()});
}

uint32_t IndependentThreads::warp_sync_kind(const ptx::Instruction& instruction) {
  std::string name(ptx::text_of(instruction.opcode));
  for (Modifier modifier : instruction.modifiers) name += ptx::text_of(modifier);
  for (unsigned i = 0; i < instruction.type_count; ++i) name += ptx::text_of(instruction.types[i]);
  return operations_.try_emplace(name, static_cast<uint32_t>(operations_.size() + 1)).first->second;
}

/// Generates a warp operation that waits for its members. If all of them are in the active group,
/// the operation completes at once; otherwise the lanes wait in the runtime.
void IndependentThreads::emit_warp_sync(uint32_t index) {
  const Inst& inst = kernel_.blocks[position_.block].insts.back();
  const auto& ptx = *inst.ptx;
  builder_.set_location(&ptx);
  auto* word = b_.getInt32Ty();
  Value* members = splat(i32(UINT32_MAX));
  if (has_member_mask(ptx)) {
    members = values_.operand(inst, ptx.operands[ptx.operand_count - 1], Type::u32, true, false);
  }
  warp_frame_.store(offsetof(IndependentWarp, members), members, mask());
  const bool brings = has_member_mask(ptx) && ptx.opcode != ptx::Opcode::elect &&
                      ptx.opcode != ptx::Opcode::bar && ptx.opcode != ptx::Opcode::barrier;
  if (brings) {
    const bool is_vote = ptx.opcode == ptx::Opcode::vote;
    const bool is_shuffle = ptx.opcode == ptx::Opcode::shfl;
    const Type type = is_vote ? Type::pred : is_shuffle ? Type::b32 : ptx.type();
    Value* content = values_.operand(inst, ptx.operands[1], type, true, !is_vote);
    content = builder_.as_type(content, b_.getIntNTy(content->getType()->getScalarSizeInBits()));
    warp_frame_.store(offsetof(IndependentWarp, sent),
                      b_.CreateZExt(content, vector_of(b_.getInt64Ty())), mask());
  }
  Value* wanted = builder_.of_first_lane(members, mask_bits());
  Value* others = b_.CreateAnd(mask(), b_.CreateICmpNE(members, splat(wanted)));
  wanted = b_.CreateAnd(wanted, warp_frame_.load(offsetof(IndependentWarp, live), word));
  Value* complete =
      b_.CreateAnd(b_.CreateICmpEQ(wanted, mask_bits()), b_.CreateNot(builder_.any(others)));
  auto *here = builder_.new_block("synced"), *wait = builder_.new_block("sync");
  b_.CreateCondBr(complete, here, wait);
  b_.SetInsertPoint(wait);
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy(), word, word, word}, false);
  frame_.call_runtime(
      offsetof(RuntimeTable, independent_sync), type,
      {warp_frame_.field(0), mask_bits(), i32(warp_sync_kind(ptx)), i32(2 * index + 1)});
  b_.CreateBr(dispatch_);
  b_.SetInsertPoint(here);
  auto* wide = vector_of(b_.getInt64Ty());
  if (brings) {
    warp_frame_.store(offsetof(IndependentWarp, received),
                      warp_frame_.load(offsetof(IndependentWarp, sent), wide), mask());
  }
  warp_frame_.store(offsetof(IndependentWarp, participants), mask_bits(), mask());
  b_.CreateBr(resumes_[index]);
  emit_after_warp_sync(index);
}

/// Generates the warp operation itself, in the state that lanes enter once all members have
/// arrived.
void IndependentThreads::emit_after_warp_sync(uint32_t index) {
  begin_part(index, resumes_[index]);
  const Inst& inst = kernel_.blocks[position_.block].insts.back();
  lowering_.warp().set_participants(builder_.of_first_lane(
      warp_frame_.load(offsetof(IndependentWarp, participants), vector_of(b_.getInt32Ty())),
      mask_bits()));
  lowering_.lower(inst);
  lowering_.warp().set_participants(nullptr);
  // Other participants that are ready run before this group continues, because its next warp
  // operation could overwrite the operands that they received.
  const BlockId next = kernel_.blocks[position_.block].succs[0];
  edges_.contribute_phis(index, 0, mask());
  leave_to(next, mask());
  Value* ready = warp_frame_.load(offsetof(IndependentWarp, ready), b_.getInt32Ty());
  if (!continues_directly(index, next)) {
    b_.CreateBr(dispatch_);
    return;
  }
  b_.CreateCondBr(b_.CreateICmpEQ(ready, i32(0)), bodies_[plan_.linear[0].step_of[next]],
                  dispatch_);
}

}  // namespace km::simt
