#include "simt/arithmetic/floating_point/soft_fma.h"

#include <llvm/IR/Function.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>

namespace km::simt::arithmetic {
namespace {

namespace I = llvm::Intrinsic;

constexpr const char* kName = "km_rounded_fma_f64";
constexpr unsigned kWide = 256;  // width of the exact sum, of which at most 217 bits are used
constexpr int kBias = 1075;      // exponent bias with the fraction as an integer
constexpr int kLeastExponent = -1074;

/// Builds the function's body. All values are scalars; the rounding mode is an i32 argument (enum
/// Round).
class Body {
 public:
  Body(llvm::Function& function, const Machine& machine)
      : builder_(llvm::BasicBlock::Create(function.getContext(), "", &function)),
        l_(builder_, machine, 0),
        b_(l_.b),
        a_(function.getArg(0)),
        c_(function.getArg(1)),
        d_(function.getArg(2)),
        mode_(function.getArg(3)) {}

  void build() {
    Number a = take(a_), c = take(c_), d = take(d_);
    V negative = b_.CreateXor(a.negative, c.negative);
    Sum sum = add(multiply(a, c, negative), d);
    V result = compose(sum, round(sum));
    result = l_.select(b_.CreateICmpEQ(sum.value, wide(0)), cancelled(), result);
    b_.CreateRet(l_.select(plain(a, c, d), without_rounding(a, c, d), l_.as_real(result)));
  }

 private:
  struct Number {
    V negative, fraction, exponent, finite, zero;  // fraction * 2^exponent
  };
  struct Sum {
    V negative, value, exponent;
  };
  struct Rounded {
    V fraction, exponent;  // fraction < 2^54
  };

  V i32(int64_t value) { return l_.constant(32, static_cast<uint64_t>(value)); }
  V i64(uint64_t value) { return l_.constant(64, value); }
  V wide(uint64_t value) { return l_.constant(kWide, value); }
  V is_mode(Round round) { return b_.CreateICmpEQ(mode_, i32(static_cast<int64_t>(round))); }

  Number take(V real) {
    V word = l_.bits(real);
    V field = l_.zext(b_.CreateAnd(b_.CreateLShr(word, i64(52)), i64(0x7ff)), 32);
    V fraction = b_.CreateAnd(word, i64((uint64_t{1} << 52) - 1));
    V normal = b_.CreateICmpNE(field, i32(0));
    V hidden = b_.CreateShl(l_.zext(normal, 64), i64(52));
    Number n;
    n.negative = b_.CreateICmpSLT(word, i64(0));
    n.fraction = l_.zext(b_.CreateOr(fraction, hidden), kWide);
    n.exponent = b_.CreateSub(l_.call(I::umax, field, i32(1)), i32(kBias));
    n.finite = b_.CreateICmpNE(field, i32(0x7ff));
    n.zero = b_.CreateICmpEQ(n.fraction, wide(0));
    return n;
  }

  Sum multiply(const Number& a, const Number& c, V negative) {
    V low = b_.CreateMul(l_.zext(a.fraction, 128), l_.zext(c.fraction, 128));
    return {negative, l_.zext(low, kWide), b_.CreateAdd(a.exponent, c.exponent)};
  }

  /// Aligns both to one exponent. If they are further apart than the limits, the smaller one can
  /// only break ties, and it does that equally well at the limit.
  Sum add(const Sum& product, const Number& d) {
    V apart = b_.CreateSub(d.exponent, product.exponent);
    V up = b_.CreateICmpSGE(apart, i32(0));
    V d_shift = l_.select(up, l_.call(I::smin, apart, i32(130)), i32(0));
    V p_shift = l_.select(up, i32(0), l_.call(I::smin, b_.CreateNeg(apart), i32(110)));
    V x = b_.CreateShl(product.value, l_.zext(p_shift, kWide));
    V y = b_.CreateShl(d.fraction, l_.zext(d_shift, kWide));
    // If the addend is zero, the product keeps its own exponent.
    V from_d = b_.CreateSub(d.exponent, d_shift), from_p = b_.CreateSub(product.exponent, p_shift);
    V exponent = l_.select(b_.CreateAnd(up, b_.CreateNot(d.zero)), from_d, from_p);
    x = l_.select(product.negative, b_.CreateNeg(x), x);
    y = l_.select(d.negative, b_.CreateNeg(y), y);
    V sum = b_.CreateAdd(x, y);
    V negative = b_.CreateICmpSLT(sum, wide(0));
    V magnitude = l_.select(negative, b_.CreateNeg(sum), sum);
    return {negative, magnitude, exponent};
  }

  Rounded round(const Sum& sum) {
    V zeros = b_.CreateIntrinsic(I::ctlz, {sum.value->getType()}, {sum.value, b_.getFalse()});
    V length = b_.CreateSub(i32(kWide), l_.zext(zeros, 32));
    V exponent = b_.CreateSub(b_.CreateAdd(sum.exponent, length), i32(53));
    exponent = l_.call(I::smax, exponent, i32(kLeastExponent));
    V shift = b_.CreateSub(exponent, sum.exponent);
    V left = l_.call(I::smax, b_.CreateNeg(shift), i32(0));
    V right = l_.call(I::smin, l_.call(I::smax, shift, i32(0)), i32(kWide - 1));
    V amount = l_.zext(right, kWide);
    V kept = b_.CreateLShr(b_.CreateShl(sum.value, l_.zext(left, kWide)), amount);
    V rest = b_.CreateAnd(sum.value, b_.CreateSub(b_.CreateShl(wide(1), amount), wide(1)));
    V half = b_.CreateLShr(b_.CreateShl(wide(1), amount), wide(1));
    V fraction = l_.zext(kept, 64);
    V up = rounds_up(sum.negative, fraction, rest, half);
    return {b_.CreateAdd(fraction, l_.zext(up, 64)), exponent};
  }

