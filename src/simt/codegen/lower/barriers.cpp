#include "simt/codegen/lower/barriers.h"

#include "simt/codegen/lower/tensors/warpgroup_matrices.h"
#include "simt/kernel/warpgroup_rules.h"

namespace km::simt {

using ptx::Modifier;
using ptx::Operand;
using ptx::Type;

void Barriers::lower_fence(const Inst& inst) {
  const bool light = inst.ptx->has(Modifier::acq_rel) || inst.ptx->has(Modifier::acquire) ||
                     inst.ptx->has(Modifier::release) || inst.ptx->has(Modifier::cta);
  b_.CreateFence(light ? llvm::AtomicOrdering::AcquireRelease
                       : llvm::AtomicOrdering::SequentiallyConsistent);
}

void Barriers::lower_barrier(const Inst& inst) {
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
    Value *id = i32(kClusterBarrier), *expected = i32(0);
    if (is_warpgroup_wait(ptx)) {
      id = warpgroup_barrier(builder_, frame_);
      expected = i32(kWarpgroupThreads);
    } else {
      if (last > first) id = values_.operand(inst, ptx.operands[first], Type::u32, false, false);
      if (last > first + 1)
        expected = values_.operand(inst, ptx.operands[first + 1], Type::u32, false, false);
    }
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
