// Integers of 128 and 256 bits as lists of 64-bit ones, the lowest first: for exact sums of f64
// products and for b128.
#include "spirv/facade/llvm/IR/IRBuilder.h"

namespace llvm {

using spv::Op;

namespace {

constexpr unsigned kLimbBits = 64;

Value* of_limbs(LLVMContext& context, Type* type, std::vector<Value*> limbs) {
  Value* made = context.new_value();
  made->type = type;
  made->limbs = std::move(limbs);
  return made;
}

}  // namespace

Value* IntegerBuilder::wide_of(Value* a, Type* type, Value* fill) {
  std::vector<Value*> limbs;
  if (a->type->is_wide()) {
    limbs = a->limbs;
  } else {
    limbs.push_back(CreateZExtOrTrunc(a, getInt64Ty()));
  }
  limbs.resize(type->bits() / kLimbBits, fill);
  return of_limbs(context_, type, std::move(limbs));
}

Value* IntegerBuilder::wide_binary(Op op, Value* a, Value* c) {
  std::vector<Value*> limbs;
  for (size_t i = 0; i < a->limbs.size(); ++i) {
    limbs.push_back(binary(op, a->limbs[i], c->limbs[i]));
  }
  return of_limbs(context_, a->type, std::move(limbs));
}

Value* IntegerBuilder::wide_add(Value* a, Value* c) {
  std::vector<Value*> limbs;
  Value* carry = getFalse();
  for (size_t i = 0; i < a->limbs.size(); ++i) {
    Value* sum = CreateAdd(a->limbs[i], c->limbs[i]);
    Value* whole = CreateAdd(sum, CreateZExtOrTrunc(carry, getInt64Ty()));
    // At most one of both additions overflows.
    carry = CreateOr(CreateICmpULT(sum, a->limbs[i]), CreateICmpULT(whole, sum));
    limbs.push_back(whole);
  }
  return of_limbs(context_, a->type, std::move(limbs));
}

/// The product of the lowest limbs as two limbs: exact for factors of 64 bits, which is all that
/// arithmetic asks for (zero extended; products of negative factors are corrected by the sign).
Value* IntegerBuilder::wide_product(Value* a, Value* c) {
  Value *x = a->limbs[0], *y = c->limbs[0];
  Value *mask = getInt64(0xffffffff), *half = getInt64(32);
  Value *x0 = CreateAnd(x, mask), *x1 = CreateLShr(x, half);
  Value *y0 = CreateAnd(y, mask), *y1 = CreateLShr(y, half);
  Value* cross = CreateAdd(CreateMul(x1, y0), CreateLShr(CreateMul(x0, y0), half));
  Value* middle = CreateAdd(CreateMul(x0, y1), CreateAnd(cross, mask));
  Value* high = CreateAdd(CreateMul(x1, y1), CreateLShr(cross, half));
  high = CreateAdd(high, CreateLShr(middle, half));
  high = CreateAdd(high, CreateAdd(CreateMul(x, c->limbs[1]), CreateMul(a->limbs[1], y)));
  std::vector<Value*> limbs{CreateMul(x, y), high};
  limbs.resize(a->limbs.size(), getInt64(0));
  return of_limbs(context_, a->type, std::move(limbs));
}

/// Shifts by whole limbs first, in steps of powers of two, and then by the rest.
Value* IntegerBuilder::wide_shift(Value* a, Value* amount, bool left, Value* fill) {
  std::vector<Value*> limbs = a->limbs;
  Value* count = CreateZExtOrTrunc(amount, getInt64Ty());
  const size_t size = limbs.size();
  const auto at = [&](const std::vector<Value*>& list, size_t i, size_t distance) {
    if (left) return i >= distance ? list[i - distance] : getInt64(0);
    return i + distance < size ? list[i + distance] : fill;
  };
  for (size_t step = 1; step < size; step *= 2) {
    Value* bit = CreateAnd(count, getInt64(step * kLimbBits));
    Value* moves = CreateICmpNE(bit, getInt64(0));
    std::vector<Value*> moved;
    for (size_t i = 0; i < size; ++i) {
      moved.push_back(CreateSelect(moves, at(limbs, i, step), limbs[i]));
    }
    limbs = std::move(moved);
  }
  Value* rest = CreateAnd(count, getInt64(kLimbBits - 1));
  // The bits from the neighbour move by 64 - rest, in two steps because a shift by 64 is undefined.
  Value* complement = CreateSub(getInt64(kLimbBits - 1), rest);
  std::vector<Value*> shifted;
  for (size_t i = 0; i < size; ++i) {
    Value* beside = at(limbs, i, 1);
    if (left) {
      Value* carried = CreateLShr(CreateLShr(beside, getInt64(1)), complement);
      shifted.push_back(CreateOr(CreateShl(limbs[i], rest), carried));
    } else {
      Value* carried = CreateShl(CreateShl(beside, getInt64(1)), complement);
      shifted.push_back(CreateOr(CreateLShr(limbs[i], rest), carried));
    }
  }
  return of_limbs(context_, a->type, std::move(shifted));
}

/// Compares from the highest limb down; only that one has a sign.
Value* IntegerBuilder::wide_compare(CmpInst::Predicate predicate, Value* a, Value* c) {
  if (predicate == CmpInst::ICMP_EQ || predicate == CmpInst::ICMP_NE) {
    Value* equal = getTrue();
    for (size_t i = 0; i < a->limbs.size(); ++i) {
      equal = CreateAnd(equal, CreateICmpEQ(a->limbs[i], c->limbs[i]));
    }
    return predicate == CmpInst::ICMP_EQ ? equal : CreateNot(equal);
  }
  const auto unsigned_form = [](CmpInst::Predicate one) {
    switch (one) {
      case CmpInst::ICMP_SGT:
        return CmpInst::ICMP_UGT;
      case CmpInst::ICMP_SGE:
        return CmpInst::ICMP_UGE;
      case CmpInst::ICMP_SLT:
        return CmpInst::ICMP_ULT;
      case CmpInst::ICMP_SLE:
        return CmpInst::ICMP_ULE;
      default:
        return one;
    }
  };
  Value* result = CreateICmp(unsigned_form(predicate), a->limbs[0], c->limbs[0]);
  for (size_t i = 1; i < a->limbs.size(); ++i) {
    const bool is_top = i + 1 == a->limbs.size();
    const auto here = is_top ? predicate : unsigned_form(predicate);
    Value* equal = CreateICmpEQ(a->limbs[i], c->limbs[i]);
    result = CreateSelect(equal, result, CreateICmp(here, a->limbs[i], c->limbs[i]));
  }
  return result;
}

Value* IRBuilderBase::wide_leading_zeros(Value* a) {
  Value* zeros = getInt64(a->type->bits());
  for (size_t i = 0; i < a->limbs.size(); ++i) {
    Value* below = getInt64((a->limbs.size() - 1 - i) * kLimbBits);
    Value* here = CreateAdd(CreateZExtOrTrunc(leading_zeros(a->limbs[i]), getInt64Ty()), below);
    Value* empty = CreateICmpEQ(a->limbs[i], getInt64(0));
    zeros = CreateSelect(empty, zeros, here);
  }
  return CreateZExtOrTrunc(zeros, a->type);
}

}  // namespace llvm
