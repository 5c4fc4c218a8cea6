// Integer division and remainder. PTX leaves the result of a zero divisor to the machine: here it
// is all ones for quotient and remainder of every width and sign, like NVIDIA's code sequences. The
// minimum divided by -1 is the minimum, with remainder 0.
#include <llvm/IR/Intrinsics.h>

#include "simt/arithmetic/lanes.h"

namespace km::simt::arithmetic {
namespace {

using ptx::Instruction;
using ptx::Opcode;
namespace I = llvm::Intrinsic;

/// Divides 32-bit lanes in f64, which represents both operands exactly. Unless it is an integer,
/// the quotient is at least 2^-32 away from the next integer, so rounding cannot reach that.
V quotient_32(Lanes& l, V a, V c, bool is_signed) {
  auto& b = l.b;
  auto widen = [&](V x) {
    return is_signed ? b.CreateSIToFP(x, l.f64()) : b.CreateUIToFP(x, l.f64());
  };
  V whole = l.call(I::trunc, b.CreateFDiv(widen(a), widen(c)));
  // After adding 1.5 * 2^52 the low bits contain the integer modulo 2^32.
  return l.zext(l.bits(b.CreateFAdd(whole, l.real64(0x1.8p52))), 32);
}

V quotient_16(Lanes& l, V a, V c, bool is_signed) {
  V wide = quotient_32(l, l.extend(a, 32, is_signed), l.extend(c, 32, is_signed), is_signed);
  return l.zext(wide, 16);
}

V safe_divisor(Lanes& l, V a, V c, bool is_signed) {
  auto& b = l.b;
  V unsafe = b.CreateICmpEQ(c, l.zero(c));
  if (is_signed) {
    uint64_t least = uint64_t{1} << (Lanes::width(a) - 1);
    V overflow =
        l.both(b.CreateICmpEQ(a, l.constant_like(a, least)), b.CreateICmpEQ(c, l.all_ones(c)));
    unsafe = l.any(unsafe, overflow);
  }
  return l.select(unsafe, l.constant_like(c, 1), c);
}

V quotient(Lanes& l, V a, V c, bool is_signed) {
  if (l.count() > 1 && !Lanes::known(c)) {
    if (Lanes::width(a) == 32) return quotient_32(l, a, c, is_signed);
    if (Lanes::width(a) == 16) return quotient_16(l, a, c, is_signed);
  }
  V divisor = safe_divisor(l, a, c, is_signed);
  return is_signed ? l.b.CreateSDiv(a, divisor) : l.b.CreateUDiv(a, divisor);
}

Values div(Lanes& l, const Instruction& in, std::span<V const> s) {
  V by_zero = l.b.CreateICmpEQ(s[1], l.zero(s[1]));
  return {l.select(by_zero, l.all_ones(s[0]), quotient(l, s[0], s[1], ptx::is_signed(in.type())))};
}

Values rem(Lanes& l, const Instruction& in, std::span<V const> s) {
  V whole = quotient(l, s[0], s[1], ptx::is_signed(in.type()));
  V rest = l.b.CreateSub(s[0], l.b.CreateMul(whole, s[1]));
  return {l.select(l.b.CreateICmpEQ(s[1], l.zero(s[1])), l.all_ones(s[0]), rest)};
}

}  // namespace

Handler find_division(const Instruction& in) { return in.opcode == Opcode::div ? div : rem; }

}  // namespace km::simt::arithmetic
