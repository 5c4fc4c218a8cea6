// Out-of-line functions of a module: what would be hundreds of instructions at every use.
#include <llvm/IR/MDBuilder.h>

#include "simt/emit/emitter.h"
#include "simt/lower/loops.h"

namespace km::simt {

using ptx::Modifier;
using ptx::Type;

namespace {

/// The places of a helper's lanes: a vector of addresses, or a base and a vector of indices.
class LanePlaces {
 public:
  /// `b` is in the function's first block.
  LanePlaces(llvm::IRBuilder<>& b, llvm::Function* function, uint32_t scale) : scale_(scale) {
    if (scale_ != 0) base_ = function->getArg(0);
    lanes_ = function->getArg(count() - 1);
    slots_ = b.CreateAlloca(lanes_->getType());
  }

  static std::vector<llvm::Type*> types(llvm::IRBuilder<>& b, uint32_t lanes, uint32_t scale) {
    if (scale == 0) return {llvm::FixedVectorType::get(b.getInt64Ty(), lanes)};
    return {b.getInt64Ty(), llvm::FixedVectorType::get(b.getInt32Ty(), lanes)};
  }

  unsigned count() const { return scale_ == 0 ? 1 : 2; }  // arguments

  /// The address of a lane whose number is known; two indices leave a vector at a time.
  llvm::Value* at(llvm::IRBuilder<>& b, uint32_t lane) {
    if (scale_ == 0) return pointer(b, b.CreateExtractElement(lanes_, lane));
    auto *word = b.getInt32Ty(), *pair = b.getInt64Ty();
    auto* type = llvm::cast<llvm::FixedVectorType>(lanes_->getType());
    if (pairs_ == nullptr) {
      pairs_ =
          b.CreateBitCast(lanes_, llvm::FixedVectorType::get(pair, type->getNumElements() / 2));
    }
    llvm::Value* both = b.CreateExtractElement(pairs_, lane / 2);
    return pointer(
        b, lane % 2 == 0 ? b.CreateSExt(b.CreateTrunc(both, word), pair) : b.CreateAShr(both, 32));
  }

  /// The bits from which alignment follows, as wide as the lanes are given.
  llvm::Value* low(llvm::IRBuilder<>& b) {
    if (scale_ == 0) return lanes_;
    auto* type = llvm::cast<llvm::FixedVectorType>(lanes_->getType());
    llvm::Value* base = b.CreateTrunc(base_, type->getElementType());
    llvm::Value* scale = llvm::ConstantInt::get(type, scale_);
    return b.CreateAdd(b.CreateMul(lanes_, scale),
                       b.CreateVectorSplat(type->getNumElements(), base));
  }

  /// For at() with lanes that are not known.
  void store(llvm::IRBuilder<>& b) { b.CreateStore(lanes_, slots_); }
  llvm::Value* at(llvm::IRBuilder<>& b, llvm::Value* lane) {
    auto* element = lanes_->getType()->getScalarType();
    llvm::Value* own = b.CreateLoad(element, b.CreateGEP(element, slots_, lane));
    return pointer(b, scale_ == 0 ? own : b.CreateSExt(own, b.getInt64Ty()));
  }

 private:
  llvm::Value* pointer(llvm::IRBuilder<>& b, llvm::Value* own) {
    if (scale_ == 0) return b.CreateIntToPtr(own, b.getPtrTy());
    return b.CreateGEP(b.getIntNTy(8 * scale_), b.CreateIntToPtr(base_, b.getPtrTy()), own);
  }

  const uint32_t scale_;
  llvm::Value *base_ = nullptr, *lanes_ = nullptr, *pairs_ = nullptr, *slots_ = nullptr;
};

std::string scaled_name(const std::string& name, uint32_t scale) {
  return scale == 0 ? name : name + "_by_" + std::to_string(scale);
}

std::string access_name(const char* what, llvm::Type* element, bool is_volatile, uint32_t scale) {
  const std::string name = what + std::string(is_volatile ? "volatile_" : "");
  return scaled_name(name + element_name(element), scale);
}

}  // namespace

/// Elements at the active lanes' places, zero elsewhere. All lanes active: straight loads into
/// registers (never through the stack, which stalls on the store buffer).
llvm::Function* Emitter::gather_helper(llvm::Type* element, bool is_volatile, uint32_t scale) {
  const std::string name = access_name("gather_", element, is_volatile, scale);
  if (auto* found = builder_.helper(name)) return found;
  std::vector<llvm::Type*> types = LanePlaces::types(b_, lanes_, scale);
  types.push_back(b_.getInt32Ty());
  auto* result_type = vector_of(element);
  auto* function = builder_.new_helper(name, result_type, types);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context_, "start", function));
  auto* all_block = llvm::BasicBlock::Create(context_, "all", function);
  auto* some = llvm::BasicBlock::Create(context_, "some", function);
  LanePlaces places(builder, function, scale);
  Value* bits = function->getArg(places.count());
  const llvm::Align align(std::max(1u, element->getScalarSizeInBits() / 8));
  auto* results = builder.CreateAlloca(result_type);
  builder.CreateCondBr(builder.CreateICmpEQ(bits, i32(builder_.all_lanes())), all_block, some);
  builder.SetInsertPoint(all_block);
  Value* content = llvm::PoisonValue::get(result_type);
  for (uint32_t l = 0; l < lanes_; ++l) {
    Value* loaded = builder.CreateAlignedLoad(element, places.at(builder, l), align, is_volatile);
    content = builder.CreateInsertElement(content, loaded, l);
  }
  builder.CreateRet(content);
  builder.SetInsertPoint(some);
  places.store(builder);
  builder.CreateStore(llvm::Constant::getNullValue(result_type), results);
  emit_lane_loop(builder, bits, [&](llvm::IRBuilder<>& b, Value* lane) {
    Value* loaded = b.CreateAlignedLoad(element, places.at(b, lane), align, is_volatile);
    b.CreateStore(loaded, b.CreateGEP(element, results, lane));
  });
  builder.CreateRet(builder.CreateLoad(result_type, results));
  return function;
}

