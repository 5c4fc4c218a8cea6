// The parts of CodeBuilder for lanes, masks, branches, and the bits of values.
#include <llvm/Analysis/ConstantFolding.h>
#include <llvm/IR/MDBuilder.h>

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "simt/codegen/builder.h"

namespace km::simt {

using ptx::Operand;
using ptx::Type;

std::string element_name(llvm::Type* type) {
  return (type->isFloatingPointTy() ? "f" : "i") + std::to_string(type->getScalarSizeInBits());
}

void end_launch(llvm::IRBuilder<>& b, llvm::Value* runtime, uint64_t entry,
                const std::vector<llvm::Value*>& arguments) {
  std::vector<llvm::Type*> types;
  for (llvm::Value* argument : arguments) types.push_back(argument->getType());
  auto* type = llvm::FunctionType::get(b.getVoidTy(), types, false);
  llvm::Value* slot = b.CreateConstGEP1_64(b.getInt8Ty(), runtime, entry);
  auto* call = b.CreateCall(type, b.CreateLoad(b.getPtrTy(), slot), arguments);
  call->setDoesNotThrow();
  call->setDoesNotReturn();
  call->addFnAttr(llvm::Attribute::Cold);
  b.CreateUnreachable();
}

llvm::Value* CodeBuilder::splat(Value* scalar) {
  if (scalar->getType()->isVectorTy()) return scalar;
  const bool is_mask = machine().has_mask_registers() && scalar->getType()->isIntegerTy(1);
  if (!is_mask || llvm::isa<llvm::Constant>(scalar)) return b_.CreateVectorSplat(lanes_, scalar);
  // LLVM broadcasts an i1 through a vector of bytes. Sign-extending it to an integer with one bit
  // per lane gives the content of a mask register directly.
  Value* bits = b_.CreateSExt(scalar, b_.getIntNTy(lanes_));
  return b_.CreateBitCast(bits, vector_of(b_.getInt1Ty()));
}

llvm::Value* CodeBuilder::lane_numbers() {
  std::vector<llvm::Constant*> list;
  for (uint32_t l = 0; l < lanes_; ++l) list.push_back(b_.getInt32(l));
  return llvm::ConstantVector::get(list);
}

llvm::Value* CodeBuilder::lane_of(Value* content, Value* lane) {
  return content->getType()->isVectorTy() ? b_.CreateExtractElement(content, lane) : content;
}

llvm::Value* CodeBuilder::of_first_lane(Value* lanes, Value* bits) {
  KM_ASSERT(bits->getType()->isIntegerTy(32), "the bits of a mask are an i32");
  Value* lane = b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, bits, b_.getFalse());
  return b_.CreateExtractElement(lanes, b_.CreateAnd(lane, i32(lanes_ - 1)));
}

void CodeBuilder::for_each_lane(Value* bits, const std::function<void(Value* lane)>& body) {
  auto *loop = new_block("lane"), *done = new_block("lanes.done");
  auto* left = variable(b_.getInt32Ty(), "left");
  b_.CreateStore(bits, left);
  b_.CreateCondBr(b_.CreateICmpNE(bits, i32(0)), loop, done);
  b_.SetInsertPoint(loop);
  Value* rest = b_.CreateLoad(b_.getInt32Ty(), left);
  Value* lane = b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, rest, b_.getTrue());
  body(lane);
  Value* next = b_.CreateAnd(rest, b_.CreateSub(rest, i32(1)));
  b_.CreateStore(next, left);
  b_.CreateCondBr(b_.CreateICmpNE(next, i32(0)), loop, done);
  b_.SetInsertPoint(done);
}

llvm::Value* CodeBuilder::as_type(Value* value, llvm::Type* element) {
  auto* type = value->getType();
  auto* wanted = type->isVectorTy() ? static_cast<llvm::Type*>(vector_of(element)) : element;
  KM_ASSERT(
      type->getScalarSizeInBits() == wanted->getScalarSizeInBits() || type->isPtrOrPtrVectorTy(),
      "reinterpreting bits keeps the element size");
  return type == wanted ? value : b_.CreateBitCast(value, wanted);
}

