#include "simt/codegen/modes/barrier_spill.h"

#include <functional>
#include <set>

#include "base/assert.h"
#include "simt/codegen/lower/lowering.h"
#include "simt/transform/exact_reads.h"

namespace km::simt {

void BarrierSpill::create_variables() {
  for (const auto& [key, slot] : code_plan_.spills.slots()) {
    SpillVariables& variables = spill_variables_[key];
    variables.type = spill_type(key, slot);
    KM_ASSERT(variables.type->getPrimitiveSizeInBits() <= 8 * slot.size_bytes,
              "a value fits into its spill slot");
    if (!slot.block_uniform) continue;
    variables.in = builder_.variable(variables.type, "in");
    variables.out = builder_.variable(variables.type, "out");
  }
  if (!plan_.splits_at_barriers) return;
  for (const BasicBlock& block : kernel_.blocks) {
    if (block.terminator != Terminator::barrier) continue;
    for (const auto& write : block.insts.back().writes) {
      barrier_sums_[write.second] = builder_.variable(b_.getInt32Ty(), "sum");
    }
  }
}

void BarrierSpill::begin_region(uint32_t region) {
  for (const auto& key : code_plan_.spills.made_in(region)) {
    const SpillVariables& slot = spill_variables_.at(key);
    b_.CreateStore(b_.CreateLoad(slot.type, slot.in), slot.out);
  }
  for (auto& [value, sum] : barrier_sums_) b_.CreateStore(i32(0), sum);
}

void BarrierSpill::add_to_sum(const Inst& barrier) {
  const ptx::Operand& last = barrier.ptx->operands[barrier.ptx->operand_count - 1];
  Value* predicate = values_.operand(barrier, last, ptx::Type::pred, true, false);
  if (barrier.ptx->has(ptx::Modifier::and_)) predicate = b_.CreateNot(predicate);
  Value* bits = builder_.bits_of(builder_.and_masks(mask(), predicate));
  Value* count = b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, bits);
  auto* sum = barrier_sums_.at(barrier.writes[0].second);
  b_.CreateStore(b_.CreateAdd(b_.CreateLoad(b_.getInt32Ty(), sum), count), sum);
}

/// The type in which a slot stores its value.
llvm::Type* BarrierSpill::spill_type(const SpillKey& key, const SpillSlot& slot) {
  auto* element = type_of(kernel_.values[key.first].type);
  if (slot.block_uniform) return element;
  switch (slot.form) {
    case SpillSlot::Form::flag:
      return b_.getInt8Ty();
    case SpillSlot::Form::lanes:
      return vector_of(element);
    case SpillSlot::Form::lane_bits:
      return b_.getInt32Ty();
    default:
      return element;
  }
}

void BarrierSpill::load(uint32_t region) {
  for (ValueId value : code_plan_.constants.kept(region)) {
    values_.begin_kept(value, plan_.shapes->loop_left(kernel_, value, position_.block));
  }
  KM_ASSERT(context_point_ == nullptr, "the loads of the previous packet have been inserted");
  // The region's values are known only after its code, so an unused freeze marks the insertion
  // point until load_needed() removes it.
  context_point_ = b_.Insert(new llvm::FreezeInst(b_.getTrue()));
  rematerialise(region);
}

void BarrierSpill::load_needed(uint32_t region) {
  if (context_point_ == nullptr) return;
  const llvm::IRBuilder<>::InsertPointGuard guard(b_);
  b_.SetInsertPoint(context_point_);
  for (ValueId value : code_plan_.constants.kept(region)) {
    if (const auto loop = values_.end_kept(value)) load_value(value, *loop);
  }
  context_point_->eraseFromParent();
  context_point_ = nullptr;
}

/// Loads one value into its variable, or into the variable for values that left `loop`.
void BarrierSpill::load_value(ValueId value, uint32_t loop) {
  const SpillSlot& slot = code_plan_.spills.slot({value, loop});
  const SpillVariables& variables = spill_variables_.at({value, loop});
  KM_ASSERT(slot.block_uniform == (variables.in != nullptr),
            "exactly the block-uniform values are kept in variables");
  const Values::Place target =
      loop == UINT32_MAX ? values_.value_variable(value) : values_.loop_variable(value, loop);
  if (slot.block_uniform) {
    b_.CreateStore(b_.CreateLoad(variables.type, variables.in), target.pointer);
    return;
  }
  Value* packet = b_.CreateLoad(b_.getInt32Ty(), frame_.packet());
  Value* content = builder_.in_context(
      b_.CreateAlignedLoad(variables.type, frame_.packet_slot(packet, slot.offset_bytes),
                           llvm::Align(slot.size_bytes >= 64 ? 64 : 8)));
  const bool is_predicate = kernel_.values[value].type == ptx::Type::pred;
  if (is_predicate && target.type == builder_.mask_storage()) {
    Value* bits = b_.CreateTrunc(content, b_.getIntNTy(lanes_));
    builder_.store_mask(target.pointer, b_.CreateBitCast(bits, vector_of(b_.getInt1Ty())));
  } else {
    if (is_predicate) content = b_.CreateTrunc(content, b_.getInt1Ty());
    b_.CreateStore(content, target.pointer);
  }
}