/// Ends the launch where a lane of `bits` has a place that is no multiple of `size_bytes`. Takes
/// the places, `bits`, the AccessSite, the runtime's functions and the block's state.
llvm::Function* Emitter::alignment_helper(uint32_t scale) {
  const std::string name = scaled_name("aligned", scale);
  if (auto* found = builder_.helper(name)) return found;
  std::vector<llvm::Type*> types = LanePlaces::types(b_, lanes_, scale);
  auto* word = b_.getInt32Ty();
  auto* pointer = b_.getPtrTy();
  types.insert(types.end(), {word, b_.getInt64Ty(), pointer, pointer});
  auto* function = builder_.new_helper(name, b_.getVoidTy(), types);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context_, "start", function));
  LanePlaces places(builder, function, scale);
  auto argument = [&](unsigned i) { return function->getArg(places.count() + i); };
  Value* site = argument(1);
  Value* low = places.low(builder);
  Value* size_bytes = builder.CreateTrunc(
      builder.CreateLShr(site, 8 * offsetof(AccessSite, size_bytes)), builder.getInt16Ty());
  Value* rest = builder.CreateSub(size_bytes, builder.getInt16(1));
  rest =
      builder.CreateVectorSplat(lanes_, builder.CreateZExt(rest, low->getType()->getScalarType()));
  Value* odd = builder.CreateIsNotNull(builder.CreateAnd(low, rest));
  Value* bad = builder.CreateBitCast(odd, builder.getIntNTy(lanes_));
  bad = builder.CreateAnd(builder.CreateZExt(bad, word), argument(0));
  auto* misaligned = llvm::BasicBlock::Create(context_, "misaligned", function);
  auto* good = llvm::BasicBlock::Create(context_, "good", function);
  builder.CreateCondBr(builder.CreateIsNotNull(bad), misaligned, good,
                       llvm::MDBuilder(context_).createUnlikelyBranchWeights());
  builder.SetInsertPoint(misaligned);
  places.store(builder);
  Value* lane = builder.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, bad, builder.getTrue());
  Value* place = builder.CreatePtrToInt(places.at(builder, lane), builder.getInt64Ty());
  end_launch(builder, argument(2), offsetof(RuntimeTable, misaligned),
             {argument(3), place, bad, site});
  builder.SetInsertPoint(good);
  builder.CreateRetVoid();
  return function;
}

/// Stores the active lanes' elements, lowest lane first.
llvm::Function* Emitter::scatter_helper(llvm::Type* element, bool is_volatile, uint32_t scale) {
  const std::string name = access_name("scatter_", element, is_volatile, scale);
  if (auto* found = builder_.helper(name)) return found;
  std::vector<llvm::Type*> types = LanePlaces::types(b_, lanes_, scale);
  auto* content_type = vector_of(element);
  types.insert(types.end(), {content_type, b_.getInt32Ty()});
  auto* function = builder_.new_helper(name, b_.getVoidTy(), types);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context_, "start", function));
  LanePlaces places(builder, function, scale);
  const llvm::Align align(std::max(1u, element->getScalarSizeInBits() / 8));
  places.store(builder);
  auto* contents = builder.CreateAlloca(content_type);
  builder.CreateStore(function->getArg(places.count()), contents);
  emit_lane_loop(builder, function->getArg(places.count() + 1),
                 [&](llvm::IRBuilder<>& b, Value* lane) {
                   Value* content = b.CreateLoad(element, b.CreateGEP(element, contents, lane));
                   b.CreateAlignedStore(content, places.at(b, lane), align, is_volatile);
                 });
  builder.CreateRetVoid();
  return function;
}

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
