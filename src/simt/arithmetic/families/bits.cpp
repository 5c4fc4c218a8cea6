// Bit fields, counts and searches.
#include <llvm/IR/Intrinsics.h>

#include "simt/arithmetic/lanes.h"

namespace km::simt::arithmetic {
namespace {

using ptx::Instruction;
using ptx::Modifier;
using ptx::Opcode;
namespace I = llvm::Intrinsic;

/// A position or length operand: the low byte of a 32-bit word, but all bits of a 64-bit one, which
/// is how GPUs treat values beyond 255, the limit of the manual.
V extent(Lanes& l, V word, V given) {
  return Lanes::width(word) == 32 ? l.b.CreateAnd(given, l.constant(32, 0xff)) : given;
}

/// A mask of the lowest `length` bits; all bits if `length` is at least `width`.
V low_mask(Lanes& l, unsigned width, V length) {
  V ones = l.all_ones(l.constant(width, 0));
  return l.b.CreateNot(l.shl(ones, length));
}

Values bfe_unsigned(Lanes& l, const Instruction&, std::span<V const> s) {
  V position = extent(l, s[0], s[1]), length = extent(l, s[0], s[2]);
  return {l.b.CreateAnd(l.lshr(s[0], position), low_mask(l, Lanes::width(s[0]), length))};
}

/// Shifts the field to the top, then arithmetically down, which extends its sign.
Values bfe_signed(Lanes& l, const Instruction&, std::span<V const> s) {
  V width = l.constant(32, Lanes::width(s[0]));
  // Positions beyond the width all give the same result, and clamping keeps the sum within 32 bits.
  V position = l.call(I::umin, extent(l, s[0], s[1]), width);
  V length = l.call(I::umin, extent(l, s[0], s[2]), width);
  V end = l.call(I::umin, l.b.CreateAdd(position, length), width);
  V up = l.b.CreateSub(width, end);
  V field = l.ashr(l.shl(s[0], up), l.b.CreateAdd(up, position));
  return {l.select(l.b.CreateICmpEQ(length, l.zero(length)), l.zero(field), field)};
}

Values bfi(Lanes& l, const Instruction&, std::span<V const> s) {
  V position = extent(l, s[0], s[2]), length = extent(l, s[0], s[3]);
  V low = low_mask(l, Lanes::width(s[0]), length);
  V mask = l.shl(low, position);
  V field = l.shl(l.b.CreateAnd(s[0], low), position);
  return {l.b.CreateOr(field, l.b.CreateAnd(s[1], l.b.CreateNot(mask)))};
}

Values bmsk(Lanes& l, const Instruction& in, std::span<V const> s) {
  auto& b = l.b;
  V five = l.constant(32, 31), position = s[0], length = s[1];
  if (in.has(Modifier::wrap)) {
    position = b.CreateAnd(position, five);
    length = b.CreateAnd(length, five);
  }
  return {l.shl(low_mask(l, 32, length), position)};
}

Values szext(Lanes& l, const Instruction& in, std::span<V const> s) {
  auto& b = l.b;
  V length = s[1];
  if (in.has(Modifier::wrap)) length = b.CreateAnd(length, l.constant(32, 31));
  if (!ptx::is_signed(in.type())) return {b.CreateAnd(s[0], low_mask(l, 32, length))};
  // From 32 bits on the value stays unchanged; a length of zero gives zero.
  V up = b.CreateSub(l.constant(32, 32), l.call(I::umin, length, l.constant(32, 32)));
  V extended = l.ashr(l.shl(s[0], up), up);
  return {l.select(b.CreateICmpEQ(length, l.zero(length)), l.zero(extended), extended)};
}

Values popc(Lanes& l, const Instruction&, std::span<V const> s) {
  return {l.zext(l.call(I::ctpop, s[0]), 32)};
}

V leading_zeros(Lanes& l, V x) {
  return l.zext(l.b.CreateIntrinsic(I::ctlz, {x->getType()}, {x, l.b.getFalse()}), 32);
}

Values clz(Lanes& l, const Instruction&, std::span<V const> s) { return {leading_zeros(l, s[0])}; }

Values brev(Lanes& l, const Instruction&, std::span<V const> s) {
  return {l.call(I::bitreverse, s[0])};
}

Values bfind(Lanes& l, const Instruction& in, std::span<V const> s) {
  auto& b = l.b;
  unsigned width = Lanes::width(s[0]);
  V x = s[0];
  if (ptx::is_signed(in.type())) {
    x = b.CreateXor(x, b.CreateAShr(x, l.constant(width, width - 1)));
  }
  V zeros = leading_zeros(l, x);
  if (!in.has(Modifier::shiftamt)) return {b.CreateSub(l.constant(32, width - 1), zeros)};
  V none = b.CreateICmpEQ(zeros, l.constant(32, width));
  return {l.select(none, l.all_ones(zeros), zeros)};
}

Values shf(Lanes& l, const Instruction& in, std::span<V const> s) {
  auto& b = l.b;
  bool left = in.has(Modifier::l);
  I::ID funnel = left ? I::fshl : I::fshr;
  V shifted = b.CreateIntrinsic(funnel, {s[0]->getType()}, {s[1], s[0], s[2]});
  if (in.has(Modifier::wrap)) return {shifted};
  V whole_word = b.CreateICmpUGE(s[2], l.constant(32, 32));
  return {l.select(whole_word, left ? s[0] : s[1], shifted)};
}

/// The position of the n+1-th set bit from below; all ones if there is none.
V nth_set_bit(Lanes& l, V mask, V n) {
  auto& b = l.b;
  // A binary search skips 16, 8, 4, 2 and 1 bits if they contain too few set bits.
  V position = l.constant(32, 0), left = n, rest = mask;
  for (unsigned step = 16; step > 0; step /= 2) {
    V low = b.CreateAnd(rest, l.constant(32, (uint64_t{1} << step) - 1));
    V count = l.call(I::ctpop, low);
    V skip = b.CreateICmpUGE(left, count);
    left = l.select(skip, b.CreateSub(left, count), left);
    rest = l.select(skip, b.CreateLShr(rest, l.constant(32, step)), rest);
    position = l.select(skip, b.CreateAdd(position, l.constant(32, step)), position);
  }
  V found = b.CreateICmpULT(n, l.call(I::ctpop, mask));
  return l.select(found, position, l.all_ones(position));
}

Values fns(Lanes& l, const Instruction&, std::span<V const> s) {
  auto& b = l.b;
  V one = l.constant(32, 1), base = b.CreateAnd(s[1], l.constant(32, 31)), offset = s[2];
  V forward_mask = b.CreateAnd(s[0], l.shl(l.all_ones(base), base));
  V forward = nth_set_bit(l, forward_mask, b.CreateSub(offset, one));
  V down = b.CreateSub(l.constant(32, 31), base);
  V backward_mask = b.CreateAnd(l.call(I::bitreverse, s[0]), l.shl(l.all_ones(base), down));
  V mirrored = nth_set_bit(l, backward_mask, b.CreateNot(offset));
  V missed = b.CreateICmpEQ(mirrored, l.all_ones(mirrored));
  V backward = l.select(missed, mirrored, b.CreateSub(l.constant(32, 31), mirrored));
  V here = b.CreateAnd(l.lshr(s[0], base), one);
  V at_base = l.select(b.CreateICmpEQ(here, one), base, l.all_ones(base));
  V searched = l.select(b.CreateICmpSGT(offset, l.zero(offset)), forward, backward);
  V found = l.select(b.CreateICmpEQ(offset, l.zero(offset)), at_base, searched);
  // On GPUs a base that is not a bit position finds nothing.
  return {l.select(b.CreateICmpULT(s[1], l.constant(32, 32)), found, l.all_ones(found))};
}

}  // namespace

Handler find_bits(const Instruction& in) {
  switch (in.opcode) {
    case Opcode::bfe:
      return ptx::is_signed(in.type()) ? bfe_signed : bfe_unsigned;
    case Opcode::bfi:
      return bfi;
    case Opcode::bmsk:
      return bmsk;
    case Opcode::szext:
      return szext;
    case Opcode::popc:
      return popc;
    case Opcode::clz:
      return clz;
    case Opcode::brev:
      return brev;
    case Opcode::bfind:
      return bfind;
    case Opcode::shf:
      return shf;
    case Opcode::fns:
      return fns;
    default:
      return nullptr;
  }
}

}  // namespace km::simt::arithmetic