/// Recomputes at the region's start the cheap values that the region reads, which costs less than
/// storing and loading them for each packet.
void BarrierSpill::rematerialise(uint32_t region) {
  std::set<ValueId> needed;
  std::function<void(ValueId)> need = [&](ValueId value) {
    if (value == kNone || kernel_.values[value].block == kNone) return;
    if (!is_rematerialised(kernel_, value) || !needed.insert(value).second) return;
    const auto& info = kernel_.values[value];
    for (const auto& read : kernel_.blocks[info.block].insts[info.instruction].reads) {
      need(read.second);
    }
  };
  auto need_reads = [&](const Inst& inst) {
    for (const auto& read : inst.reads) need(read.second);
    for (ValueId read : code_plan_.addresses.reads(inst)) need(read);
    for (ValueId old : inst.old_values) need(old);
    need(inst.guard);
  };
  for (BlockId b : plan_.regions.list[region].blocks) {
    for (const Inst& inst : kernel_.blocks[b].insts) need_reads(inst);
    need(kernel_.blocks[b].condition);
    const auto& succs = kernel_.blocks[b].succs;
    for (size_t edge = 0; edge < succs.size(); ++edge) {
      for (const Phi& phi : kernel_.blocks[succs[edge]].phis)
        need(phi.inputs[edges_.slot(b, edge)]);
    }
  }
  // A speculative value that crossed the barrier is recomputed from these if it wrapped.
  for (ValueId value : plan_.regions.live_in[region]) {
    for (ValueId read : exact_reads(kernel_, *plan_.shapes, value)) need(read);
  }
  std::set<ValueId> done;
  std::function<void(ValueId)> make = [&](ValueId value) {
    if (!needed.count(value) || !done.insert(value).second) return;
    const auto& info = kernel_.values[value];
    const Inst& inst = kernel_.blocks[info.block].insts[info.instruction];
    for (const auto& read : inst.reads) make(read.second);
    make_again(inst, value, plan_.regions.list[region].entry);
  };
  for (ValueId value : needed) make(value);
  builder_.forget_values();
}

/// Generates the value's instruction at the position of its own basic block, because its shape
/// after a divergent loop differs from the shape inside it.
void BarrierSpill::make_again(const Inst& inst, ValueId value, BlockId entry) {
  position_.block = kernel_.values[value].block;
  lowering_.lower(inst);
  const uint32_t loop = plan_.shapes->loop_left(kernel_, value, entry);
  if (loop != UINT32_MAX) values_.store_loop_value(value, loop, nullptr);
  position_.block = entry;
}

void BarrierSpill::save(uint32_t region, BlockId barrier) {
  Value* packet = b_.CreateLoad(b_.getInt32Ty(), frame_.packet());
  for (const SpillKey& key : code_plan_.spills.saves(region, barrier)) {
    const auto [value, loop] = key;
    const SpillSlot& slot = code_plan_.spills.slot(key);
    Value* content = loop == UINT32_MAX ? values_.stored(value) : values_.vector(value);
    if (slot.block_uniform) {
      b_.CreateStore(content, spill_variables_.at(key).out);
      continue;
    }
    if (kernel_.values[value].type == ptx::Type::pred) {
      content = content->getType()->isVectorTy() ? builder_.bits_of(content)
                                                 : b_.CreateZExt(content, b_.getInt8Ty());
    }
    builder_.in_context(b_.CreateAlignedStore(content,
                                              frame_.packet_slot(packet, slot.offset_bytes),
                                              llvm::Align(slot.size_bytes >= 64 ? 64 : 8)));
  }
}

void BarrierSpill::commit(uint32_t region) {
  for (const auto& key : code_plan_.spills.made_in(region)) {
    const SpillVariables& slot = spill_variables_.at(key);
    auto sum = barrier_sums_.find(key.first);
    if (sum == barrier_sums_.end()) {
      b_.CreateStore(b_.CreateLoad(slot.type, slot.out), slot.in);
      continue;
    }
    const auto& info = kernel_.values[key.first];
    const Inst& inst = kernel_.blocks[info.block].insts[info.instruction];
    Value* count = b_.CreateLoad(b_.getInt32Ty(), sum->second);
    Value* was_here = b_.CreateICmpEQ(b_.CreateLoad(b_.getInt32Ty(), frame_.next_region()),
                                      i32(plan_.regions.after_barrier[info.block]));
    Value* result = count;
    if (inst.ptx->has(ptx::Modifier::or_)) result = b_.CreateICmpNE(count, i32(0));
    if (inst.ptx->has(ptx::Modifier::and_)) result = b_.CreateICmpEQ(count, i32(0));
    Value* old = b_.CreateLoad(slot.type, slot.in);
    b_.CreateStore(b_.CreateSelect(was_here, result, old), slot.in);
  }
}

}  // namespace km::simt