llvm::Value* CodeBuilder::coerce(Value* value, Type from, Type to) {
  auto* wanted = type_of(to);
  if (value->getType()->getScalarType() == wanted) return value;
  const unsigned have = ptx::size_bits(from), want = ptx::size_bits(to);
  value = as_type(value, b_.getIntNTy(have));
  if (want != have) {
    auto* narrow = b_.getIntNTy(want);
    auto* type =
        value->getType()->isVectorTy() ? static_cast<llvm::Type*>(vector_of(narrow)) : narrow;
    value = b_.CreateZExtOrTrunc(value, type);
  }
  return as_type(value, wanted);
}

llvm::Value* CodeBuilder::widen_to_register(Value* value, Type type, Type reg_type) {
  auto* wanted = type_of(reg_type);
  if (value->getType()->getScalarType() == wanted) return value;
  const unsigned have = value->getType()->getScalarSizeInBits(), want = ptx::size_bits(reg_type);
  value = as_type(value, b_.getIntNTy(have));
  if (want != have) {
    auto* wide = b_.getIntNTy(want);
    auto* to = value->getType()->isVectorTy() ? static_cast<llvm::Type*>(vector_of(wide)) : wide;
    value =
        ptx::is_signed(type) ? b_.CreateSExtOrTrunc(value, to) : b_.CreateZExtOrTrunc(value, to);
  }
  return as_type(value, wanted);
}

llvm::Value* CodeBuilder::immediate(const Operand& operand, Type type) {
  auto* wanted = type_of(type);
  KM_ASSERT(operand.kind == Operand::Kind::immediate, "the operand is an immediate");
  const unsigned bits = std::max(1u, ptx::size_bits(type));
  if (bits > 64) return llvm::ConstantInt::get(wanted, operand.bits);
  auto* integer =
      llvm::ConstantInt::get(b_.getIntNTy(bits), llvm::APInt(64, operand.bits).trunc(bits));
  if (wanted->isIntegerTy()) return integer;
  return llvm::ConstantExpr::getBitCast(integer, wanted);
}

llvm::Value* CodeBuilder::canonical_bits(Value* content) {
  auto* type = content->getType()->getScalarType();
  const unsigned bits = type->getScalarSizeInBits();
  if (bits != 32 && bits != 64) return content;
  Value* real = as_type(content, bits == 32 ? b_.getFloatTy() : b_.getDoubleTy());
  return as_type(arithmetic_.canonical_nan(real), type);
}

// ---- Masks.

void CodeBuilder::set_mask(Value* mask) {
  KM_ASSERT(mask == nullptr || mask->getType() == vector_of(b_.getInt1Ty()),
            "a mask is a vector with one i1 per lane");
  mask_ = mask;
  mask_bits_ = nullptr;
}

llvm::Value* CodeBuilder::mask_bits() {
  if (mask_bits_ == nullptr) mask_bits_ = bits_of(mask_);
  return mask_bits_;
}

llvm::Value* CodeBuilder::mask_of(Value* bits) {
  KM_ASSERT(bits->getType()->getScalarSizeInBits() == lanes_,
            "the bits of a mask are as many as a packet's lanes");
  return b_.CreateBitCast(bits, vector_of(b_.getInt1Ty()));
}

llvm::Value* CodeBuilder::and_masks(Value* a, Value* b) {
  if (a == nullptr) return b;
  if (b == nullptr) return a;
  KM_ASSERT(a->getType() == b->getType(), "combined masks have equal numbers of lanes");
  return b_.CreateAnd(a, b);
}

