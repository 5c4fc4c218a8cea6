#include "simt/codegen/lower/lanes/lane_helpers.h"

#include <llvm/IR/MDBuilder.h>

#include <algorithm>

#include "simt/arithmetic/loops.h"
#include "simt/codegen/lower/lanes/lane_offsets.h"

namespace km::simt {

namespace {

/// The addresses of a helper's lanes, passed as a vector of addresses or as a base and a vector of
/// indices.
class LanePlaces {
 public:
  /// The builder must be in the function's entry block, because an alloca is created there.
  LanePlaces(llvm::IRBuilder<>& b, llvm::Function* function, uint32_t scale)
      : scale_(scale), lanes_(function->getArg(count() - 1)), indices_(lanes_) {
    if (scale_ != 0) base_ = function->getArg(0);
    slots_ = b.CreateAlloca(lanes_->getType());
  }

  /// The types of the arguments in which the addresses are passed.
  static std::vector<llvm::Type*> types(llvm::IRBuilder<>& b, uint32_t lanes, uint32_t scale) {
    if (scale == 0) return {llvm::FixedVectorType::get(b.getInt64Ty(), lanes)};
    return {b.getInt64Ty(), llvm::FixedVectorType::get(b.getInt32Ty(), lanes)};
  }

  /// The number of these arguments.
  unsigned count() const { return scale_ == 0 ? 1 : 2; }

  /// The address of a lane with a constant number.
  llvm::Value* at(llvm::IRBuilder<>& b, uint32_t lane) {
    return pointer(b, scale_ == 0 ? b.CreateExtractElement(lanes_, lane) : indices_.at(b, lane));
  }

  /// The low bits of each address, in elements as wide as the argument's. Alignment depends only on
  /// these bits.
  llvm::Value* low(llvm::IRBuilder<>& b) {
    if (scale_ == 0) return lanes_;
    auto* type = llvm::cast<llvm::FixedVectorType>(lanes_->getType());
    llvm::Value* base = b.CreateTrunc(base_, type->getElementType());
    llvm::Value* scale = llvm::ConstantInt::get(type, scale_);
    return b.CreateAdd(b.CreateMul(lanes_, scale),
                       b.CreateVectorSplat(type->getNumElements(), base));
  }

  /// Copies the lanes to memory, so that at() can index them by a variable number.
  void store(llvm::IRBuilder<>& b) { b.CreateStore(lanes_, slots_); }
  /// The address of a lane with a variable number, after store().
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
  llvm::Value* const lanes_;
  LaneOffsets indices_;
  llvm::Value *base_ = nullptr, *slots_ = nullptr;
};

std::string scaled_name(const std::string& name, uint32_t scale) {
  return scale == 0 ? name : name + "_by_" + std::to_string(scale);
}

std::string access_name(const char* what, llvm::Type* element, bool is_volatile, uint32_t scale) {
  const std::string name = what + std::string(is_volatile ? "volatile_" : "");
  return scaled_name(name + element_name(element), scale);
}

}  // namespace

llvm::Function* gather_helper(CodeBuilder& codegen, llvm::Type* element, bool is_volatile,
                              uint32_t scale) {
  const std::string name = access_name("gather_", element, is_volatile, scale);
  if (auto* found = codegen.helper(name)) return found;
  std::vector<llvm::Type*> types = LanePlaces::types(codegen.ir(), codegen.lanes(), scale);
  types.push_back(codegen.ir().getInt32Ty());
  auto* result_type = codegen.vector_of(element);
  auto* function = codegen.new_helper(name, result_type, types);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(codegen.context(), "start", function));
  auto* all_block = llvm::BasicBlock::Create(codegen.context(), "all", function);
  auto* some = llvm::BasicBlock::Create(codegen.context(), "some", function);
  LanePlaces places(builder, function, scale);
  llvm::Value* bits = function->getArg(places.count());
  const llvm::Align align(std::max(1u, element->getScalarSizeInBits() / 8));
  auto* results = builder.CreateAlloca(result_type);
  builder.CreateCondBr(builder.CreateICmpEQ(bits, builder.getInt32(codegen.all_lanes())), all_block,
                       some);
  builder.SetInsertPoint(all_block);
  llvm::Value* content = llvm::PoisonValue::get(result_type);
  for (uint32_t l = 0; l < codegen.lanes(); ++l) {
    llvm::Value* loaded =
        builder.CreateAlignedLoad(element, places.at(builder, l), align, is_volatile);
    content = builder.CreateInsertElement(content, loaded, l);
  }
  builder.CreateRet(content);
  builder.SetInsertPoint(some);
  places.store(builder);
  builder.CreateStore(llvm::Constant::getNullValue(result_type), results);
  emit_lane_loop(builder, bits, [&](llvm::IRBuilder<>& b, llvm::Value* lane) {
    llvm::Value* loaded = b.CreateAlignedLoad(element, places.at(b, lane), align, is_volatile);
    b.CreateStore(loaded, b.CreateGEP(element, results, lane));
  });
  builder.CreateRet(builder.CreateLoad(result_type, results));
  return function;
}

