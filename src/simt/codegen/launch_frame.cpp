#include "simt/codegen/launch_frame.h"

#include <utility>

#include "base/assert.h"
#include "simt/passes/merge_shared_atomics.h"

namespace km::simt {

LaunchFrame::LaunchFrame(CodeBuilder& builder, const CodePlan& plan)
    : EmitterBase(builder, plan),
      local_offset_bytes_(plan.spills.local_offset_bytes()),
      scratch_bytes_(plan.spills.scratch_bytes()) {}

void LaunchFrame::load() {
  auto* pointer = b_.getPtrTy();
  record_ = builder_.entry()->getArg(0);
  state_ = builder_.entry()->getArg(1);
  const auto load = [&](Value* from, uint64_t offset, llvm::Type* type) {
    return builder_.load_field(from, offset, type, true);
  };
  params_ = load(record_, offsetof(LaunchRecord, params), pointer);
  variables_ = load(record_, offsetof(LaunchRecord, variables), pointer);
  runtime_ = load(record_, offsetof(LaunchRecord, runtime), pointer);
  shared_ = load(state_, offsetof(BlockState, shared), b_.getInt64Ty());
  scratch_ = load(state_, offsetof(BlockState, scratch), b_.getInt64Ty());
}

void LaunchFrame::create_variables() {
  auto* word = b_.getInt32Ty();
  for (auto*& index : block_index_) index = builder_.variable(word, "ctaid");
  packet_ = builder_.variable(word, "packet");
  first_thread_ = builder_.variable(word, "first");
  next_region_ = builder_.variable(word, "next");
}

void LaunchFrame::take_scratch_of(Value* warp) {
  Value* own = b_.CreateMul(b_.CreateZExt(warp, b_.getInt64Ty()), i64(scratch_bytes_));
  scratch_ = b_.CreateAdd(scratch_, own);
}

void LaunchFrame::lay_out(uint64_t local_offset_bytes, uint64_t scratch_bytes) {
  KM_ASSERT(local_offset_bytes <= scratch_bytes, "local memory is a part of scratch memory");
  local_offset_bytes_ = local_offset_bytes;
  scratch_bytes_ = scratch_bytes;
}

void LaunchFrame::load_block() {
  for (unsigned d = 0; d < 3; ++d) {
    b_.CreateStore(
        builder_.load_field(state_, offsetof(BlockState, block) + 4 * d, b_.getInt32Ty(), false),
        block_index_[d]);
  }
}

void LaunchFrame::note_block() {
  Value* slot = b_.CreateConstGEP1_64(b_.getInt8Ty(), state_, offsetof(BlockState, block));
  b_.CreateStore(b_.CreateLoad(b_.getInt32Ty(), block_index_[0]), slot);
}

llvm::CallInst* LaunchFrame::call_runtime(uint64_t entry, llvm::FunctionType* type,
                                          std::vector<Value*> arguments) {
  Value* function = builder_.load_field(runtime_, entry, b_.getPtrTy(), true);
  auto* call = b_.CreateCall(type, function, arguments);
  call->setDoesNotThrow();
  return call;
}

void LaunchFrame::note_line() {
  Value* line = b_.CreateConstGEP1_64(b_.getInt8Ty(), state_, offsetof(BlockState, line));
  llvm::StoreInst* note = b_.CreateStore(i32(builder_.current_line()), line);
  note->setMetadata(kLineMetadata, llvm::MDNode::get(context_, {}));
}

void LaunchFrame::raise(FaultKind kind) {
  Value* lane = b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, mask_bits(), b_.getFalse());
  Value* thread = b_.CreateAdd(b_.CreateLoad(b_.getInt32Ty(), first_thread_), lane);
  // The line is an argument because LLVM may merge such calls, which would lose their debug
  // locations.
  end_launch(b_, runtime_, offsetof(RuntimeTable, raise),
             {state_, i32(static_cast<uint32_t>(kind)), i64(0), i64(0), thread,
              i32(builder_.current_line())});
  b_.SetInsertPoint(builder_.new_block("raised"));
}

llvm::Value* LaunchFrame::block_size(unsigned dimension) {
  const uint32_t known = plan_.variant.block[dimension];
  if (known != 0) return i32(known);
  return builder_.load_field(record_, offsetof(LaunchRecord, block) + 4 * dimension,
                             b_.getInt32Ty(), true);
}

llvm::Value* LaunchFrame::block_threads() {
  return b_.CreateMul(b_.CreateMul(block_size(0), block_size(1)), block_size(2));
}

llvm::Value* LaunchFrame::block_packets() {
  return b_.CreateUDiv(b_.CreateAdd(block_threads(), i32(lanes_ - 1)), i32(lanes_));
}

llvm::Value* LaunchFrame::block_index(unsigned dimension) {
  reads_block_ = true;
  return b_.CreateLoad(b_.getInt32Ty(), block_index_[dimension]);
}

llvm::Value* LaunchFrame::packet_slot(Value* packet, uint64_t offset_bytes) {
  KM_ASSERT(offset_bytes < code_plan_.spills.packet_bytes(),
            "a spill slot starts inside its packet's part of scratch memory");
  Value* index =
      b_.CreateMul(b_.CreateZExt(packet, b_.getInt64Ty()), i64(code_plan_.spills.packet_bytes()));
  Value* own =
      b_.CreateAdd(b_.CreateAdd(scratch_, i64(code_plan_.spills.context_offset_bytes())), index);
  return b_.CreateIntToPtr(b_.CreateAdd(own, i64(offset_bytes)), b_.getPtrTy());
}

void LaunchFrame::yield() {
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy(), b_.getPtrTy()}, false);
  call_runtime(offsetof(RuntimeTable, yield), type, {record_, state_});
}

}  // namespace km::simt
