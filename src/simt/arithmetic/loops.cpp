#include "simt/arithmetic/loops.h"

namespace km::simt {

namespace {

llvm::BasicBlock* add_block(llvm::IRBuilder<>& builder, const char* name) {
  auto* function = builder.GetInsertBlock()->getParent();
  return llvm::BasicBlock::Create(builder.getContext(), name, function);
}

}  // namespace

void emit_loop(llvm::IRBuilder<>& builder, llvm::Value* end, uint64_t step,
               const std::function<void(llvm::Value* offset)>& body) {
  auto* before = builder.GetInsertBlock();
  auto *loop = add_block(builder, "loop"), *done = add_block(builder, "loop.done");
  builder.CreateCondBr(builder.CreateICmpNE(end, builder.getInt64(0)), loop, done);
  builder.SetInsertPoint(loop);
  auto* offset = builder.CreatePHI(builder.getInt64Ty(), 2);
  offset->addIncoming(builder.getInt64(0), before);
  body(offset);
  llvm::Value* next = builder.CreateAdd(offset, builder.getInt64(step));
  offset->addIncoming(next, builder.GetInsertBlock());
  builder.CreateCondBr(builder.CreateICmpULT(next, end), loop, done);
  builder.SetInsertPoint(done);
}

void emit_if(llvm::IRBuilder<>& builder, llvm::Value* condition, const std::function<void()>& then,
             const std::function<void()>& otherwise) {
  auto *yes = add_block(builder, "then"), *no = add_block(builder, "else");
  auto* done = add_block(builder, "if.done");
  builder.CreateCondBr(condition, yes, no);
  builder.SetInsertPoint(yes);
  then();
  builder.CreateBr(done);
  builder.SetInsertPoint(no);
  otherwise();
  builder.CreateBr(done);
  builder.SetInsertPoint(done);
}

void emit_lane_loop(llvm::IRBuilder<>& builder, llvm::Value* bits, const LaneBody& body) {
  auto* before = builder.GetInsertBlock();
  auto *loop = add_block(builder, "lane"), *done = add_block(builder, "done");
  builder.CreateCondBr(builder.CreateICmpNE(bits, builder.getInt32(0)), loop, done);
  builder.SetInsertPoint(loop);
  auto* left = builder.CreatePHI(builder.getInt32Ty(), 2);
  left->addIncoming(bits, before);
  llvm::Value* lane = builder.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, left, builder.getTrue());
  body(builder, lane);
  llvm::Value* next = builder.CreateAnd(left, builder.CreateSub(left, builder.getInt32(1)));
  left->addIncoming(next, builder.GetInsertBlock());
  builder.CreateCondBr(builder.CreateICmpNE(next, builder.getInt32(0)), loop, done);
  builder.SetInsertPoint(done);
}

}  // namespace km::simt
