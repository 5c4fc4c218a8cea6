// Video instructions (PTX ISA 9.7.17): selected parts of words, computed as wide integers.
#include "ptx/selector.h"
#include "simt/arithmetic/lanes.h"

namespace km::simt::arithmetic {

using ptx::Instruction;
using ptx::Modifier;
using ptx::Opcode;
using ptx::Type;

namespace {

constexpr unsigned kWide = 64;       // holds each sum and difference of two words
constexpr unsigned kVeryWide = 128;  // holds each product and each shifted word

bool sets(const Instruction& in) {
  return in.opcode == Opcode::vset || in.opcode == Opcode::vset2 || in.opcode == Opcode::vset4;
}

/// vset has no type for its result, which is u32.
bool source_is_signed(const Instruction& in, unsigned source) {
  return ptx::is_signed(in.type(sets(in) ? source : source + 1));
}

bool result_is_signed(const Instruction& in) { return !sets(in) && ptx::is_signed(in.type(0)); }

/// The bits from `first` on of a word, extended to `wide` bits.
V field(Lanes& l, V word, unsigned first, unsigned bits, unsigned wide, bool is_signed) {
  V low = first == 0 ? word : l.b.CreateLShr(word, l.constant(l.width(word), first));
  return l.extend(l.b.CreateTrunc(low, l.integer(bits)), wide, is_signed);
}

struct Part {
  unsigned bits = 32, first = 0;
};

Part part_of(uint16_t selector) {
  if (selector == 0) return {};
  const unsigned bits = (selector & ptx::kSelectorHalves) != 0 ? 16 : 8;
  return {bits, ptx::selector_digit(selector, 0) * bits};
}

V source(Lanes& l, const Instruction& in, std::span<V const> s, unsigned index, unsigned wide,
         bool is_signed) {
  const Part part = part_of(in.operands[index + 1].selector);
  return field(l, s[index], part.first, part.bits, wide, is_signed);
}

V clamped(Lanes& l, V value, unsigned bits, bool is_signed) {
  const unsigned wide = l.width(value);
  const uint64_t ones = (uint64_t{1} << bits) - 1;
  V high = l.constant(wide, is_signed ? ones >> 1 : ones);
  V low = is_signed ? l.sext(l.constant(bits, uint64_t{1} << (bits - 1)), wide) : l.zero(value);
  return l.call(llvm::Intrinsic::smin, l.call(llvm::Intrinsic::smax, value, low), high);
}

V relation(Lanes& l, const Instruction& in, V a, V c) {
  if (in.has(Modifier::eq)) return l.b.CreateICmpEQ(a, c);
  if (in.has(Modifier::ne)) return l.b.CreateICmpNE(a, c);
  if (in.has(Modifier::lt)) return l.b.CreateICmpSLT(a, c);
  if (in.has(Modifier::le)) return l.b.CreateICmpSLE(a, c);
  if (in.has(Modifier::gt)) return l.b.CreateICmpSGT(a, c);
  return l.b.CreateICmpSGE(a, c);
}

/// Averages round halves away from zero.
V average(Lanes& l, V a, V c) {
  V sum = l.b.CreateAdd(a, c);
  V positive = l.b.CreateICmpSGE(sum, l.zero(sum));
  sum = l.b.CreateAdd(sum, l.zext(positive, l.width(sum)));
  return l.b.CreateAShr(sum, l.constant_like(sum, 1));
}

V compute(Lanes& l, const Instruction& in, V a, V c) {
  switch (in.opcode) {
    case Opcode::vadd:
    case Opcode::vadd2:
    case Opcode::vadd4:
      return l.b.CreateAdd(a, c);
    case Opcode::vsub:
    case Opcode::vsub2:
    case Opcode::vsub4:
      return l.b.CreateSub(a, c);
    case Opcode::vabsdiff:
    case Opcode::vabsdiff2:
    case Opcode::vabsdiff4:
      return l.call(llvm::Intrinsic::abs, l.b.CreateSub(a, c), l.b.getFalse());
    case Opcode::vavrg2:
    case Opcode::vavrg4:
      return average(l, a, c);
    case Opcode::vmin:
    case Opcode::vmin2:
    case Opcode::vmin4:
      return l.call(llvm::Intrinsic::smin, a, c);
    case Opcode::vmax:
    case Opcode::vmax2:
    case Opcode::vmax4:
      return l.call(llvm::Intrinsic::smax, a, c);
    default:
      return l.zext(relation(l, in, a, c), l.width(a));
  }
}

/// Saturates, then applies the second operation with c or merges into it.
Values finish(Lanes& l, const Instruction& in, std::span<V const> s, V value) {
  const uint16_t selector = in.operands[0].selector;
  const Part part = part_of(selector);
  const unsigned wide = l.width(value);
  const bool is_signed = result_is_signed(in);
  if (in.has(Modifier::sat)) value = clamped(l, value, part.bits, is_signed);
  if (s.size() < 3) return {l.zext(value, 32)};
  V c = l.extend(s[2], wide, is_signed);
  if (in.has(Modifier::add)) return {l.zext(l.b.CreateAdd(value, c), 32)};
  if (in.has(Modifier::min)) return {l.zext(l.call(llvm::Intrinsic::smin, value, c), 32)};
  if (in.has(Modifier::max)) return {l.zext(l.call(llvm::Intrinsic::smax, value, c), 32)};
  value = l.zext(value, 32);
  if (selector == 0) return {value};
  const uint64_t place = ((uint64_t{1} << part.bits) - 1) << part.first;
  V kept = l.both(s[2], l.constant(32, ~place & UINT32_MAX));
  V moved = l.b.CreateShl(value, l.constant(32, part.first));
  return {l.any(kept, l.both(moved, l.constant(32, place)))};
}

Values lower_scalar(Lanes& l, const Instruction& in, std::span<V const> s) {
  V a = source(l, in, s, 0, kWide, source_is_signed(in, 0));
  V c = source(l, in, s, 1, kWide, source_is_signed(in, 1));
  return finish(l, in, s, compute(l, in, a, c));
}

Values lower_shift(Lanes& l, const Instruction& in, std::span<V const> s) {
  V value = source(l, in, s, 0, kVeryWide, source_is_signed(in, 0));
  V count = source(l, in, s, 1, kVeryWide, false);
  if (in.has(Modifier::wrap)) {
    count = l.both(count, l.constant_like(count, 31));
  } else {
    count = l.call(llvm::Intrinsic::umin, count, l.constant_like(count, 32));
  }
  V moved = in.opcode == Opcode::vshl ? l.b.CreateShl(value, count) : l.b.CreateAShr(value, count);
  return finish(l, in, s, moved);
}

/// The negation of c is its complement plus one.
Values lower_vmad(Lanes& l, const Instruction& in, std::span<V const> s) {
  const bool minus_product = in.operands[1].negated != in.operands[2].negated;
  const bool minus_c = in.operands[3].negated;
  const bool is_signed =
      source_is_signed(in, 0) || source_is_signed(in, 1) || minus_product || minus_c;
  V product = l.b.CreateMul(source(l, in, s, 0, kVeryWide, source_is_signed(in, 0)),
                            source(l, in, s, 1, kVeryWide, source_is_signed(in, 1)));
  if (minus_product) product = l.b.CreateNeg(product);
  V c = l.extend(minus_c ? l.b.CreateNot(s[2]) : s[2], kVeryWide, is_signed);
  V sum = l.b.CreateAdd(product, c);
  if (minus_c || in.has(Modifier::po)) sum = l.b.CreateAdd(sum, l.constant_like(sum, 1));
  if (in.has(Modifier::shr7)) sum = l.b.CreateAShr(sum, l.constant_like(sum, 7));
  if (in.has(Modifier::shr15)) sum = l.b.CreateAShr(sum, l.constant_like(sum, 15));
  if (in.has(Modifier::sat)) sum = clamped(l, sum, 32, is_signed);
  return {l.zext(sum, 32)};
}

// ---- Two halves or four bytes at once.

/// Element `i` of an operand, selected among the elements of both sources.
V element(Lanes& l, const Instruction& in, std::span<V const> s, unsigned operand, unsigned i,
          unsigned bits) {
  const unsigned count = 32 / bits;
  const uint16_t selector = in.operands[operand + 1].selector;
  const unsigned from = selector != 0 ? ptx::selector_digit(selector, i) : operand * count + i;
  return field(l, s[from / count], from % count * bits, bits, kWide, source_is_signed(in, operand));
}

bool is_selected(uint16_t mask, unsigned i) {
  if (mask == 0) return true;
  for (unsigned k = 0; k < ptx::selector_digits(mask); ++k) {
    if (ptx::selector_digit(mask, k) == i) return true;
  }
  return false;
}

Values lower_packed(Lanes& l, const Instruction& in, std::span<V const> s, unsigned bits) {
  V merged = s[2], sum = l.zext(s[2], kWide);
  for (unsigned i = 0; i < 32 / bits; ++i) {
    if (!is_selected(in.operands[0].selector, i)) continue;
    V value = compute(l, in, element(l, in, s, 0, i, bits), element(l, in, s, 1, i, bits));
    if (in.has(Modifier::sat)) value = clamped(l, value, bits, result_is_signed(in));
    sum = l.b.CreateAdd(sum, value);
    const uint64_t place = ((uint64_t{1} << bits) - 1) << (i * bits);
    V moved = l.b.CreateShl(l.zext(value, 32), l.constant(32, i * bits));
    merged = l.any(l.both(merged, l.constant(32, ~place & UINT32_MAX)),
                   l.both(moved, l.constant(32, place)));
  }
  return {in.has(Modifier::add) ? l.zext(sum, 32) : merged};
}

Values lower_halves(Lanes& l, const Instruction& in, std::span<V const> s) {
  return lower_packed(l, in, s, 16);
}

Values lower_bytes(Lanes& l, const Instruction& in, std::span<V const> s) {
  return lower_packed(l, in, s, 8);
}

Handler find_packed(const Instruction& in) {
  // The manual does not define .min and .max here, nor sums of saturated results.
  if (in.has(Modifier::min) || in.has(Modifier::max)) return nullptr;
  if (in.has(Modifier::sat) && in.has(Modifier::add)) return nullptr;
  switch (in.opcode) {
    case Opcode::vadd2:
    case Opcode::vsub2:
    case Opcode::vavrg2:
    case Opcode::vabsdiff2:
    case Opcode::vmin2:
    case Opcode::vmax2:
    case Opcode::vset2:
      return lower_halves;
    case Opcode::vadd4:
    case Opcode::vsub4:
    case Opcode::vavrg4:
    case Opcode::vabsdiff4:
    case Opcode::vmin4:
    case Opcode::vmax4:
    case Opcode::vset4:
      return lower_bytes;
    default:
      return nullptr;
  }
}

}  // namespace

Handler find_video(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::vadd:
    case Opcode::vsub:
    case Opcode::vabsdiff:
    case Opcode::vmin:
    case Opcode::vmax:
    case Opcode::vset:
      return lower_scalar;
    case Opcode::vshl:
    case Opcode::vshr:
      return lower_shift;
    case Opcode::vmad:
      return lower_vmad;
    default:
      return find_packed(instruction);
  }
}

}  // namespace km::simt::arithmetic
