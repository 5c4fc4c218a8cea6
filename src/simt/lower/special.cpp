// Special registers, symbol addresses, fences, barriers as calls, traps, printf and assert.
#include <llvm/IR/MDBuilder.h>

#include <algorithm>

#include "simt/emit/emitter.h"

namespace km::simt {

using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

void Emitter::lower_isspacep(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  const bool lanes = !values_.results_are_scalar(inst);
  Value* address = values_.operand(inst, ptx.operands[1], Type::u64, lanes, false);
  auto wide = [&](Value* value) { return lanes ? splat(value) : value; };
  auto within = [&](Value* base, Value* size) {
    return b_.CreateICmpULT(b_.CreateSub(address, wide(base)), wide(size));
  };
  Value* shared = registers_.is_in_window(address, frame_.shared());
  const uint64_t local_bytes = frame_.scratch_bytes() - frame_.local_offset_bytes();
  Value* local =
      within(b_.CreateAdd(frame_.scratch(), i64(frame_.local_offset_bytes())), i64(local_bytes));
  Value* result = nullptr;
  if (ptx.has(Modifier::shared_cluster)) {
    result = registers_.is_cluster_address(address);
  } else if (ptx.has(Modifier::shared) || ptx.has(Modifier::shared_cta)) {
    result = shared;
  } else if (ptx.has(Modifier::local)) {
    result = local;
  } else if (ptx.has(Modifier::global)) {
    result = b_.CreateNot(b_.CreateOr(registers_.is_shared_address(address), local));
  } else {
    result = wide(b_.getFalse());
  }
  values_.define_result(inst, ptx.operands[0].reg, result, Type::pred);
}

void Emitter::lower_fence(const Inst& inst) {
  const bool light = inst.ptx->has(Modifier::acq_rel) || inst.ptx->has(Modifier::acquire) ||
                     inst.ptx->has(Modifier::release) || inst.ptx->has(Modifier::cta);
  b_.CreateFence(light ? llvm::AtomicOrdering::AcquireRelease
                       : llvm::AtomicOrdering::SequentiallyConsistent);
}

void Emitter::lower_call(const Inst& inst) {
  for (unsigned i = 0; i < inst.ptx->operand_count; ++i) {
    const Operand& operand = inst.ptx->operands[i];
    if (operand.kind != Operand::Kind::symbol || operand.local_symbol) continue;
    const std::string& name = kernel_.module->symbols[operand.symbol].name;
    if (name == "vprintf") return lower_print(inst);
    if (name == "malloc") return lower_malloc(inst);
    if (name == "free") return lower_free(inst);
    return lower_assert(inst);
  }
}

namespace {

/// The argument list of a call: the last list operand.
const Operand* arguments_of(const ptx::Instruction& ptx) {
  const Operand* result = nullptr;
  bool after_target = false;
  for (unsigned i = 0; i < ptx.operand_count; ++i) {
    if (ptx.operands[i].kind == Operand::Kind::symbol) after_target = true;
    if (after_target && ptx.operands[i].kind == Operand::Kind::list) result = &ptx.operands[i];
  }
  return result;
}

}  // namespace

void Emitter::lower_print(const Inst& inst) {
  const Operand* list = arguments_of(*inst.ptx);
  const auto& pool = kernel_.function->operand_pool;
  Value* format = values_.operand(inst, pool[list->first], Type::u64, true, false);
  Value* values = values_.operand(inst, pool[list->first + 1], Type::u64, true, false);
  auto* type = llvm::FunctionType::get(
      b_.getInt32Ty(),
      {b_.getPtrTy(), b_.getPtrTy(), b_.getInt64Ty(), b_.getInt64Ty(), b_.getInt32Ty()}, false);
  auto* results = builder_.variable(vector_of(b_.getInt32Ty()), "printed");
  Value* first = b_.CreateLoad(b_.getInt32Ty(), frame_.first_thread());
  builder_.for_each_lane(mask_bits(), [&](Value* lane) {
    Value* count =
        frame_.call_runtime(offsetof(RuntimeTable, print), type,
                            {frame_.record(), frame_.state(), builder_.lane_of(format, lane),
                             builder_.lane_of(values, lane), b_.CreateAdd(first, lane)});
    Value* old = b_.CreateLoad(vector_of(b_.getInt32Ty()), results);
    b_.CreateStore(b_.CreateInsertElement(old, count, lane), results);
  });
  if (inst.writes.empty()) return;
  Value* counts = b_.CreateLoad(vector_of(b_.getInt32Ty()), results);
  values_.define_result(inst, inst.writes[0].first, counts, Type::s32);
}

/// Null where the heap has no room.
void Emitter::lower_malloc(const Inst& inst) {
  const Operand* list = arguments_of(*inst.ptx);
  const auto& pool = kernel_.function->operand_pool;
  Value* sizes = values_.operand(inst, pool[list->first], Type::u64, true, false);
  auto* word = b_.getInt64Ty();
  auto* type = llvm::FunctionType::get(word, {b_.getPtrTy(), b_.getPtrTy(), word}, false);
  auto* results = builder_.variable(vector_of(word), "allocated");
  builder_.for_each_lane(mask_bits(), [&](Value* lane) {
    Value* address =
        frame_.call_runtime(offsetof(RuntimeTable, allocate), type,
                            {frame_.record(), frame_.state(), builder_.lane_of(sizes, lane)});
    Value* old = b_.CreateLoad(vector_of(word), results);
    b_.CreateStore(b_.CreateInsertElement(old, address, lane), results);
  });
  if (inst.writes.empty()) return;
  values_.define_result(inst, inst.writes[0].first, b_.CreateLoad(vector_of(word), results),
                        Type::u64);
}

void Emitter::lower_free(const Inst& inst) {
  const Operand* list = arguments_of(*inst.ptx);
  const auto& pool = kernel_.function->operand_pool;
  Value* addresses = values_.operand(inst, pool[list->first], Type::u64, true, false);
  auto* type = llvm::FunctionType::get(
      b_.getVoidTy(), {b_.getPtrTy(), b_.getPtrTy(), b_.getInt64Ty(), b_.getInt32Ty()}, false);
  Value* first = b_.CreateLoad(b_.getInt32Ty(), frame_.first_thread());
  builder_.for_each_lane(mask_bits(), [&](Value* lane) {
    frame_.call_runtime(offsetof(RuntimeTable, release), type,
                        {frame_.record(), frame_.state(), builder_.lane_of(addresses, lane),
                         b_.CreateAdd(first, lane)});
  });
}

/// Each lane reports its failure. Then nothing more happens in them, nor in those beside them,
/// which GPUs stop as well: in mode c lanes of a group, else packets, of which others go on.
void Emitter::lower_assert(const Inst& inst) {
  const Operand* list = arguments_of(*inst.ptx);
  const auto& pool = kernel_.function->operand_pool;
  const auto argument = [&](uint32_t i, Type type) {
    return values_.operand(inst, pool[list->first + i], type, true, false);
  };
  Value *message = argument(0, Type::u64), *file = argument(1, Type::u64);
  Value *line = argument(2, Type::u32), *function = argument(3, Type::u64);
  auto* type =
      llvm::FunctionType::get(b_.getVoidTy(),
                              {b_.getPtrTy(), b_.getPtrTy(), b_.getInt64Ty(), b_.getInt64Ty(),
                               b_.getInt32Ty(), b_.getInt64Ty(), b_.getInt32Ty()},
                              false);
  Value* first = b_.CreateLoad(b_.getInt32Ty(), frame_.first_thread());
  builder_.for_each_lane(mask_bits(), [&](Value* lane) {
    frame_.call_runtime(offsetof(RuntimeTable, assert_fail), type,
                        {frame_.record(), frame_.state(), builder_.lane_of(message, lane),
                         builder_.lane_of(file, lane), builder_.lane_of(line, lane),
                         builder_.lane_of(function, lane), b_.CreateAdd(first, lane)});
  });
  asserts_ = true;
  if (plan_.has_independent_threads()) {
    exit_group();
  } else {
    b_.CreateBr(packet_end_);
  }
  b_.SetInsertPoint(
      builder_.new_block("after.assert"));  // what the kernel has behind it: never entered
}

/// A barrier where regions are not split: nothing for a block of one packet, else a call that
/// suspends the warp.
void Emitter::lower_barrier_call(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  const bool reduces = ptx.has(Modifier::red);
  Value* count = nullptr;
  if (reduces) {
    const Operand& predicate = ptx.operands[ptx.operand_count - 1];
    Value* lanes = values_.operand(inst, predicate, Type::pred, true, false);
    if (ptx.has(Modifier::and_)) lanes = b_.CreateNot(lanes);
    Value* bits = b_.CreateAnd(builder_.bits_of(lanes), mask_bits());
    count = b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, bits);
  }
  if (plan_.mode != Mode::run_to_completion) {
    const unsigned first = reduces ? 1 : 0;
    const unsigned last = ptx.operand_count - (reduces ? 1 : 0);
    Value* id = i32(kClusterBarrier);
    if (last > first) id = values_.operand(inst, ptx.operands[first], Type::u32, false, false);
    Value* expected = i32(0);
    if (last > first + 1)
      expected = values_.operand(inst, ptx.operands[first + 1], Type::u32, false, false);
    Value* start = b_.CreateLoad(b_.getInt32Ty(), frame_.first_thread());
    Value* left = b_.CreateSub(frame_.block_threads(), start);
    Value* here = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, left, i32(kWarpLanes));
    auto* word = b_.getInt32Ty();
    if (reduces) {
      auto* type = llvm::FunctionType::get(
          word, {b_.getPtrTy(), b_.getPtrTy(), word, word, word, word}, false);
      count = frame_.call_runtime(offsetof(RuntimeTable, barrier_reduce), type,
                                  {frame_.record(), frame_.state(), id, expected, here, count});
    } else {
      auto* type = llvm::FunctionType::get(b_.getVoidTy(),
                                           {b_.getPtrTy(), b_.getPtrTy(), word, word, word}, false);
      frame_.call_runtime(ptx.has(Modifier::arrive) ? offsetof(RuntimeTable, barrier_arrive)
                                                    : offsetof(RuntimeTable, barrier_wait),
                          type, {frame_.record(), frame_.state(), id, expected, here});
    }
  }
  if (!reduces) return;
  Value* result = count;
  Type type = Type::u32;
  if (ptx.has(Modifier::or_)) result = b_.CreateICmpNE(count, i32(0));
  if (ptx.has(Modifier::and_)) result = b_.CreateICmpEQ(count, i32(0));
  if (!ptx.has(Modifier::popc)) type = Type::pred;
  values_.define_result(inst, inst.writes[0].first, result, type);
}

}  // namespace km::simt
