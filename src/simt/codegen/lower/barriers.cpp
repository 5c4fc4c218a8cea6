#include "simt/codegen/lower/barriers.h"

#include "simt/codegen/lower/tensors/warpgroup_matrices.h"
#include "simt/kernel/warpgroup_rules.h"

namespace km::simt {

using ptx::Modifier;
using ptx::Operand;
using ptx::Type;

void lower_fence(CodeBuilder& builder, const Inst& inst) {
  const bool light = inst.ptx->has(Modifier::acq_rel) || inst.ptx->has(Modifier::acquire) ||
                     inst.ptx->has(Modifier::release) || inst.ptx->has(Modifier::cta);
  builder.ir().CreateFence(light ? llvm::AtomicOrdering::AcquireRelease
                                 : llvm::AtomicOrdering::SequentiallyConsistent);
}

void lower_barrier(CodeBuilder& builder, const Plan& plan, LaunchFrame& frame, Values& values,
                   AccessReports& reports, const Inst& inst) {
  llvm::IRBuilder<>& b = builder.ir();
  const auto& ptx = *inst.ptx;
  const bool reduces = ptx.has(Modifier::red);
  llvm::Value* count = nullptr;
  if (reduces) {
    const Operand& predicate = ptx.operands[ptx.operand_count - 1];
    llvm::Value* lanes = values.operand(inst, predicate, Type::pred, true, false);
    if (ptx.has(Modifier::and_)) lanes = b.CreateNot(lanes);
    llvm::Value* bits = b.CreateAnd(builder.bits_of(lanes), builder.mask_bits());
    count = b.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, bits);
  }
  if (plan.mode != Mode::run_to_completion) {
    const unsigned first = reduces ? 1 : 0;
    const unsigned last = ptx.operand_count - (reduces ? 1 : 0);
    llvm::Value *id = b.getInt32(kClusterBarrier), *expected = b.getInt32(0);
    if (is_warpgroup_wait(ptx)) {
      id = warpgroup_barrier(builder, frame);
      expected = b.getInt32(kWarpgroupThreads);
    } else {
      if (last > first) id = values.operand(inst, ptx.operands[first], Type::u32, false, false);
      if (last > first + 1)
        expected = values.operand(inst, ptx.operands[first + 1], Type::u32, false, false);
    }
    reports.report_barrier(inst, id, expected);
    llvm::Value* start = b.CreateLoad(b.getInt32Ty(), frame.first_thread());
    llvm::Value* left = b.CreateSub(frame.block_threads(), start);
    llvm::Value* here =
        b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, left, b.getInt32(kWarpLanes));
    auto* word = b.getInt32Ty();
    if (reduces) {
      auto* type = llvm::FunctionType::get(
          word, {b.getPtrTy(), b.getPtrTy(), word, word, word, word}, false);
      count = frame.call_runtime(offsetof(RuntimeTable, barrier_reduce), type,
                                 {frame.record(), frame.state(), id, expected, here, count});
    } else {
      auto* type = llvm::FunctionType::get(b.getVoidTy(),
                                           {b.getPtrTy(), b.getPtrTy(), word, word, word}, false);
      frame.call_runtime(ptx.has(Modifier::arrive) ? offsetof(RuntimeTable, barrier_arrive)
                                                   : offsetof(RuntimeTable, barrier_wait),
                         type, {frame.record(), frame.state(), id, expected, here});
    }
  }
  if (!reduces) return;
  llvm::Value* result = count;
  Type type = Type::u32;
  if (ptx.has(Modifier::or_)) result = b.CreateICmpNE(count, b.getInt32(0));
  if (ptx.has(Modifier::and_)) result = b.CreateICmpEQ(count, b.getInt32(0));
  if (!ptx.has(Modifier::popc)) type = Type::pred;
  values.define_result(inst, inst.writes[0].first, result, type);
}

}  // namespace km::simt
