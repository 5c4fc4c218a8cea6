// Out-of-line functions of a module: what would be hundreds of instructions at every use.
#include <llvm/IR/MDBuilder.h>

#include "simt/emit/emitter.h"
#include "simt/lower/loops.h"

namespace km::simt {

using ptx::Modifier;
using ptx::Type;

bool Emitter::is_short_atomic(const ptx::Instruction& instruction) {
  return !ptx::is_float(instruction.type()) && !instruction.has(Modifier::cas) &&
         !instruction.has(Modifier::inc) && !instruction.has(Modifier::dec);
}

/// The atomic operation of every active lane in turn, lowest first; `gives`: old values out. Where
/// the operation is short, all lanes being active is a case of its own, without a loop.
llvm::Function* Emitter::atomic_helper(const ptx::Instruction& instruction, bool shared,
                                       bool gives) {
  std::string name = (shared ? "shared_" : "") + form_name(instruction) + (gives ? "" : "_unread");
  if (auto* found = builder_.helper(name)) return found;
  auto* element = type_of(instruction.type());
  auto* addresses = vector_of(b_.getInt64Ty());
  auto* content_type = vector_of(element);
  auto* function = builder_.new_helper(name, gives ? content_type : b_.getVoidTy(),
                                       {addresses, content_type, content_type, b_.getInt32Ty()});
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context_, "start", function));
  const unsigned arguments = instruction.has(Modifier::cas) ? 3 : 2;
  llvm::AllocaInst* slots[4];
  for (unsigned i = 0; i < arguments; ++i) {
    slots[i] = builder.CreateAlloca(function->getArg(i)->getType());
    builder.CreateStore(function->getArg(i), slots[i]);
  }
  if (gives) {
    slots[3] = builder.CreateAlloca(content_type);
    builder.CreateStore(llvm::Constant::getNullValue(content_type), slots[3]);
  }
  auto operate = [&](llvm::IRBuilder<>& b, Value* lane) {
    Value* at = b.CreateLoad(b.getInt64Ty(), b.CreateGEP(b.getInt64Ty(), slots[0], lane));
    Value* first = b.CreateLoad(element, b.CreateGEP(element, slots[1], lane));
    Value* second = first;
    if (arguments == 3) second = b.CreateLoad(element, b.CreateGEP(element, slots[2], lane));
    Value* pointer = b.CreateIntToPtr(at, b.getPtrTy());
    Value* old = atomic_operation(b, instruction, pointer, first, second, shared);
    if (gives) b.CreateStore(old, b.CreateGEP(element, slots[3], lane));
  };
  auto finish = [&] {
    if (gives) {
      builder.CreateRet(builder.CreateLoad(content_type, slots[3]));
    } else {
      builder.CreateRetVoid();
    }
  };
  Value* bits = function->getArg(3);
  if (is_short_atomic(instruction)) {
    auto* all_block = llvm::BasicBlock::Create(context_, "all", function);
    auto* some = llvm::BasicBlock::Create(context_, "some", function);
    builder.CreateCondBr(builder.CreateICmpEQ(bits, i32(builder_.all_lanes())), all_block, some);
    builder.SetInsertPoint(all_block);
    for (uint32_t lane = 0; lane < lanes_; ++lane) operate(builder, builder.getInt32(lane));
    finish();
    builder.SetInsertPoint(some);
  }
  emit_lane_loop(builder, bits, operate);
  finish();
  return function;
}