llvm::Value* CodeBuilder::bits_of(Value* mask) {
  if (mask == nullptr) return i32(all_lanes());
  auto* type = b_.getIntNTy(lanes_);
  if (auto* known = llvm::dyn_cast<llvm::Constant>(mask)) {
    constexpr auto kCast = llvm::Instruction::BitCast;
    known = llvm::ConstantFoldCastOperand(kCast, known, type, module_.getDataLayout());
    if (auto* number = llvm::dyn_cast_or_null<llvm::ConstantInt>(known)) {
      return i32(static_cast<uint32_t>(number->getZExtValue()));
    }
  }
  Value* bits = b_.CreateBitCast(mask, type);
  return lanes_ == 32 ? bits : b_.CreateZExt(bits, b_.getInt32Ty());
}

llvm::Value* CodeBuilder::any(Value* mask) {
  if (mask == nullptr) return b_.getTrue();
  Value* bits = b_.CreateBitCast(mask, b_.getIntNTy(lanes_));
  return b_.CreateICmpNE(bits, llvm::ConstantInt::get(bits->getType(), 0));
}

llvm::Value* CodeBuilder::all(Value* mask) {
  if (mask == nullptr) return b_.getTrue();
  Value* bits = b_.CreateBitCast(mask, b_.getIntNTy(lanes_));
  return b_.CreateICmpEQ(bits, llvm::ConstantInt::getAllOnesValue(bits->getType()));
}

void CodeBuilder::store_mask(Value* pointer, Value* content) {
  if (!content->getType()->isVectorTy()) content = splat(content);
  b_.CreateStore(machine().has_mask_registers() ? content : b_.CreateSExt(content, mask_storage_),
                 pointer);
}

// ---- Branches.

namespace {

/// Restores a variable's content at the end of the scope: bits of a mask that a branch computed
/// lazily do not dominate the code after the branch.
template <class T>
class Restore {
 public:
  explicit Restore(T& target) : target_(target), saved_(target) {}
  ~Restore() { target_ = std::move(saved_); }

 private:
  T& target_;
  T saved_;
};

}  // namespace

void CodeBuilder::branch_unlikely(Value* condition, const std::function<void()>& then) {
  const ValueCache::Scope values(values_), vectors(vectors_);
  const Restore bits(mask_bits_);
  auto *taken = new_block("unlikely"), *go_on = new_block("go.on");
  b_.CreateCondBr(condition, taken, go_on, llvm::MDBuilder(context_).createUnlikelyBranchWeights());
  b_.SetInsertPoint(taken);
  then();
  b_.CreateBr(go_on);
  b_.SetInsertPoint(go_on);
}

std::vector<llvm::Value*> CodeBuilder::choose(Value* condition,
                                              const std::function<std::vector<Value*>()>& fast,
                                              const std::function<std::vector<Value*>()>& slow) {
  if (auto* constant = llvm::dyn_cast<llvm::ConstantInt>(condition)) {
    return constant->isOne() ? fast() : slow();
  }
  auto *yes = new_block("fast"), *no = new_block("slow"), *join = new_block("join");
  b_.CreateCondBr(condition, yes, no);
  std::vector<std::vector<Value*>> results;
  std::vector<llvm::BasicBlock*> ends;
  for (const auto* side : {&fast, &slow}) {
    const ValueCache::Scope values(values_), vectors(vectors_);
    const Restore bits(mask_bits_);
    b_.SetInsertPoint(side == &fast ? yes : no);
    results.push_back((*side)());
    ends.push_back(b_.GetInsertBlock());
    b_.CreateBr(join);
  }
  KM_ASSERT(std::equal(results[0].begin(), results[0].end(), results[1].begin(), results[1].end(),
                       [](const Value* a, const Value* b) { return a->getType() == b->getType(); }),
            "both sides of the branch return results of equal types");
  b_.SetInsertPoint(join);
  std::vector<Value*> merged;
  for (size_t i = 0; i < results[0].size(); ++i) {
    auto* phi = b_.CreatePHI(results[0][i]->getType(), 2);
    phi->addIncoming(results[0][i], ends[0]);
    phi->addIncoming(results[1][i], ends[1]);
    merged.push_back(phi);
  }
  return merged;
}

}  // namespace km::simt