  V rounds_up(V negative, V fraction, V rest, V half) {
    V inexact = b_.CreateICmpNE(rest, wide(0));
    V odd = b_.CreateICmpNE(b_.CreateAnd(fraction, i64(1)), i64(0));
    V tie = b_.CreateAnd(b_.CreateICmpEQ(rest, half), odd);
    V nearest = b_.CreateAnd(inexact, b_.CreateOr(b_.CreateICmpUGT(rest, half), tie));
    V up = b_.CreateAnd(is_mode(Round::rp), b_.CreateNot(negative));
    V directed = b_.CreateAnd(inexact, b_.CreateOr(up, b_.CreateAnd(is_mode(Round::rm), negative)));
    return l_.select(is_mode(Round::rn), nearest, directed);
  }

  V compose(const Sum& sum, const Rounded& rounded) {
    V field = l_.zext(b_.CreateSub(rounded.exponent, i32(kLeastExponent)), 64);
    // The hidden bit of a normal fraction increments the exponent; a subnormal one has none.
    V word = b_.CreateAdd(b_.CreateShl(field, i64(52)), rounded.fraction);
    V infinity = i64(0x7ff0000000000000);
    V outward = l_.select(sum.negative, is_mode(Round::rm), is_mode(Round::rp));
    V to_infinity = b_.CreateOr(is_mode(Round::rn), outward);
    V limit = l_.select(to_infinity, infinity, b_.CreateSub(infinity, i64(1)));
    word = l_.select(b_.CreateICmpUGE(word, infinity), limit, word);
    return b_.CreateOr(word, b_.CreateShl(l_.zext(sum.negative, 64), i64(63)));
  }

  /// The zero of a sum whose nonzero terms cancel.
  V cancelled() { return b_.CreateShl(l_.zext(is_mode(Round::rm), 64), i64(63)); }

  V plain(const Number& a, const Number& c, const Number& d) {
    V finite = b_.CreateAnd(b_.CreateAnd(a.finite, c.finite), d.finite);
    return b_.CreateOr(b_.CreateNot(finite), b_.CreateOr(a.zero, c.zero));
  }

  /// Results with zeros, infinities and NaNs, which need no rounding; zeros have signs.
  V without_rounding(const Number& a, const Number& c, const Number& d) {
    // A finite product must not overflow if the addend is infinite.
    V finite = b_.CreateAnd(a.finite, c.finite);
    V only_d = b_.CreateAnd(finite, b_.CreateNot(d.finite));
    V sum = b_.CreateFAdd(l_.select(only_d, l_.real64(0.0), b_.CreateFMul(a_, c_)), d_);
    V zero = b_.CreateFCmpOEQ(sum, l_.real64(0.0));
    V negative = b_.CreateOr(b_.CreateXor(a.negative, c.negative), d.negative);
    V down = b_.CreateAnd(b_.CreateAnd(zero, is_mode(Round::rm)), negative);
    return l_.as_real(b_.CreateOr(l_.bits(sum), b_.CreateShl(l_.zext(down, 64), i64(63))));
  }

  llvm::IRBuilder<> builder_;
  Lanes l_;
  llvm::IRBuilderBase& b_;
  V a_, c_, d_, mode_;
};

llvm::Function* function_in(Lanes& l) {
  llvm::Module& module = *l.b.GetInsertBlock()->getModule();
  if (llvm::Function* known = module.getFunction(kName)) return known;
  auto* real = l.b.getDoubleTy();
  auto* type = llvm::FunctionType::get(real, {real, real, real, l.b.getInt32Ty()}, false);
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, kName, module);
  make_helper(*function);
  Body(*function, l.machine()).build();
  return function;
}

}  // namespace

V soft_fma(Lanes& l, V a, V c, V d, Round round) {
  auto scalar = [round](Lanes& lanes, V x, V y, V z) -> V {
    V mode = lanes.b.getInt32(static_cast<uint32_t>(round));
    return lanes.b.CreateCall(function_in(lanes), {x, y, z, mode});
  };
  if (l.count() == 0) return scalar(l, a, c, d);
  std::string name = "km_rounded_fma_f64_" + std::to_string(static_cast<unsigned>(round));
  return out_of_line(l, name.c_str(), {a, c, d}, [&](Lanes& inner, std::span<V const> x) {
    V result = inner.zero(x[0]);
    for (unsigned lane = 0; lane < inner.count(); ++lane) {
      auto at = [&](V value) { return inner.b.CreateExtractElement(value, lane); };
      V value = scalar(inner, at(x[0]), at(x[1]), at(x[2]));
      result = inner.b.CreateInsertElement(result, value, lane);
    }
    return result;
  });
}

}  // namespace km::simt::arithmetic
