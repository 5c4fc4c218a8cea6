#include "simt/arithmetic/floating_point/fma_by_sums.h"

#include <llvm/IR/Intrinsics.h>

#include "simt/arithmetic/floating_point/rounding.h"

namespace km::simt::arithmetic {
namespace {

namespace I = llvm::Intrinsic;

constexpr int64_t kFractionBits = 52, kFields = 0x7ff;
constexpr int64_t kFieldOfHalf = 1022;  // the exponent field of numbers from 1/2 to 1
constexpr int64_t kFieldOfOne = kFieldOfHalf + 1;
constexpr int64_t kLift = 64;  // subnormal numbers times 2^kLift are normal

/// Exponents of the addend, relative to that of the product: beyond them the smaller one of both
/// only tells on which side of a number of 53 bits the sum is, as it does at the limit.
constexpr int64_t kMostApart = 130, kLeastApart = -120;

/// Exponents of the two factors by which a sum gets its place. The first one is so small that the
/// product is exact, or that the result overflows; beyond the limits of the second one the result
/// is zero or infinite.
constexpr int64_t kLeastFirst = -800, kMostFirst = 900, kLeastSecond = -1022, kMostSecond = 1000;

class Fused {
 public:
  explicit Fused(Lanes& lanes) : l_(lanes), b_(lanes.b) {}

  V of(V a, V c, V d) {
    const Number x = take(a), y = take(c), z = take(d);
    V sum = add(x, y, z), product = b_.CreateFMul(a, c);
    // A product that overflows must not meet an infinite addend of the other sign.
    V other = l_.select(b_.CreateICmpEQ(z.field, i64(0)), product, b_.CreateFAdd(d, d));
    V regular = l_.select(is_regular(z), sum, other);
    return l_.select(l_.both(is_regular(x), is_regular(y)), regular, b_.CreateFAdd(product, d));
  }

 private:
  /// mantissa * 2^exponent, with a mantissa from 1/2 to 1; nothing of that kind if the number is
  /// zero (field 0), infinite or NaN (field kFields).
  struct Number {
    V mantissa, exponent, field;
  };
  /// An exact sum or product: `high` is it rounded, and `low` the rest.
  struct Pair {
    V high, low;
  };

  V i64(int64_t value) { return l_.constant(64, static_cast<uint64_t>(value)); }
  V at_least(V value, int64_t least) { return l_.call(I::smax, value, i64(least)); }
  V at_most(V value, int64_t most) { return l_.call(I::smin, value, i64(most)); }
  V field_of(V word) { return b_.CreateAnd(b_.CreateLShr(word, i64(kFractionBits)), i64(kFields)); }
  V is_odd(V word) { return b_.CreateICmpNE(b_.CreateAnd(word, i64(1)), i64(0)); }

  Number take(V real) {
    V subnormal = b_.CreateFCmpOLT(l_.fabs(real), l_.real64(0x1p-1022));
    V lifted = b_.CreateFMul(real, l_.real64(0x1p64));
    V word = l_.bits(l_.select(subnormal, lifted, real));
    V fraction = b_.CreateAnd(word, i64(~(kFields << kFractionBits)));
    V mantissa = l_.as_real(b_.CreateOr(fraction, i64(kFieldOfHalf << kFractionBits)));
    V field = field_of(word);
    V bias = l_.select(subnormal, i64(kFieldOfHalf + kLift), i64(kFieldOfHalf));
    return {mantissa, b_.CreateSub(field, bias), field};
  }

  /// True if the number is neither zero nor infinite nor NaN.
  V is_regular(const Number& number) {
    return b_.CreateICmpULT(b_.CreateSub(number.field, i64(1)), i64(kFields - 1));
  }

  V power_of_two(V exponent) {
    return l_.as_real(b_.CreateShl(b_.CreateAdd(exponent, i64(kFieldOfOne)), i64(kFractionBits)));
  }

  Pair exact_sum(V a, V c) {
    V sum = b_.CreateFAdd(a, c);
    return {sum, sum_error_in_range(l_, a, c, sum)};
  }

  /// Veltkamp's halves of a mantissa: 26 bits each.
  Pair halves(V mantissa) {
    V scaled = b_.CreateFMul(mantissa, l_.real64(0x1p27 + 1));
    V high = b_.CreateFSub(scaled, b_.CreateFSub(scaled, mantissa));
    return {high, b_.CreateFSub(mantissa, high)};
  }

  /// Dekker's product.
  Pair exact_product(V a, V c) {
    const Pair x = halves(a), y = halves(c);
    V product = b_.CreateFMul(a, c);
    V error = b_.CreateFSub(b_.CreateFMul(x.high, y.high), product);
    error = b_.CreateFAdd(error, b_.CreateFMul(x.high, y.low));
    error = b_.CreateFAdd(error, b_.CreateFMul(x.low, y.high));
    return {product, b_.CreateFAdd(error, b_.CreateFMul(x.low, y.low))};
  }

  /// The low parts are rounded to odd before they are added to the high one, after Boldo and
  /// Melquiond, "Emulation of FMA and correctly rounded sums".
  V add(const Number& a, const Number& c, const Number& d) {
    const Pair product = exact_product(a.mantissa, c.mantissa);
    V exponent = l_.call(I::smax, b_.CreateAdd(a.exponent, c.exponent),
                         b_.CreateSub(d.exponent, i64(kMostApart)));
    V apart = at_least(b_.CreateSub(d.exponent, exponent), kLeastApart);
    V addend = b_.CreateAdd(l_.bits(d.mantissa), b_.CreateShl(apart, i64(kFractionBits)));
    const Pair sum = exact_sum(product.high, l_.as_real(addend));
    const Pair all = exact_sum(sum.high, add_to_odd(l_, sum.low, product.low));
    return scale(ready_to_lose_bits(all, exponent), exponent);
  }

  /// The high part of a sum that gets the exponent. If it becomes subnormal, its last bit is
  /// changed so that the second rounding gives the result of a single one: to odd if more than one
  /// bit is lost, and away from the tie if just one is.
  V ready_to_lose_bits(const Pair& sum, V exponent) {
    V word = l_.bits(sum.high);
    V field = b_.CreateAdd(field_of(word), exponent);  // 0: one bit is lost
    V wrong = b_.CreateXor(is_odd(word), b_.CreateICmpNE(field, i64(0)));
    V inexact = b_.CreateFCmpONE(sum.low, l_.zero(sum.low));
    V moves = l_.both(l_.both(wrong, inexact), b_.CreateICmpSLT(field, i64(1)));
    V differing = b_.CreateXor(word, l_.bits(sum.low));
    V toward = b_.CreateOr(b_.CreateAShr(differing, i64(63)), i64(1));
    return l_.as_real(b_.CreateAdd(word, l_.select(moves, toward, i64(0))));
  }

  V scale(V sum, V exponent) {
    V first = at_most(at_least(exponent, kLeastFirst), kMostFirst);
    V second = at_most(at_least(b_.CreateSub(exponent, first), kLeastSecond), kMostSecond);
    return b_.CreateFMul(b_.CreateFMul(sum, power_of_two(first)), power_of_two(second));
  }

  Lanes& l_;
  llvm::IRBuilderBase& b_;
};

}  // namespace

V fma_by_sums(Lanes& l, V a, V c, V d) { return Fused(l).of(a, c, d); }

}  // namespace km::simt::arithmetic
