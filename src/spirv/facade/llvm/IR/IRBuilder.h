// The part of LLVM's IRBuilder that simt/arithmetic uses, under LLVM's names, making SPIR-V. The
// sources of simt/arithmetic are compiled a second time against this header in place of LLVM's, so
// that one text defines what an instruction of PTX computes, for both generators.
//
// Integers of 128 and 256 bits, which SPIR-V lacks, are lists of 64-bit ones (`limbs`).
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "spirv/ir/context.h"

namespace llvm {

using LLVMContext = km::spirv::Context;

class Type {
 public:
  enum class Kind : uint8_t { none, integer, real };

  Type(LLVMContext& context, Kind kind, unsigned bits, unsigned count)
      : context_(context), kind_(kind), bits_(bits), count_(count) {}

  LLVMContext& getContext() const { return context_; }
  Kind kind() const { return kind_; }
  unsigned bits() const { return bits_; }
  unsigned count() const { return count_; }  // elements; 0: a scalar
  bool is_wide() const { return kind_ == Kind::integer && bits_ > 64; }
  bool is_bool() const { return kind_ == Kind::integer && bits_ == 1; }
  /// True for integers of 8 and 16 bits that are words of 32 bits in the module, because the device
  /// lacks their type. The words' upper bits are zero.
  bool is_narrow() const;

  unsigned getScalarSizeInBits() const { return bits_; }
  bool isFloatTy() const { return kind_ == Kind::real && bits_ == 32 && count_ == 0; }
  bool isDoubleTy() const { return kind_ == Kind::real && bits_ == 64 && count_ == 0; }
  bool isVectorTy() const { return count_ != 0; }
  Type* getScalarType() const { return get(context_, kind_, bits_, 0); }

  static Type* get(LLVMContext& context, Kind kind, unsigned bits, unsigned count);
  static Type* getFloatTy(LLVMContext& context) { return get(context, Kind::real, 32, 0); }
  static Type* getDoubleTy(LLVMContext& context) { return get(context, Kind::real, 64, 0); }
  static Type* getVoidTy(LLVMContext& context) { return get(context, Kind::none, 0, 0); }
  static Type* getIntNTy(LLVMContext& context, unsigned bits) {
    return get(context, Kind::integer, bits, 0);
  }

  /// The type's identifier in the module; wide integers have none.
  km::spirv::Id id() const;

 private:
  LLVMContext& context_;
  Kind kind_;
  unsigned bits_, count_;
};

class FixedVectorType : public Type {
 public:
  static Type* get(Type* element, unsigned count) {
    return Type::get(element->getContext(), element->kind(), element->bits(), count);
  }
  unsigned getNumElements() const { return count(); }
};

class Value {
 public:
  Type* type = nullptr;
  /// 0 for wide integers, and for NaNs among constants where memory is an arena: translators and
  /// drivers of other interfaces than Vulkan take none, so that choices with them are made of bits.
  km::spirv::Id id = 0;
  bool is_constant = false;
  uint64_t content = 0;       // of a constant: its bits, the same in all elements
  std::vector<Value*> limbs;  // of a wide integer, the lowest first
  bool is_number = false;     // known not to be NaN

  Type* getType() const { return type; }
};

/// A value whose bits are known.
class Constant : public Value {
 public:
  static Value* getAllOnesValue(Type* type);
  static Value* getNullValue(Type* type);
};

class ConstantInt {
 public:
  static Value* get(Type* type, uint64_t value);
};

template <class To>
bool isa(const Value* value);
template <>
inline bool isa<Constant>(const Value* value) {
  return value->is_constant;
}
template <class To>
To* dyn_cast(Type* type);
template <>
inline FixedVectorType* dyn_cast<FixedVectorType>(Type* type) {
  return type->isVectorTy() ? static_cast<FixedVectorType*>(type) : nullptr;
}

template <class T>
class ArrayRef {
 public:
  ArrayRef(std::initializer_list<T> list) : items_(list) {}
  ArrayRef(const std::vector<T>& list) : items_(list) {}
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  const T& operator[](size_t index) const { return items_[index]; }
  size_t size() const { return items_.size(); }