llvm::Function* alignment_helper(CodeBuilder& codegen, uint32_t scale) {
  const std::string name = scaled_name("aligned", scale);
  if (auto* found = codegen.helper(name)) return found;
  std::vector<llvm::Type*> types = LanePlaces::types(codegen.ir(), codegen.lanes(), scale);
  auto* word = codegen.ir().getInt32Ty();
  auto* pointer = codegen.ir().getPtrTy();
  types.insert(types.end(), {word, codegen.ir().getInt64Ty(), pointer, pointer});
  auto* function = codegen.new_helper(name, codegen.ir().getVoidTy(), types);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(codegen.context(), "start", function));
  LanePlaces places(builder, function, scale);
  auto argument = [&](unsigned i) { return function->getArg(places.count() + i); };
  llvm::Value* site = argument(1);
  llvm::Value* low = places.low(builder);
  llvm::Value* size_bytes = builder.CreateTrunc(
      builder.CreateLShr(site, 8 * offsetof(AccessSite, size_bytes)), builder.getInt16Ty());
  llvm::Value* rest = builder.CreateSub(size_bytes, builder.getInt16(1));
  rest = builder.CreateVectorSplat(codegen.lanes(),
                                   builder.CreateZExt(rest, low->getType()->getScalarType()));
  llvm::Value* odd = builder.CreateIsNotNull(builder.CreateAnd(low, rest));
  llvm::Value* bad = builder.CreateBitCast(odd, builder.getIntNTy(codegen.lanes()));
  bad = builder.CreateAnd(builder.CreateZExt(bad, word), argument(0));
  auto* misaligned = llvm::BasicBlock::Create(codegen.context(), "misaligned", function);
  auto* good = llvm::BasicBlock::Create(codegen.context(), "good", function);
  builder.CreateCondBr(builder.CreateIsNotNull(bad), misaligned, good,
                       llvm::MDBuilder(codegen.context()).createUnlikelyBranchWeights());
  builder.SetInsertPoint(misaligned);
  places.store(builder);
  llvm::Value* lane = builder.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, bad, builder.getTrue());
  llvm::Value* place = builder.CreatePtrToInt(places.at(builder, lane), builder.getInt64Ty());
  end_launch(builder, argument(2), offsetof(RuntimeTable, misaligned),
             {argument(3), place, bad, site});
  builder.SetInsertPoint(good);
  builder.CreateRetVoid();
  return function;
}

llvm::Function* scatter_helper(CodeBuilder& codegen, llvm::Type* element, bool is_volatile,
                               uint32_t scale) {
  const std::string name = access_name("scatter_", element, is_volatile, scale);
  if (auto* found = codegen.helper(name)) return found;
  std::vector<llvm::Type*> types = LanePlaces::types(codegen.ir(), codegen.lanes(), scale);
  auto* content_type = codegen.vector_of(element);
  types.insert(types.end(), {content_type, codegen.ir().getInt32Ty()});
  auto* function = codegen.new_helper(name, codegen.ir().getVoidTy(), types);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(codegen.context(), "start", function));
  LanePlaces places(builder, function, scale);
  const llvm::Align align(std::max(1u, element->getScalarSizeInBits() / 8));
  places.store(builder);
  auto* contents = builder.CreateAlloca(content_type);
  builder.CreateStore(function->getArg(places.count()), contents);
  emit_lane_loop(
      builder, function->getArg(places.count() + 1), [&](llvm::IRBuilder<>& b, llvm::Value* lane) {
        llvm::Value* content = b.CreateLoad(element, b.CreateGEP(element, contents, lane));
        b.CreateAlignedStore(content, places.at(b, lane), align, is_volatile);
      });
  builder.CreateRetVoid();
  return function;
}

}  // namespace km::simt
