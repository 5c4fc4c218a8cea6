// Arithmetic of the facade on numbers of up to 64 bits.
#include "spirv/facade/llvm/IR/IRBuilder.h"

#include <spirv/unified1/GLSL.std.450.h>

namespace llvm {

using km::spirv::Exactness;
using spv::Op;

namespace {

/// The instruction for bits, and that for truth values.
Op for_type(const Value* value, Op of_integers, Op of_booleans) {
  return value->type->is_bool() ? of_booleans : of_integers;
}

Type* truth_like(const Type* type) {
  return Type::get(type->getContext(), Type::Kind::integer, 1, type->count());
}

Type* integer_like(const Type* type) {
  return Type::get(type->getContext(), Type::Kind::integer, type->bits(), type->count());
}

uint64_t sign_bit(const Type* type) { return uint64_t{1} << (type->bits() - 1); }

struct IntegerComparison {
  CmpInst::Predicate predicate;
  Op op;
};

constexpr IntegerComparison kIntegerComparisons[] = {
    {CmpInst::ICMP_EQ, Op::OpIEqual},        {CmpInst::ICMP_NE, Op::OpINotEqual},
    {CmpInst::ICMP_UGT, Op::OpUGreaterThan}, {CmpInst::ICMP_UGE, Op::OpUGreaterThanEqual},
    {CmpInst::ICMP_ULT, Op::OpULessThan},    {CmpInst::ICMP_ULE, Op::OpULessThanEqual},
    {CmpInst::ICMP_SGT, Op::OpSGreaterThan}, {CmpInst::ICMP_SGE, Op::OpSGreaterThanEqual},
    {CmpInst::ICMP_SLT, Op::OpSLessThan},    {CmpInst::ICMP_SLE, Op::OpSLessThanEqual},
};

/// An ordered comparison, and the unordered predicate that is its opposite.
struct RealComparison {
  CmpInst::Predicate ordered, opposite;
  Op op;
};

constexpr RealComparison kRealComparisons[] = {
    {CmpInst::FCMP_OEQ, CmpInst::FCMP_UNE, Op::OpFOrdEqual},
    {CmpInst::FCMP_OGT, CmpInst::FCMP_ULE, Op::OpFOrdGreaterThan},
    {CmpInst::FCMP_OGE, CmpInst::FCMP_ULT, Op::OpFOrdGreaterThanEqual},
    {CmpInst::FCMP_OLT, CmpInst::FCMP_UGE, Op::OpFOrdLessThan},
    {CmpInst::FCMP_OLE, CmpInst::FCMP_UGT, Op::OpFOrdLessThanEqual},
};

}  // namespace

/// Notes a result that a driver's compiler may compute, or whose value does not depend on that of
/// its operands. Literals among the operands are taken for identifiers, which costs at most an
/// operation more.
void InstructionWriter::note_result(Op op, km::spirv::Id made, std::span<const uint32_t> operands) {
  const auto is_zero = [this](uint32_t id) { return context_.is_zero(id); };
  const auto is_known = [this](uint32_t id) { return context_.is_known(id); };
  const bool cancels = (op == Op::OpISub || op == Op::OpBitwiseXor) && operands[0] == operands[1];
  const bool vanishes = op == Op::OpBitwiseAnd || op == Op::OpIMul;
  if (cancels || (vanishes && std::ranges::any_of(operands, is_zero))) context_.note_zero(made);
  if (op == Op::OpSelect && operands[1] == operands[2]) operands = operands.subspan(1);
  if (op == Op::OpCompositeExtract) operands = operands.first(1);
  if (std::ranges::all_of(operands, is_known)) context_.note_known(made);
}

Value* InstructionWriter::make(Op op, Type* type, std::initializer_list<uint32_t> operands) {
  Value* made = context_.new_value();
  made->type = type;
  made->id = context_.writer.new_id();
  km::spirv::Words all{type->id(), made->id};
  all.insert(all.end(), operands.begin(), operands.end());
  km::spirv::append(code().body, op, all);
  note_result(op, made->id, operands);
  return made;
}

Value* InstructionWriter::extended(uint32_t instruction, Type* type,
                                   std::initializer_list<uint32_t> operands) {
  Value* made = context_.new_value();
  made->type = type;
  made->id = context_.writer.new_id();
  km::spirv::Words all{type->id(), made->id, context_.writer.glsl(), instruction};
  all.insert(all.end(), operands.begin(), operands.end());
  km::spirv::append(code().body, Op::OpExtInst, all);
  note_result(Op::OpExtInst, made->id, operands);
  return made;
}

Value* InstructionWriter::binary(Op op, Value* a, Value* c) {
  return make(op, a->type, {a->id, c->id});
}

namespace {

Type* word_like(const Type* type) {
  return Type::get(type->getContext(), Type::Kind::integer, 32, type->count());
}

}  // namespace

Value* InstructionWriter::word_as(Value* a, Type* type) {
  Value* made = context_.new_value();
  *made = *a;
  made->type = type;
  return made;
}

Value* InstructionWriter::fitted(Value* a) {
  if (!a->type->is_narrow()) return a;
  Value* mask = ConstantInt::get(word_like(a->type), (uint64_t{1} << a->type->bits()) - 1);
  return make(Op::OpBitwiseAnd, a->type, {a->id, mask->id});
}

Value* InstructionWriter::with_sign(Value* a) {
  if (!a->type->is_narrow()) return a;
  Type* word = word_like(a->type);
  Value* shift = ConstantInt::get(word, 32 - a->type->bits());
  Value* up = make(Op::OpShiftLeftLogical, word, {a->id, shift->id});
  return make(Op::OpShiftRightArithmetic, word, {up->id, shift->id});
}

Value* IntegerBuilder::CreateAdd(Value* a, Value* c) {
  if (a->type->is_wide()) return wide_add(a, c);
  return fitted(binary(Op::OpIAdd, a, c));
}

Value* IntegerBuilder::CreateSub(Value* a, Value* c) {
  if (a->type->is_wide()) return wide_add(a, CreateNeg(c));
  return fitted(binary(Op::OpISub, a, c));
}

Value* IntegerBuilder::CreateMul(Value* a, Value* c) {
  if (a->type->is_wide()) return wide_product(a, c);
  return fitted(binary(Op::OpIMul, a, c));
}

Value* IntegerBuilder::CreateUDiv(Value* a, Value* c) { return binary(Op::OpUDiv, a, c); }
Value* IntegerBuilder::CreateSDiv(Value* a, Value* c) {
  return fitted(make(Op::OpSDiv, a->type, {with_sign(a)->id, with_sign(c)->id}));
}
Value* IntegerBuilder::CreateURem(Value* a, Value* c) { return binary(Op::OpUMod, a, c); }

Value* IntegerBuilder::CreateNeg(Value* a) {
  if (a->type->is_wide()) return wide_add(CreateNot(a), ConstantInt::get(a->type, 1));
  // naga takes no negative of a number without a sign.
  if (context_.facts.has_arena) return CreateSub(ConstantInt::get(a->type, 0), a);
  return make(Op::OpSNegate, a->type, {a->id});
}

Value* IntegerBuilder::CreateAnd(Value* a, Value* c) {
  if (a->type->is_wide()) return wide_binary(Op::OpBitwiseAnd, a, c);
  return binary(for_type(a, Op::OpBitwiseAnd, Op::OpLogicalAnd), a, c);
}

Value* IntegerBuilder::CreateOr(Value* a, Value* c) {
  if (a->type->is_wide()) return wide_binary(Op::OpBitwiseOr, a, c);
  return binary(for_type(a, Op::OpBitwiseOr, Op::OpLogicalOr), a, c);
}

Value* IntegerBuilder::CreateXor(Value* a, Value* c) {
  if (a->type->is_wide()) return wide_binary(Op::OpBitwiseXor, a, c);
  return binary(for_type(a, Op::OpBitwiseXor, Op::OpLogicalNotEqual), a, c);
}

Value* IntegerBuilder::CreateNot(Value* a) {
  if (a->type->is_wide())
    return wide_binary(Op::OpBitwiseXor, a, Constant::getAllOnesValue(a->type));
  return fitted(make(for_type(a, Op::OpNot, Op::OpLogicalNot), a->type, {a->id}));
}

/// The amount in 32 bits, as WGSL wants it.
Value* IntegerBuilder::short_amount(Value* amount) {
  const bool is_long = amount->type->bits() == 64 && amount->type->count() == 0;
  return context_.facts.has_arena && is_long ? CreateZExtOrTrunc(amount, getInt32Ty()) : amount;
}

Value* IntegerBuilder::CreateShl(Value* a, Value* amount) {
  if (a->type->is_wide()) return wide_shift(a, amount, true, getInt64(0));
  return fitted(binary(Op::OpShiftLeftLogical, a, short_amount(amount)));
}

Value* IntegerBuilder::CreateLShr(Value* a, Value* amount) {
  if (a->type->is_wide()) return wide_shift(a, amount, false, getInt64(0));
  return binary(Op::OpShiftRightLogical, a, short_amount(amount));
}

Value* IntegerBuilder::CreateAShr(Value* a, Value* amount) {
  if (a->type->is_narrow()) {
    return fitted(make(Op::OpShiftRightArithmetic, a->type, {with_sign(a)->id, amount->id}));
  }
  if (!a->type->is_wide()) {
    return binary(Op::OpShiftRightArithmetic, a, short_amount(amount));
  }
  return wide_shift(a, amount, false, CreateAShr(a->limbs.back(), getInt64(63)));
}

Value* IntegerBuilder::CreateICmp(CmpInst::Predicate predicate, Value* a, Value* c) {
  if (a->type->is_wide()) return wide_compare(predicate, a, c);
  Type* truth = truth_like(a->type);
  if (a->type->is_bool()) {
    const bool equal = predicate == CmpInst::ICMP_EQ;
    return make(equal ? Op::OpLogicalEqual : Op::OpLogicalNotEqual, truth, {a->id, c->id});
  }
  if (predicate >= CmpInst::ICMP_SGT && predicate <= CmpInst::ICMP_SLE) {
    a = with_sign(a);
    c = with_sign(c);
  }
  for (const IntegerComparison& one : kIntegerComparisons) {
    if (one.predicate == predicate) return make(one.op, truth, {a->id, c->id});
  }
  return getFalse();
}

// ---- Floating point.

/// One of the operations that a device must round correctly.
Value* IRBuilderBase::arithmetic(Op op, Value* a, Value* c) {
  const bool wide = a->type->bits() == 64;
  const auto& facts = context_.facts;
  if (wide && facts.f64_arithmetic != Exactness::exact) {
    context_.refuse("arithmetic on f64 is not exact there");
  }
  if (!wide && facts.f32_arithmetic != Exactness::exact) {
    context_.refuse("arithmetic on f32 is not exact there");
  }
  if (!wide && !context_.flushes && facts.f32_denormals != Exactness::exact) {
    context_.refuse("subnormal f32 are flushed there");
  }
  Value* result = binary(op, a, c);
  context_.writer.decorate(result->id, spv::Decoration::NoContraction);
  return result;
}

/// a + 0 for a constant zero: a, but for the sum of zeros.
Value* IRBuilderBase::plus_zero(Value* a, Value* zero) {
  if (zero->content != 0) return a;  // -0
  Value* is_zero = CreateFCmpOEQ(a, zero);
  return CreateSelect(is_zero, zero, a);
}

/// a * 0 for a constant zero: a zero with the product's sign, or NaN.
Value* IRBuilderBase::times_zero(Value* a, Value* zero) {
  Type* bits = integer_like(a->type);
  const uint64_t top = sign_bit(a->type);
  const uint64_t infinity = a->type->bits() == 64 ? 0x7ff0000000000000 : 0x7f800000;
  Value* word = CreateBitCast(a, bits);
  Value* sign = CreateAnd(CreateXor(word, CreateBitCast(zero, bits)), ConstantInt::get(bits, top));
  Value* magnitude = CreateAnd(word, ConstantInt::get(bits, top - 1));
  Value* finite = CreateICmpULT(magnitude, ConstantInt::get(bits, infinity));
  Value* nan = ConstantInt::get(bits, top - 1);
  return CreateBitCast(CreateSelect(finite, sign, nan), a->type);
}

namespace {

bool is_zero_constant(const Value* value) {
  return value->is_constant && (value->content & (sign_bit(value->type) - 1)) == 0;
}

}  // namespace

/// The number, hidden from a driver's compiler that would find out that it is zero.
Value* IRBuilderBase::hidden(Value* a) {
  const bool is_known = a->is_constant || context_.is_known(a->id);
  const bool can_hide = context_.unknown_zero_in == &code() && a->type->count() == 0;
  if (!context_.facts.folds_zeros || !is_known || !can_hide) return a;
  Type* bits = integer_like(a->type);
  Value* zero = CreateZExtOrTrunc(context_.unknown_zero, bits);
  return CreateBitCast(CreateXor(CreateBitCast(a, bits), zero), a->type);
}

/// hidden_result() leaves literals alone: sums and products have other ways for literal zeros.
Value* IRBuilderBase::hidden_result(Value* a) { return a->is_constant ? a : hidden(a); }

Value* IRBuilderBase::CreateFAdd(Value* a, Value* c) {
  if (context_.facts.folds_zeros && is_zero_constant(c)) return plus_zero(a, c);
  if (context_.facts.folds_zeros && is_zero_constant(a)) return plus_zero(c, a);
  return arithmetic(Op::OpFAdd, hidden_result(a), hidden_result(c));
}

Value* IRBuilderBase::CreateFSub(Value* a, Value* c) {
  if (context_.facts.folds_zeros) return CreateFAdd(a, CreateFNeg(c));
  return arithmetic(Op::OpFSub, a, c);
}

Value* IRBuilderBase::CreateFMul(Value* a, Value* c) {
  if (context_.facts.folds_zeros && is_zero_constant(c)) return times_zero(a, c);
  if (context_.facts.folds_zeros && is_zero_constant(a)) return times_zero(c, a);
  return arithmetic(Op::OpFMul, hidden_result(a), hidden_result(c));
}

/// A quotient of f32 that was rounded to f64 first is right, too: no quotient of 24-bit numbers is
/// that close to the middle between two f32. Mesa's llvmpipe has any bits for a quotient by a zero
/// that it knows, and zero for one of such a zero.
Value* IRBuilderBase::CreateFDiv(Value* a, Value* c) {
  const auto& facts = context_.facts;
  const bool wide = a->type->bits() == 64;
  if (wide && facts.f64_div != Exactness::exact)
    context_.refuse("division of f64 is not exact there");
  if (wide || facts.f32_div == Exactness::exact) {
    return arithmetic(Op::OpFDiv, hidden(a), hidden(c));
  }
  Type* real = Type::get(context_, Type::Kind::real, 64, a->type->count());
  return CreateFPTrunc(CreateFDiv(CreateFPExt(a, real), CreateFPExt(c, real)), a->type);
}

/// The sign changes by an operation on bits, which no driver takes for arithmetic.
Value* IRBuilderBase::CreateFNeg(Value* a) {
  Type* bits = integer_like(a->type);
  Value* sign = ConstantInt::get(bits, sign_bit(a->type));
  if (a->is_constant) return ConstantInt::get(a->type, a->content ^ sign->content);
  return CreateBitCast(CreateXor(CreateBitCast(a, bits), sign), a->type);
}

/// A test of bits, which no driver takes for a comparison of equal numbers.
Value* IRBuilderBase::is_nan(Value* a) {
  Type* bits = integer_like(a->type);
  Value* magnitude =
      CreateAnd(CreateBitCast(a, bits), ConstantInt::get(bits, sign_bit(a->type) - 1));
  const uint64_t infinity = a->type->bits() == 64 ? 0x7ff0000000000000 : 0x7f800000;
  return CreateICmpUGT(magnitude, ConstantInt::get(bits, infinity));
}

Value* IRBuilderBase::CreateFCmp(CmpInst::Predicate predicate, Value* a, Value* c) {
  Type* truth = truth_like(a->type);
  for (const RealComparison& one : kRealComparisons) {
    if (one.ordered == predicate) return make(one.op, truth, {a->id, c->id});
    if (one.opposite == predicate) return CreateNot(make(one.op, truth, {a->id, c->id}));
  }
  Value* unordered = a == c ? is_nan(a) : CreateOr(is_nan(a), is_nan(c));
  if (predicate == CmpInst::FCMP_UNO) return unordered;
  if (predicate == CmpInst::FCMP_ORD) return CreateNot(unordered);
  Value* equal = make(Op::OpFOrdEqual, truth, {a->id, c->id});
  if (predicate == CmpInst::FCMP_UEQ) return CreateOr(unordered, equal);
  return CreateNot(CreateOr(unordered, equal));  // FCMP_ONE
}

// ---- Conversions.

Value* IntegerBuilder::CreateBitCast(Value* a, Type* type) {
  if (a->type == type) return a;
  if (a->is_constant && a->type->count() == 0 && type->count() == 0) {
    return ConstantInt::get(type, a->content);
  }
  if (a->type->is_narrow() != type->is_narrow()) {
    return type->is_narrow() ? unpacked(a, type) : packed(a, type);
  }
  if (type->is_narrow()) return word_as(a, type);
  Value* made = make(Op::OpBitcast, type, {a->id});
  made->is_number = a->is_number;
  return made;
}

Value* InstructionWriter::packed(Value* vector, Type* type) {
  const unsigned bits = vector->type->bits();
  Value* whole = nullptr;
  for (unsigned i = 0; i < vector->type->count(); ++i) {
    Value* element = word_as(CreateExtractElement(vector, i), getInt32Ty());
    Value* placed =
        make(Op::OpShiftLeftLogical, getInt32Ty(), {element->id, getInt32(bits * i)->id});
    whole =
        whole == nullptr ? placed : make(Op::OpBitwiseOr, getInt32Ty(), {whole->id, placed->id});
  }
  return word_as(whole, type);
}

Value* InstructionWriter::unpacked(Value* whole, Type* type) {
  Value* vector = Constant::getNullValue(type);
  for (unsigned i = 0; i < type->count(); ++i) {
    Value* moved =
        make(Op::OpShiftRightLogical, getInt32Ty(), {whole->id, getInt32(type->bits() * i)->id});
    vector = CreateInsertElement(vector, fitted(word_as(moved, type->getScalarType())), i);
  }
  return vector;
}

Value* IntegerBuilder::CreateZExtOrTrunc(Value* a, Type* type) {
  if (a->type == type) return a;
  if (a->is_constant && a->type->count() == 0 && !a->type->is_wide() && !type->is_wide()) {
    return ConstantInt::get(type, a->content);
  }
  if (type->is_wide()) return wide_of(a, type, getInt64(0));
  if (a->type->is_wide()) return CreateZExtOrTrunc(a->limbs[0], type);
  if (a->type->is_bool()) {
    return CreateSelect(a, ConstantInt::get(type, 1), ConstantInt::get(type, 0));
  }
  if (type->is_bool()) {
    Value* lowest = CreateAnd(a, ConstantInt::get(a->type, 1));
    return CreateICmpNE(lowest, ConstantInt::get(a->type, 0));
  }
  Type* const from = a->type->is_narrow() ? word_like(a->type) : a->type;
  Type* const to = type->is_narrow() ? word_like(type) : type;
  Value* converted = from->bits() == to->bits() ? a : make(Op::OpUConvert, to, {a->id});
  converted = word_as(converted, type);
  return type->bits() < a->type->bits() ? fitted(converted) : converted;
}

/// The instruction, or other ones with its result: Mesa 22.3 compares a number of 32 bits that its
/// instruction has extended to 64 with a constant as if the least number of 32 bits were positive.
Value* IntegerBuilder::extended_by_sign(Value* a, Type* type) {
  if (a->type->bits() != 32 || type->bits() != 64 ||
      context_.facts.i64_extended == Exactness::exact) {
    return make(Op::OpSConvert, type, {a->id});
  }
  Value* sign = ConstantInt::get(type, sign_bit(a->type));
  return CreateSub(CreateXor(CreateZExtOrTrunc(a, type), sign), sign);
}

Value* IntegerBuilder::CreateSExtOrTrunc(Value* a, Type* type) {
  if (a->type->bits() >= type->bits()) return CreateZExtOrTrunc(a, type);
  if (type->is_wide()) {
    if (a->type->is_wide()) return wide_of(a, type, CreateAShr(a->limbs.back(), getInt64(63)));
    Value* limb = CreateSExtOrTrunc(a, getInt64Ty());
    return wide_of(limb, type, CreateAShr(limb, getInt64(63)));
  }
  if (a->type->is_bool()) {
    return CreateSelect(a, Constant::getAllOnesValue(type), ConstantInt::get(type, 0));
  }
  Value* word = with_sign(a);
  if (type->is_narrow()) return fitted(word_as(word, type));
  return word->type->bits() == type->bits() ? word : extended_by_sign(word, type);
}

Value* IRBuilderBase::CreateSIToFP(Value* a, Type* type) {
  return make(Op::OpConvertSToF, type, {with_sign(a)->id});
}

Value* IRBuilderBase::CreateUIToFP(Value* a, Type* type) {
  return make(Op::OpConvertUToF, type, {a->id});
}

Value* IRBuilderBase::CreateFPToSI(Value* a, Type* type) {
  return fitted(make(Op::OpConvertFToS, type, {a->id}));
}

Value* IRBuilderBase::CreateFPExt(Value* a, Type* type) {
  return a->type == type ? a : make(Op::OpFConvert, type, {a->id});
}

Value* IRBuilderBase::CreateFPTrunc(Value* a, Type* type) {
  if (a->type == type) return a;
  if (context_.facts.f64_arithmetic != Exactness::exact) {
    context_.refuse("conversions between f64 and f32 are not exact there");
  }
  return make(Op::OpFConvert, type, {a->id});
}

// ---- Choices, vectors, calls.

namespace {

/// True for a NaN that stands in the module as bits alone (Value::id).
bool is_undeclared(const Value* value) { return value->id == 0 && !value->type->is_wide(); }

}  // namespace

Value* IntegerBuilder::CreateSelect(Value* condition, Value* yes, Value* no) {
  if (yes->type->is_wide()) {
    Value* made = context_.new_value();
    made->type = yes->type;
    for (size_t i = 0; i < yes->limbs.size(); ++i) {
      made->limbs.push_back(CreateSelect(condition, yes->limbs[i], no->limbs[i]));
    }
    return made;
  }
  if (is_undeclared(yes) || is_undeclared(no)) {
    Type* bits = integer_like(yes->type);
    return CreateBitCast(CreateSelect(condition, CreateBitCast(yes, bits), CreateBitCast(no, bits)),
                         yes->type);
  }
  if (yes->type->count() != 0 && condition->type->count() == 0) {
    condition = CreateVectorSplat(yes->type->count(), condition);
  }
  return make(Op::OpSelect, yes->type, {condition->id, yes->id, no->id});
}

Value* InstructionWriter::CreateExtractElement(Value* vector, uint64_t index) {
  return make(Op::OpCompositeExtract, vector->type->getScalarType(),
              {vector->id, static_cast<uint32_t>(index)});
}

Value* InstructionWriter::CreateInsertElement(Value* vector, Value* element, uint64_t index) {
  return make(Op::OpCompositeInsert, vector->type,
              {element->id, vector->id, static_cast<uint32_t>(index)});
}

Value* InstructionWriter::CreateVectorSplat(unsigned count, Value* element) {
  Type* type = FixedVectorType::get(element->type, count);
  Value* vector = Constant::getNullValue(type);
  for (unsigned i = 0; i < count; ++i) vector = CreateInsertElement(vector, element, i);
  return vector;
}

Value* InstructionWriter::CreateShuffleVector(Value* a, Value* c, const std::vector<int>& indices) {
  Type* type =
      FixedVectorType::get(a->type->getScalarType(), static_cast<unsigned>(indices.size()));
  Value* made = Constant::getNullValue(type);
  const unsigned count = a->type->count();
  for (unsigned i = 0; i < indices.size(); ++i) {
    const auto index = static_cast<unsigned>(indices[i]);
    Value* from = index < count ? a : c;
    made = CreateInsertElement(made, CreateExtractElement(from, index % count), i);
  }
  return made;
}

Value* IRBuilderBase::CreateCall(Function* function, ArrayRef<Value*> arguments) {
  Value* made = context_.new_value();
  made->type = function->result();
  made->id = context_.writer.new_id();
  km::spirv::Words all{made->type->id(), made->id, function->code().id};
  for (Value* argument : arguments) {
    const bool is_real = argument->type->kind() == Type::Kind::real;
    all.push_back((is_real ? hidden(argument) : argument)->id);
  }
  km::spirv::append(code().body, Op::OpFunctionCall, all);
  return made;
}

void IRBuilderBase::CreateRet(Value* value) {
  km::spirv::append(code().body, Op::OpReturnValue, {value->id});
}

}  // namespace llvm
