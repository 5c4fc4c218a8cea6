// Integer arithmetic, logic and plain shifts.
#include <llvm/IR/Intrinsics.h>

#include "simt/arithmetic/lanes.h"

namespace km::simt::arithmetic {
namespace {

using ptx::Instruction;
using ptx::Modifier;
using ptx::Opcode;
using ptx::Type;
namespace I = llvm::Intrinsic;

bool signed_lanes(const Instruction& in) {
  return ptx::is_signed(in.type()) || in.type() == Type::s16x2;
}

/// Applies `f` to lanes of the instruction's element type, which has 16 bits for packed types.
template <class F>
Values on_elements(Lanes& l, const Instruction& in, std::span<V const> s, F f) {
  if (!ptx::is_packed_integer(in.type())) return {f(l, s)};
  Lanes half = l.halves();
  Values parts;
  for (V source : s) parts.push_back(l.split_halves(source));
  return {l.join_halves(f(half, std::span<V const>(parts)))};
}

Values add(Lanes& l, const Instruction& in, std::span<V const> s) {
  return on_elements(l, in, s, [&](Lanes& e, std::span<V const> x) {
    return in.has(Modifier::sat) ? e.call(I::sadd_sat, x[0], x[1]) : e.b.CreateAdd(x[0], x[1]);
  });
}

Values sub(Lanes& l, const Instruction& in, std::span<V const> s) {
  return on_elements(l, in, s, [&](Lanes& e, std::span<V const> x) {
    return in.has(Modifier::sat) ? e.call(I::ssub_sat, x[0], x[1]) : e.b.CreateSub(x[0], x[1]);
  });
}

Values minimum(Lanes& l, const Instruction& in, std::span<V const> s) {
  return on_elements(l, in, s, [&](Lanes& e, std::span<V const> x) {
    V least = e.call(signed_lanes(in) ? I::smin : I::umin, x[0], x[1]);
    return in.has(Modifier::relu) ? e.call(I::smax, least, e.zero(least)) : least;
  });
}

Values maximum(Lanes& l, const Instruction& in, std::span<V const> s) {
  return on_elements(l, in, s, [&](Lanes& e, std::span<V const> x) {
    V most = e.call(signed_lanes(in) ? I::smax : I::umax, x[0], x[1]);
    return in.has(Modifier::relu) ? e.call(I::smax, most, e.zero(most)) : most;
  });
}

/// The high half of the product of 32-bit lanes: even and odd lanes are multiplied as 64-bit
/// products, for which vector instruction sets have an instruction.
V high_half_32(Lanes& l, V a, V c, bool is_signed) {
  Lanes pairs(l.b, l.machine(), l.count() / 2);
  auto& b = l.b;
  V low_mask = pairs.constant(64, 0xffffffff), half = pairs.constant(64, 32);
  auto odd = [&](V x) { return is_signed ? b.CreateAShr(x, half) : b.CreateLShr(x, half); };
  auto even = [&](V x) {
    return is_signed ? b.CreateAShr(b.CreateShl(x, half), half) : b.CreateAnd(x, low_mask);
  };
  V wide_a = b.CreateBitCast(a, pairs.integer(64)), wide_c = b.CreateBitCast(c, pairs.integer(64));
  V low = b.CreateLShr(b.CreateMul(even(wide_a), even(wide_c)), half);
  V high = b.CreateMul(odd(wide_a), odd(wide_c));
  V low_lanes = b.CreateBitCast(low, a->getType()),
    high_lanes = b.CreateBitCast(high, a->getType());
  std::vector<int> blend(l.count());
  for (unsigned i = 0; i < l.count(); ++i) blend[i] = static_cast<int>(i % 2 ? l.count() + i : i);
  return b.CreateShuffleVector(low_lanes, high_lanes, blend);
}

/// The high half of the product of 64-bit vector lanes, computed from 32-bit halves.
V high_half_64(Lanes& l, V a, V c, bool is_signed) {
  auto& b = l.b;
  V mask = l.constant(64, 0xffffffff), half = l.constant(64, 32);
  V a0 = b.CreateAnd(a, mask), a1 = b.CreateLShr(a, half);
  V c0 = b.CreateAnd(c, mask), c1 = b.CreateLShr(c, half);
  V cross = b.CreateAdd(b.CreateMul(a1, c0), b.CreateLShr(b.CreateMul(a0, c0), half));
  V middle = b.CreateAdd(b.CreateMul(a0, c1), b.CreateAnd(cross, mask));
  V high = b.CreateAdd(b.CreateMul(a1, c1), b.CreateLShr(cross, half));
  high = b.CreateAdd(high, b.CreateLShr(middle, half));
  if (!is_signed) return high;
  V sign = l.constant(64, 63);
  high = b.CreateSub(high, b.CreateAnd(b.CreateAShr(a, sign), c));
  return b.CreateSub(high, b.CreateAnd(b.CreateAShr(c, sign), a));
}

V high_half(Lanes& l, V a, V c, bool is_signed) {
  unsigned bits = Lanes::width(a);
  bool vector = l.count() >= 2 && l.count() % 2 == 0;
  const bool pairs = vector && !l.machine().has_word_products();
  if (pairs && bits == 32) return high_half_32(l, a, c, is_signed);
  if (vector && bits == 64) return high_half_64(l, a, c, is_signed);
  V product = l.b.CreateMul(l.extend(a, 2 * bits, is_signed), l.extend(c, 2 * bits, is_signed));
  return l.zext(l.b.CreateLShr(product, l.constant(2 * bits, bits)), bits);
}

V product(Lanes& l, const Instruction& in, V a, V c) {
  bool is_signed = ptx::is_signed(in.type());
  if (in.has(Modifier::hi)) return high_half(l, a, c, is_signed);
  if (!in.has(Modifier::wide)) return l.b.CreateMul(a, c);
  unsigned bits = 2 * Lanes::width(a);
  return l.b.CreateMul(l.extend(a, bits, is_signed), l.extend(c, bits, is_signed));
}

/// Bits 47..16 (hi) or 31..0 of the product of the low 24 bits.
V product_24(Lanes& l, const Instruction& in, V a, V c) {
  bool is_signed = ptx::is_signed(in.type());
  auto& b = l.b;
  auto low_24 = [&](V x) {
    if (!is_signed) return b.CreateAnd(x, l.constant(32, 0xffffff));
    return b.CreateAShr(b.CreateShl(x, l.constant(32, 8)), l.constant(32, 8));
  };
  if (!in.has(Modifier::hi)) return b.CreateMul(low_24(a), low_24(c));
  V wide = b.CreateMul(l.extend(low_24(a), 64, is_signed), l.extend(low_24(c), 64, is_signed));
  return l.zext(b.CreateLShr(wide, l.constant(64, 16)), 32);
}

Values mul(Lanes& l, const Instruction& in, std::span<V const> s) {
  return {product(l, in, s[0], s[1])};
}

Values mad(Lanes& l, const Instruction& in, std::span<V const> s) {
  V low = product(l, in, s[0], s[1]);
  return {in.has(Modifier::sat) ? l.call(I::sadd_sat, low, s[2]) : l.b.CreateAdd(low, s[2])};
}

Values mul24(Lanes& l, const Instruction& in, std::span<V const> s) {
  return {product_24(l, in, s[0], s[1])};
}

Values mad24(Lanes& l, const Instruction& in, std::span<V const> s) {
  V low = product_24(l, in, s[0], s[1]);
  return {in.has(Modifier::sat) ? l.call(I::sadd_sat, low, s[2]) : l.b.CreateAdd(low, s[2])};
}

Values sad(Lanes& l, const Instruction& in, std::span<V const> s) {
  bool is_signed = ptx::is_signed(in.type());
  V most = l.call(is_signed ? I::smax : I::umax, s[0], s[1]);
  V least = l.call(is_signed ? I::smin : I::umin, s[0], s[1]);
  return {l.b.CreateAdd(s[2], l.b.CreateSub(most, least))};
}

Values absolute(Lanes& l, const Instruction&, std::span<V const> s) {
  return {l.b.CreateIntrinsic(I::abs, {s[0]->getType()}, {s[0], l.b.getFalse()})};
}

Values negate(Lanes& l, const Instruction&, std::span<V const> s) { return {l.b.CreateNeg(s[0])}; }

/// The dot product of the parts of `a` (each `a_bits` wide) with the bytes of `c` from `first` on.
V dot(Lanes& l, const Instruction& in, std::span<V const> s, unsigned a_bits, unsigned first) {
  auto& b = l.b;
  auto part = [&](V x, unsigned position, unsigned bits, bool is_signed) {
    V top = b.CreateShl(x, l.constant(32, 32 - bits - position));
    V shift = l.constant(32, 32 - bits);
    return is_signed ? b.CreateAShr(top, shift) : b.CreateLShr(top, shift);
  };
  bool a_signed = ptx::is_signed(in.type(0)), c_signed = ptx::is_signed(in.type(1));
  V sum = s[2];
  for (unsigned i = 0; i < 32 / a_bits; ++i) {
    V a = part(s[0], i * a_bits, a_bits, a_signed);
    V c = part(s[1], (first + i) * 8, 8, c_signed);
    sum = b.CreateAdd(sum, b.CreateMul(a, c));
  }
  return sum;
}

Values dp4a(Lanes& l, const Instruction& in, std::span<V const> s) { return {dot(l, in, s, 8, 0)}; }

Values dp2a(Lanes& l, const Instruction& in, std::span<V const> s) {
  return {dot(l, in, s, 16, in.has(Modifier::hi) ? 2 : 0)};
}

Values and_(Lanes& l, const Instruction&, std::span<V const> s) {
  return {l.b.CreateAnd(s[0], s[1])};
}
Values or_(Lanes& l, const Instruction&, std::span<V const> s) {
  return {l.b.CreateOr(s[0], s[1])};
}
Values xor_(Lanes& l, const Instruction&, std::span<V const> s) {
  return {l.b.CreateXor(s[0], s[1])};
}
Values not_(Lanes& l, const Instruction&, std::span<V const> s) { return {l.b.CreateNot(s[0])}; }

Values cnot(Lanes& l, const Instruction&, std::span<V const> s) {
  return {l.zext(l.b.CreateICmpEQ(s[0], l.zero(s[0])), Lanes::width(s[0]))};
}

Values shl(Lanes& l, const Instruction&, std::span<V const> s) { return {l.shl(s[0], s[1])}; }

Values shr(Lanes& l, const Instruction& in, std::span<V const> s) {
  return {ptx::is_signed(in.type()) ? l.ashr(s[0], s[1]) : l.lshr(s[0], s[1])};
}

}  // namespace

Handler find_integer(const Instruction& in) {
  switch (in.opcode) {
    case Opcode::add:
      return add;
    case Opcode::sub:
      return sub;
    case Opcode::mul:
      return mul;
    case Opcode::mad:
      return mad;
    case Opcode::mul24:
      return mul24;
    case Opcode::mad24:
      return mad24;
    case Opcode::sad:
      return sad;
    case Opcode::min:
      return minimum;
    case Opcode::max:
      return maximum;
    case Opcode::abs:
      return absolute;
    case Opcode::neg:
      return negate;
    case Opcode::dp4a:
      return dp4a;
    case Opcode::dp2a:
      return dp2a;
    case Opcode::and_:
      return and_;
    case Opcode::or_:
      return or_;
    case Opcode::xor_:
      return xor_;
    case Opcode::not_:
      return not_;
    case Opcode::cnot:
      return cnot;
    case Opcode::shl:
      return shl;
    case Opcode::shr:
      return shr;
    default:
      return nullptr;
  }
}

}  // namespace km::simt::arithmetic
