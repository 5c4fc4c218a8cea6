// Video instructions: parts of 32-bit words selected, computed with in wider integers, merged.
#include "ptx/selector.h"
#include "reference/evaluate.h"
#include "reference/values.h"

namespace km::reference {
namespace {

constexpr uint16_t kHalf = ptx::kSelectorHalves;

/// A word, half or byte of operand `index` as a number of `type`.
SignedBits part(const Arguments& a, unsigned index, Type type) {
  const uint16_t selector = a.in.operands[index + 1].selector;
  const bool is_signed = ptx::is_signed(type);
  if (selector == 0) return extend(a.s[index], 32, is_signed);
  const unsigned bits = (selector & kHalf) != 0 ? 16 : 8;
  return extend(a.s[index] >> (ptx::selector_digit(selector, 0) * bits), bits, is_signed);
}

/// Bits of what the destination's selector names: a byte, a half, the word.
unsigned destination_bits(const Arguments& a) {
  const uint16_t selector = a.in.operands[0].selector;
  if (selector == 0) return 32;
  return (selector & kHalf) != 0 ? 16 : 8;
}

SignedBits magnitude(SignedBits value) { return value < 0 ? -value : value; }

bool relates(const Instruction& in, SignedBits a, SignedBits b) {
  if (in.has(Modifier::eq)) return a == b;
  if (in.has(Modifier::ne)) return a != b;
  if (in.has(Modifier::lt)) return a < b;
  if (in.has(Modifier::le)) return a <= b;
  return in.has(Modifier::gt) ? a > b : a >= b;
}

SignedBits average(SignedBits sum) { return sum >= 0 ? (sum + 1) >> 1 : sum >> 1; }

/// One element of any of the operations.
SignedBits compute(const Instruction& in, SignedBits a, SignedBits b) {
  switch (in.opcode) {
    case Opcode::vadd:
    case Opcode::vadd2:
    case Opcode::vadd4:
      return a + b;
    case Opcode::vsub:
    case Opcode::vsub2:
    case Opcode::vsub4:
      return a - b;
    case Opcode::vabsdiff:
    case Opcode::vabsdiff2:
    case Opcode::vabsdiff4:
      return magnitude(a - b);
    case Opcode::vavrg2:
    case Opcode::vavrg4:
      return average(a + b);
    case Opcode::vmin:
    case Opcode::vmin2:
    case Opcode::vmin4:
      return a < b ? a : b;
    case Opcode::vmax:
    case Opcode::vmax2:
    case Opcode::vmax4:
      return a > b ? a : b;
    default:
      return relates(in, a, b) ? 1 : 0;
  }
}

bool is_set(const Instruction& in) {
  return in.opcode == Opcode::vset || in.opcode == Opcode::vset2 || in.opcode == Opcode::vset4;
}

/// vset has no type for its destination: it is .u32.
Type source_type(const Instruction& in, unsigned index) {
  return in.type(is_set(in) ? index : index + 1);
}

bool signed_destination(const Instruction& in) { return !is_set(in) && ptx::is_signed(in.type(0)); }

/// Saturation, the secondary operation with c or the merge into it.
Outcome finish(const Arguments& a, SignedBits value) {
  const unsigned bits = destination_bits(a);
  const bool is_signed = signed_destination(a.in);
  if (a.in.has(Modifier::sat)) value = clamp_to(value, bits, is_signed);
  if (a.s.size() < 3) return {static_cast<Bits>(value)};
  const SignedBits c = extend(a.s[2], 32, is_signed);
  if (a.in.has(Modifier::add)) return {static_cast<Bits>(value + c)};
  if (a.in.has(Modifier::min)) return {static_cast<Bits>(value < c ? value : c)};
  if (a.in.has(Modifier::max)) return {static_cast<Bits>(value > c ? value : c)};
  const uint16_t selector = a.in.operands[0].selector;
  if (selector == 0) return {static_cast<Bits>(value)};
  const unsigned position = ptx::selector_digit(selector, 0) * bits;
  const Bits place = low_mask(bits) << position;
  return {(a.s[2] & ~place) | (static_cast<Bits>(value) << position & place)};
}

Outcome scalar(const Arguments& a) {
  return finish(a,
                compute(a.in, part(a, 0, source_type(a.in, 0)), part(a, 1, source_type(a.in, 1))));
}

Outcome shift(const Arguments& a) {
  const SignedBits value = part(a, 0, a.in.type(1));
  SignedBits count = part(a, 1, Type::u32);
  count = a.in.has(Modifier::wrap) ? count & 31 : clamp(count, 0, 32);
  const auto n = static_cast<int>(count);
  return finish(a, a.in.opcode == Opcode::vshl ? value << n : value >> n);
}

Outcome vmad(const Arguments& a) {
  const bool minus_product = a.in.operands[1].negated != a.in.operands[2].negated;
  const bool minus_c = a.in.operands[3].negated;
  const bool is_signed =
      ptx::is_signed(a.in.type(1)) || ptx::is_signed(a.in.type(2)) || minus_product || minus_c;
  const SignedBits product = part(a, 0, a.in.type(1)) * part(a, 1, a.in.type(2));
  const SignedBits c = extend(minus_c ? truncate(~a.s[2], 32) : a.s[2], 32, is_signed);
  SignedBits sum = (minus_product ? -product : product) + c;
  if (minus_c || a.in.has(Modifier::po)) ++sum;
  if (a.in.has(Modifier::shr7)) sum >>= 7;
  if (a.in.has(Modifier::shr15)) sum >>= 15;
  if (a.in.has(Modifier::sat)) sum = clamp_to(sum, 32, is_signed);
  return {static_cast<Bits>(sum)};
}

// ---- Two halves or four bytes at once.

/// Element `i` of an operand, which its selector picks among those of both sources.
SignedBits element(const Arguments& a, unsigned operand, unsigned i, unsigned bits) {
  const unsigned count = 32 / bits;
  const uint16_t selector = a.in.operands[operand + 1].selector;
  const unsigned from = selector ? ptx::selector_digit(selector, i) : operand * count + i;
  const Bits both = a.s[1] << 32 | a.s[0];
  return extend(both >> (from * bits), bits, ptx::is_signed(source_type(a.in, operand)));
}

bool is_selected(uint16_t mask, unsigned i) {
  if (mask == 0) return true;
  bool found = false;
  for (unsigned k = 0; k < ptx::selector_digits(mask); ++k) {
    found = found || ptx::selector_digit(mask, k) == i;
  }
  return found;
}

Outcome packed(const Arguments& a, unsigned bits) {
  const uint16_t mask = a.in.operands[0].selector;
  Bits result = a.s[2];
  SignedBits sum = static_cast<SignedBits>(a.s[2]);
  for (unsigned i = 0; i < 32 / bits; ++i) {
    if (!is_selected(mask, i)) continue;
    SignedBits value = compute(a.in, element(a, 0, i, bits), element(a, 1, i, bits));
    if (a.in.has(Modifier::sat)) value = clamp_to(value, bits, signed_destination(a.in));
    sum += value;
    const Bits place = low_mask(bits) << (i * bits);
    result = (result & ~place) | (static_cast<Bits>(value) << (i * bits) & place);
  }
  return {a.in.has(Modifier::add) ? static_cast<Bits>(sum) : result};
}

Outcome packed_halves(const Arguments& a) { return packed(a, 16); }
Outcome packed_bytes(const Arguments& a) { return packed(a, 8); }

Handler find_packed(const Instruction& in) {
  switch (in.opcode) {
    case Opcode::vadd2:
    case Opcode::vsub2:
    case Opcode::vavrg2:
    case Opcode::vabsdiff2:
    case Opcode::vmin2:
    case Opcode::vmax2:
    case Opcode::vset2:
      return packed_halves;
    case Opcode::vadd4:
    case Opcode::vsub4:
    case Opcode::vavrg4:
    case Opcode::vabsdiff4:
    case Opcode::vmin4:
    case Opcode::vmax4:
    case Opcode::vset4:
      return packed_bytes;
    default:
      return nullptr;
  }
}

}  // namespace

Handler find_video(const Instruction& in) {
  switch (in.opcode) {
    case Opcode::vadd:
    case Opcode::vsub:
    case Opcode::vabsdiff:
    case Opcode::vmin:
    case Opcode::vmax:
    case Opcode::vset:
      return scalar;
    case Opcode::vshl:
    case Opcode::vshr:
      return shift;
    case Opcode::vmad:
      return vmad;
    default:
      break;
  }
  // The manual has no meaning for .min and .max, nor for saturated sums.
  const bool undefined = in.has(Modifier::min) || in.has(Modifier::max) ||
                         (in.has(Modifier::sat) && in.has(Modifier::add));
  return undefined ? nullptr : find_packed(in);
}

}  // namespace km::reference
