#include "simt/arithmetic/lanes.h"

#include <llvm/IR/Constants.h>

namespace km::simt::arithmetic {

namespace {

constexpr uint32_t kExponent = 0x7f800000;

}  // namespace

V Lanes::real(V like, double value) const {
  return is_f64(like) ? real64(value) : real32(static_cast<float>(value));
}

V Lanes::bits(V real) const { return b.CreateBitCast(real, integer(width(real))); }

V Lanes::as_real(V integer) const {
  return b.CreateBitCast(integer, width(integer) == 64 ? f64() : f32());
}

V Lanes::amount_for(V value, V amount) const {
  return b.CreateZExtOrTrunc(amount, value->getType());
}

V Lanes::shl(V value, V amount) const {
  V fits = b.CreateICmpULT(amount, constant_like(amount, width(value)));
  return select(fits, b.CreateShl(value, amount_for(value, amount)), zero(value));
}

V Lanes::lshr(V value, V amount) const {
  V fits = b.CreateICmpULT(amount, constant_like(amount, width(value)));
  return select(fits, b.CreateLShr(value, amount_for(value, amount)), zero(value));
}

V Lanes::ashr(V value, V amount) const {
  V last = constant_like(amount, width(value) - 1);
  V clamped = call(llvm::Intrinsic::umin, amount, last);
  return b.CreateAShr(value, amount_for(value, clamped));
}

V Lanes::nan_like(V value) const {
  return as_real(is_f64(value) ? constant(64, kNan64) : constant(32, kNan32));
}

V Lanes::canonical_nan(V value) const {
  if (is_number(value)) return value;
  return select(is_nan(value), nan_like(value), value);
}

V Lanes::flush(V value) const {
  if (!is_f32(value) || is_flushed(value)) return value;
  V word = bits(value);
  V exponent = b.CreateAnd(word, constant(32, kExponent));
  V zero = b.CreateICmpEQ(exponent, constant(32, 0));
  V cleared = b.CreateLShr(sext(zero, 32), constant(32, 1));  // all bits except the sign
  return as_real(b.CreateAnd(word, b.CreateNot(cleared)));
}

V Lanes::saturate(V value) const {
  V one = real(value, 1.0), none = real(value, 0.0);
  V positive = select(b.CreateFCmpOGT(value, none), value, none);
  return select(b.CreateFCmpOLT(positive, one), positive, one);
}

V Lanes::copysign(V magnitude, V sign) const {
  uint64_t top = uint64_t{1} << (width(sign) - 1);
  V kept = b.CreateAnd(bits(magnitude), constant_like(sign, top - 1));
  return as_real(b.CreateOr(kept, b.CreateAnd(bits(sign), constant_like(sign, top))));
}

V Lanes::split_halves(V value) const {
  Lanes half = halves();
  return b.CreateBitCast(value, half.integer(16));
}

V Lanes::join_halves(V value) const { return b.CreateBitCast(value, integer(32)); }

}  // namespace km::simt::arithmetic