 private:
  std::vector<T> items_;
};

namespace Intrinsic {
enum ID : uint8_t {
  abs,
  bitreverse,
  ceil,
  ctlz,
  ctpop,
  cttz,
  fabs,
  floor,
  fma,
  fshl,
  fshr,
  roundeven,
  sadd_sat,
  smax,
  smin,
  sqrt,
  ssub_sat,
  trunc,
  umax,
  umin,
};
}  // namespace Intrinsic

struct CmpInst {
  enum Predicate : uint8_t {
    FCMP_OEQ,
    FCMP_OGT,
    FCMP_OGE,
    FCMP_OLT,
    FCMP_OLE,
    FCMP_ONE,
    FCMP_ORD,
    FCMP_UNO,
    FCMP_UEQ,
    FCMP_UGT,
    FCMP_UGE,
    FCMP_ULT,
    FCMP_ULE,
    FCMP_UNE,
    ICMP_EQ,
    ICMP_NE,
    ICMP_UGT,
    ICMP_UGE,
    ICMP_ULT,
    ICMP_ULE,
    ICMP_SGT,
    ICMP_SGE,
    ICMP_SLT,
    ICMP_SLE,
    BAD_ICMP_PREDICATE,
  };
};

/// LLVM's module is here the context, which every type knows.
class Function;
class Module {
 public:
  explicit Module(LLVMContext& context) : context_(&context) {}
  LLVMContext& getContext() const { return *context_; }
  Function* getFunction(const std::string& name);

 private:
  LLVMContext* context_;
};

struct FunctionType {
  Type* result;
  std::vector<Type*> parameters;
  static FunctionType* get(Type* result, ArrayRef<Type*> parameters, bool variadic);
};

struct GlobalValue {
  enum LinkageTypes : uint8_t { InternalLinkage };
};

/// A function that generated code calls.
class Function {
 public:
  static Function* Create(FunctionType* type, GlobalValue::LinkageTypes linkage,
                          const std::string& name, Module& module);
  LLVMContext& getContext() const { return *context_; }
  Value* getArg(unsigned index) const { return arguments_[index]; }
  const std::vector<Value*>& arguments() const { return arguments_; }
  km::spirv::FunctionCode& code() const { return *code_; }
  Type* result() const { return result_; }

 private:
  LLVMContext* context_ = nullptr;
  Type* result_ = nullptr;
  km::spirv::FunctionCode* code_ = nullptr;
  std::vector<Value*> arguments_;
};

class BasicBlock {
 public:
  BasicBlock(LLVMContext& context, km::spirv::FunctionCode& code)
      : module_(context), code_(&code) {}
  static BasicBlock* Create(LLVMContext& context, const char* name, Function* function);
  Module* getModule() { return &module_; }
  km::spirv::FunctionCode& code() const { return *code_; }

 private:
  Module module_;
  km::spirv::FunctionCode* code_;
};

/// The state of a builder, and the instructions that know no kind of number: types, constants and
/// vectors.
class InstructionWriter {
 public:
  InstructionWriter(LLVMContext& context, km::spirv::FunctionCode& code)
      : context_(context), block_(context, code) {}

  LLVMContext& getContext() const { return context_; }
  BasicBlock* GetInsertBlock() { return &block_; }

  Type* getIntNTy(unsigned bits) const { return Type::getIntNTy(context_, bits); }
  Type* getInt1Ty() const { return getIntNTy(1); }
  Type* getInt8Ty() const { return getIntNTy(8); }
  Type* getInt16Ty() const { return getIntNTy(16); }
  Type* getInt32Ty() const { return getIntNTy(32); }
  Type* getInt64Ty() const { return getIntNTy(64); }
  Type* getFloatTy() const { return Type::getFloatTy(context_); }
  Type* getDoubleTy() const { return Type::getDoubleTy(context_); }
  Type* getHalfTy() const { return Type::get(context_, Type::Kind::real, 16, 0); }
  Value* getInt32(uint32_t value) { return ConstantInt::get(getInt32Ty(), value); }
  Value* getInt64(uint64_t value) { return ConstantInt::get(getInt64Ty(), value); }
  Value* getTrue() { return ConstantInt::get(getInt1Ty(), 1); }
  Value* getFalse() { return ConstantInt::get(getInt1Ty(), 0); }