/// An atomic operation on memory that no other thread uses, whose old values nobody reads. Two
/// offsets into the memory leave a vector at a time.
llvm::Function* Emitter::private_reduction_helper(const ptx::Instruction& instruction,
                                                  llvm::Type* content_type) {
  const bool uniform = !content_type->isVectorTy();
  const std::string name = "private_" + form_name(instruction) + (uniform ? "_uniform" : "");
  if (auto* found = builder_.helper(name)) return found;
  auto *word = b_.getInt32Ty(), *pair = b_.getInt64Ty();
  auto* offsets_type = vector_of(word);
  auto* function =
      builder_.new_helper(name, b_.getVoidTy(), {b_.getPtrTy(), offsets_type, content_type, word});
  Value *memory = function->getArg(0), *offsets = function->getArg(1);
  Value *content = function->getArg(2), *bits = function->getArg(3);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context_, "start", function));
  auto operate = [&](llvm::IRBuilder<>& b, Value* offset, Value* own) {
    Value* at = b.CreateGEP(b.getInt8Ty(), memory, offset);
    atomic_operation(b, instruction, at, own, own, true);
  };
  auto* slots = builder.CreateAlloca(offsets_type);
  auto* contents = uniform ? nullptr : builder.CreateAlloca(content_type);
  auto* all_block = llvm::BasicBlock::Create(context_, "all", function);
  auto* some = llvm::BasicBlock::Create(context_, "some", function);
  builder.CreateCondBr(builder.CreateICmpEQ(bits, i32(builder_.all_lanes())), all_block, some);
  builder.SetInsertPoint(all_block);
  Value* pairs = builder.CreateBitCast(offsets, llvm::FixedVectorType::get(pair, lanes_ / 2));
  for (uint32_t l = 0; l < lanes_; ++l) {
    Value* both = builder.CreateExtractElement(pairs, l / 2);
    Value* offset = l % 2 == 0 ? builder.CreateSExt(builder.CreateTrunc(both, word), pair)
                               : builder.CreateAShr(both, 32);
    operate(builder, offset, uniform ? content : builder.CreateExtractElement(content, l));
  }
  builder.CreateRetVoid();
  builder.SetInsertPoint(some);
  builder.CreateStore(offsets, slots);
  if (!uniform) builder.CreateStore(content, contents);
  emit_lane_loop(builder, bits, [&](llvm::IRBuilder<>& b, Value* lane) {
    Value* offset = b.CreateLoad(word, b.CreateGEP(word, slots, lane));
    Value* own = content;
    if (!uniform) {
      auto* element = content_type->getScalarType();
      own = b.CreateLoad(element, b.CreateGEP(element, contents, lane));
    }
    operate(b, b.CreateSExt(offset, pair), own);
  });
  builder.CreateRetVoid();
  return function;
}

/// result[l] = source[index[l] mod lanes], for instruction sets without a wide permute.
llvm::Function* Emitter::permute_helper() {
  const std::string name = "permute";
  if (auto* found = builder_.helper(name)) return found;
  auto* words = vector_of(b_.getInt32Ty());
  auto* function = builder_.new_helper(name, words, {words, words});
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context_, "start", function));
  auto* table = builder.CreateAlloca(words);
  builder.CreateStore(function->getArg(0), table);
  Value* result = llvm::PoisonValue::get(words);
  for (uint32_t l = 0; l < lanes_; ++l) {
    Value* index = builder.CreateAnd(builder.CreateExtractElement(function->getArg(1), l),
                                     builder.getInt32(lanes_ - 1));
    Value* picked = builder.CreateLoad(builder.getInt32Ty(),
                                       builder.CreateGEP(builder.getInt32Ty(), table, index));
    result = builder.CreateInsertElement(result, picked, l);
  }
  builder.CreateRet(result);
  return function;
}

/// match.any: for every active lane the mask of active lanes with the same value.
llvm::Function* Emitter::match_helper(llvm::Type* element, bool match_all) {
  const std::string name =
      std::string(match_all ? "match_all_" : "match_any_") + element_name(element);
  if (auto* found = builder_.helper(name)) return found;
  auto* words = vector_of(b_.getInt32Ty());
  auto* content_type = vector_of(element);
  auto* function = builder_.new_helper(name, words, {content_type, words, b_.getInt32Ty()});
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context_, "start", function));
  auto* table = builder.CreateAlloca(content_type);
  auto* groups = builder.CreateAlloca(words);
  auto* results = builder.CreateAlloca(words);
  builder.CreateStore(function->getArg(0), table);
  builder.CreateStore(function->getArg(1), groups);
  builder.CreateStore(llvm::Constant::getNullValue(words), results);
  emit_lane_loop(builder, function->getArg(2), [&](llvm::IRBuilder<>& b, Value* lane) {
    Value* bits = b.CreateLoad(b.getInt32Ty(), b.CreateGEP(b.getInt32Ty(), groups, lane));
    Value* own = b.CreateLoad(element, b.CreateGEP(element, table, lane));
    Value* equal = b.CreateICmpEQ(function->getArg(0), b.CreateVectorSplat(lanes_, own));
    Value* same = b.CreateAnd(b.CreateBitCast(equal, b.getInt32Ty()), bits);
    if (match_all) {
      same = b.CreateSelect(b.CreateICmpEQ(same, bits), bits, b.getInt32(0));
    }
    b.CreateStore(same, b.CreateGEP(b.getInt32Ty(), results, lane));
  });
  builder.CreateRet(builder.CreateLoad(words, results));
  return function;
}

}  // namespace km::simt
