// Intrinsics of the facade. SPIR-V for Vulkan counts and reverses bits in 32-bit words only.
#include "spirv/facade/llvm/IR/IRBuilder.h"

#include <spirv/unified1/GLSL.std.450.h>

namespace llvm {

using km::spirv::Exactness;
using spv::Op;

namespace {

Value* low_word(IRBuilderBase& b, Value* a) { return b.CreateZExtOrTrunc(a, b.getInt32Ty()); }
Value* high_word(IRBuilderBase& b, Value* a) {
  return b.CreateZExtOrTrunc(b.CreateLShr(a, b.getInt64(32)), b.getInt32Ty());
}

}  // namespace

/// The result has the width of the argument.
Value* IRBuilderBase::leading_zeros(Value* a) {
  Type* word = getInt32Ty();
  if (a->type->bits() == 64) {
    Value* high = high_word(*this, a);
    Value* of_low = CreateAdd(leading_zeros(low_word(*this, a)), getInt32(32));
    Value* zeros = CreateSelect(CreateICmpEQ(high, getInt32(0)), of_low, leading_zeros(high));
    return CreateZExtOrTrunc(zeros, a->type);
  }
  Value* wide = CreateZExtOrTrunc(a, word);
  Value* highest = extended(GLSLstd450FindUMsb, word, {wide->id});  // all ones for zero
  Value* zeros = CreateSub(getInt32(a->type->bits() - 1), highest);
  return CreateZExtOrTrunc(zeros, a->type);
}

/// OpBitCount and OpBitReverse of 64 or 16 bits.
Value* IRBuilderBase::by_halves(Op op, Value* a) {
  if (a->type->bits() == 32) return make(op, a->type, {a->id});
  const bool reverses = op == Op::OpBitReverse;
  if (a->type->bits() < 32) {
    Value* whole = make(op, getInt32Ty(), {low_word(*this, a)->id});
    if (reverses) whole = CreateLShr(whole, getInt32(32 - a->type->bits()));
    return CreateZExtOrTrunc(whole, a->type);
  }
  Value* low = make(op, getInt32Ty(), {low_word(*this, a)->id});
  Value* high = make(op, getInt32Ty(), {high_word(*this, a)->id});
  if (!reverses) return CreateZExtOrTrunc(CreateAdd(low, high), a->type);
  Value* upper = CreateShl(CreateZExtOrTrunc(low, a->type), getInt64(32));
  return CreateOr(upper, CreateZExtOrTrunc(high, a->type));
}

Value* IRBuilderBase::rounded(uint32_t instruction, Value* a) {
  const bool is_exact = a->type->bits() != 64 || context_.facts.f64_rounding == Exactness::exact;
  return is_exact ? extended(instruction, a->type, {a->id}) : rounded_by_sums(instruction, a);
}

/// The sum of a magnitude and 2^52 has no place for a fraction, so that it is rounded to the
/// nearest integer; the other directions are at most one away. Mesa 22.3's GLSL loses the sign of
/// zeros.
Value* IRBuilderBase::rounded_by_sums(uint32_t instruction, Value* a) {
  Type* type = a->type;
  Type* bits = Type::get(context_, Type::Kind::integer, 64, type->count());
  Value* word = CreateBitCast(a, bits);
  Value* sign = CreateAnd(word, ConstantInt::get(bits, uint64_t{1} << 63));
  Value* size = CreateBitCast(CreateXor(word, sign), type);
  Value* most = ConstantInt::get(type, 0x4330000000000000);  // 2^52
  Value* one = ConstantInt::get(type, 0x3ff0000000000000);
  const auto with_its_sign = [&](Value* magnitude) {
    return CreateBitCast(CreateOr(CreateBitCast(magnitude, bits), sign), type);
  };
  Value* nearest = CreateFSub(CreateFAdd(size, most), most);
  Value* result = nullptr;
  if (instruction == GLSLstd450Trunc) {
    Value* less = CreateFSub(nearest, one);
    result = with_its_sign(CreateSelect(CreateFCmpOGT(nearest, size), less, nearest));
  } else {
    result = with_its_sign(nearest);
    if (instruction == GLSLstd450Floor) {
      result = CreateSelect(CreateFCmpOGT(result, a), CreateFSub(result, one), result);
    } else if (instruction == GLSLstd450Ceil) {
      // A sum of numbers with two signs is no negative zero.
      Value* more = with_its_sign(CreateUnaryIntrinsic(Intrinsic::fabs, CreateFAdd(result, one)));
      result = CreateSelect(CreateFCmpOLT(result, a), more, result);
    }
  }
  // Large numbers and infinities are themselves, NaNs are quiet as of a sum.
  Value* quiet = CreateOr(word, ConstantInt::get(bits, uint64_t{1} << 51));
  Value* other = CreateSelect(is_nan(a), CreateBitCast(quiet, type), a);
  return CreateSelect(CreateFCmpOLT(size, most), result, other);
}

Value* IRBuilderBase::saturated(bool subtracts, Value* a, Value* c) {
  Type* type = a->type;
  Value* sum = subtracts ? CreateSub(a, c) : CreateAdd(a, c);
  // Overflow: operands of one sign (for differences: of two), and a result of the other one.
  Value* between = CreateXor(a, c);
  if (!subtracts) between = CreateNot(between);
  Value* overflow = CreateAnd(between, CreateXor(a, sum));
  Value* sign = CreateAShr(a, ConstantInt::get(type, type->bits() - 1));
  Value* most = ConstantInt::get(type, (uint64_t{1} << (type->bits() - 1)) - 1);
  Value* limit = CreateXor(sign, most);
  return CreateSelect(CreateICmpSLT(overflow, ConstantInt::get(type, 0)), limit, sum);
}

/// fshl(a, c, n) has the upper word of a:c shifted left by n modulo the width, fshr the lower one
/// of a shift to the right.
Value* IRBuilderBase::funnel(bool left, ArrayRef<Value*> values) {
  Value *high = values[0], *low = values[1];
  Value* amount = CreateAnd(values[2], getInt32(31));
  Value* rest = CreateSub(getInt32(31), amount);
  if (left) {
    Value* below = CreateLShr(CreateLShr(low, getInt32(1)), rest);
    return CreateOr(CreateShl(high, amount), below);
  }
  Value* above = CreateShl(CreateShl(high, getInt32(1)), rest);
  return CreateOr(CreateLShr(low, amount), above);
}

Value* IRBuilderBase::CreateIntrinsic(Intrinsic::ID id, ArrayRef<Type*>, ArrayRef<Value*> values) {
  Value* a = values[0];
  Type* type = a->type;
  const auto choose = [&](CmpInst::Predicate predicate) {
    return CreateSelect(CreateICmp(predicate, a, values[1]), a, values[1]);
  };
  const auto& facts = context_.facts;
  switch (id) {
    case Intrinsic::abs: {
      Value* negative = CreateICmpSLT(a, Constant::getNullValue(type));
      return CreateSelect(negative, CreateNeg(a), a);
    }
    case Intrinsic::bitreverse:
      return by_halves(Op::OpBitReverse, a);
    case Intrinsic::ctpop:
      return by_halves(Op::OpBitCount, a);
    case Intrinsic::ctlz:
      return type->is_wide() ? wide_leading_zeros(a) : leading_zeros(a);
    case Intrinsic::cttz: {
      // The bits below the lowest set one; all bits for zero.
      Value* below = CreateAnd(CreateNot(a), CreateSub(a, ConstantInt::get(type, 1)));
      return by_halves(Op::OpBitCount, below);
    }
    case Intrinsic::fabs: {
      Type* bits = Type::get(context_, Type::Kind::integer, type->bits(), type->count());
      Value* mask = ConstantInt::get(bits, (uint64_t{1} << (type->bits() - 1)) - 1);
      return CreateBitCast(CreateAnd(CreateBitCast(a, bits), mask), type);
    }
    case Intrinsic::ceil:
      return rounded(GLSLstd450Ceil, a);
    case Intrinsic::floor:
      return rounded(GLSLstd450Floor, a);
    case Intrinsic::roundeven:
      return rounded(GLSLstd450RoundEven, a);
    case Intrinsic::trunc:
      return rounded(GLSLstd450Trunc, a);
    case Intrinsic::fma: {
      // NoContraction makes it one operation, which is not a product and a sum.
      Value* sum = extended(GLSLstd450Fma, type, {a->id, values[1]->id, values[2]->id});
      context_.writer.decorate(sum->id, spv::Decoration::NoContraction);
      return sum;
    }
    case Intrinsic::sqrt: {
      const bool wide = type->bits() == 64;
      if (wide && facts.f64_sqrt != Exactness::exact) {
        context_.refuse("square roots of f64 are not exact there");
      }
      if (wide || facts.f32_sqrt == Exactness::exact) {
        return extended(GLSLstd450Sqrt, type, {a->id});
      }
      Type* real = Type::get(context_, Type::Kind::real, 64, type->count());
      return CreateFPTrunc(CreateUnaryIntrinsic(Intrinsic::sqrt, CreateFPExt(a, real)), type);
    }
    case Intrinsic::fshl:
    case Intrinsic::fshr:
      return funnel(id == Intrinsic::fshl, values);
    case Intrinsic::sadd_sat:
    case Intrinsic::ssub_sat:
      return saturated(id == Intrinsic::ssub_sat, a, values[1]);
    case Intrinsic::smax:
      return choose(CmpInst::ICMP_SGT);
    case Intrinsic::smin:
      return choose(CmpInst::ICMP_SLT);
    case Intrinsic::umax:
      return choose(CmpInst::ICMP_UGT);
    case Intrinsic::umin:
      return choose(CmpInst::ICMP_ULT);
  }
  return a;
}

}  // namespace llvm