  // ---- Vectors.
  Value* CreateExtractElement(Value* vector, uint64_t index);
  Value* CreateInsertElement(Value* vector, Value* element, uint64_t index);
  Value* CreateVectorSplat(unsigned count, Value* element);
  Value* CreateShuffleVector(Value* a, Value* c, const std::vector<int>& indices);
  Value* CreateShuffleVector(Value* a, const std::vector<int>& indices) {
    return CreateShuffleVector(a, a, indices);
  }

  // ---- SPIR-V.
  km::spirv::FunctionCode& code() const { return block_.code(); }
  /// Goes on in another function; returns the one before.
  km::spirv::FunctionCode& continue_in(km::spirv::FunctionCode& code) {
    km::spirv::FunctionCode& before = block_.code();
    block_ = BasicBlock(context_, code);
    return before;
  }
  /// One instruction with a result.
  Value* make(spv::Op op, Type* type, std::initializer_list<uint32_t> operands);
  Value* extended(uint32_t instruction, Type* type, std::initializer_list<uint32_t> operands);

 protected:
  void note_result(spv::Op op, km::spirv::Id made, std::span<const uint32_t> operands);
  Value* binary(spv::Op op, Value* a, Value* c);
  /// The value with the upper bits of a narrow word cleared.
  Value* fitted(Value* a);
  /// The word of a narrow value with its sign in the upper bits; other values as they are.
  Value* with_sign(Value* a);
  /// word_as() gives a value of another type with the same word.
  Value* word_as(Value* a, Type* type);
  /// The elements of a vector of narrow words in one integer, and the other way.
  Value* packed(Value* vector, Type* type);
  Value* unpacked(Value* whole, Type* type);

  LLVMContext& context_;
  BasicBlock block_;
};

/// The instructions on integers of all widths and on bits, with choices between values.
class IntegerBuilder : public InstructionWriter {
 public:
  using InstructionWriter::InstructionWriter;

  // ---- Integers.
  Value* CreateAdd(Value* a, Value* c);
  Value* CreateSub(Value* a, Value* c);
  Value* CreateMul(Value* a, Value* c);
  Value* CreateUDiv(Value* a, Value* c);
  Value* CreateSDiv(Value* a, Value* c);
  Value* CreateURem(Value* a, Value* c);
  Value* CreateNeg(Value* a);
  Value* CreateAnd(Value* a, Value* c);
  Value* CreateOr(Value* a, Value* c);
  Value* CreateXor(Value* a, Value* c);
  Value* CreateNot(Value* a);
  Value* CreateShl(Value* a, Value* amount);
  Value* CreateLShr(Value* a, Value* amount);
  Value* CreateAShr(Value* a, Value* amount);
  Value* CreateICmp(CmpInst::Predicate predicate, Value* a, Value* c);
#define KM_COMPARISON(name) \
  Value* CreateICmp##name(Value* a, Value* c) { return CreateICmp(CmpInst::ICMP_##name, a, c); }
  KM_COMPARISON(EQ)
  KM_COMPARISON(NE)
  KM_COMPARISON(UGT)
  KM_COMPARISON(UGE)
  KM_COMPARISON(ULT)
  KM_COMPARISON(ULE)
  KM_COMPARISON(SGT)
  KM_COMPARISON(SGE)
  KM_COMPARISON(SLT)
  KM_COMPARISON(SLE)
#undef KM_COMPARISON

  // ---- Conversions and choices.
  Value* CreateBitCast(Value* a, Type* type);
  Value* CreateTrunc(Value* a, Type* type) { return CreateZExtOrTrunc(a, type); }
  Value* CreateZExt(Value* a, Type* type) { return CreateZExtOrTrunc(a, type); }
  Value* CreateSExt(Value* a, Type* type) { return CreateSExtOrTrunc(a, type); }
  Value* CreateZExtOrTrunc(Value* a, Type* type);
  Value* CreateSExtOrTrunc(Value* a, Type* type);
  Value* CreateSelect(Value* condition, Value* yes, Value* no);

 private:
  Value* wide_binary(spv::Op op, Value* a, Value* c);
  Value* wide_add(Value* a, Value* c);
  Value* wide_product(Value* a, Value* c);
  Value* extended_by_sign(Value* a, Type* type);
  Value* short_amount(Value* amount);
  Value* wide_shift(Value* a, Value* amount, bool left, Value* fill);
  Value* wide_compare(CmpInst::Predicate predicate, Value* a, Value* c);
  Value* wide_of(Value* a, Type* type, Value* fill);
};

/// The whole builder: floating point, intrinsics and calls on top of integers.
class IRBuilderBase : public IntegerBuilder {
 public:
  using IntegerBuilder::IntegerBuilder;

  // ---- Floating point.
  Value* CreateFAdd(Value* a, Value* c);
  Value* CreateFSub(Value* a, Value* c);
  Value* CreateFMul(Value* a, Value* c);
  Value* CreateFDiv(Value* a, Value* c);
  Value* CreateFNeg(Value* a);
  Value* CreateFCmp(CmpInst::Predicate predicate, Value* a, Value* c);
#define KM_COMPARISON(name) \
  Value* CreateFCmp##name(Value* a, Value* c) { return CreateFCmp(CmpInst::FCMP_##name, a, c); }
  KM_COMPARISON(OEQ)
  KM_COMPARISON(OGT)
  KM_COMPARISON(OGE)
  KM_COMPARISON(OLT)
  KM_COMPARISON(OLE)
  KM_COMPARISON(ONE)
  KM_COMPARISON(ORD)
  KM_COMPARISON(UNO)
#undef KM_COMPARISON

  // ---- Conversions.
  Value* CreateSIToFP(Value* a, Type* type);
  Value* CreateUIToFP(Value* a, Type* type);
  Value* CreateFPToSI(Value* a, Type* type);
  Value* CreateFPExt(Value* a, Type* type);
  Value* CreateFPTrunc(Value* a, Type* type);

  // ---- Intrinsics and calls.
  Value* CreateIntrinsic(Intrinsic::ID id, ArrayRef<Type*> types, ArrayRef<Value*> values);
  Value* CreateUnaryIntrinsic(Intrinsic::ID id, Value* a) { return CreateIntrinsic(id, {}, {a}); }
  Value* CreateBinaryIntrinsic(Intrinsic::ID id, Value* a, Value* c) {
    return CreateIntrinsic(id, {}, {a, c});
  }
  Value* CreateCall(Function* function, ArrayRef<Value*> arguments);
  void CreateRet(Value* value);

 private:
  Value* arithmetic(spv::Op op, Value* a, Value* c);
  Value* plus_zero(Value* a, Value* zero);
  Value* times_zero(Value* a, Value* zero);
  Value* hidden(Value* a);
  Value* hidden_result(Value* a);
  Value* is_nan(Value* a);
  Value* rounded(uint32_t instruction, Value* a);
  Value* rounded_by_sums(uint32_t instruction, Value* a);
  Value* leading_zeros(Value* a);
  Value* wide_leading_zeros(Value* a);
  Value* by_halves(spv::Op op, Value* a);
  Value* saturated(bool subtracts, Value* a, Value* c);
  Value* funnel(bool left, ArrayRef<Value*> values);
};

template <class Unused = void>
class IRBuilder : public IRBuilderBase {
 public:
  explicit IRBuilder(BasicBlock* block)
      : IRBuilderBase(block->getModule()->getContext(), block->code()) {}
  IRBuilder(LLVMContext& context, km::spirv::FunctionCode& code) : IRBuilderBase(context, code) {}
};

}  // namespace llvm
