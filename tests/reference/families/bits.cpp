// Logic, shifts, bit fields, searches and permutes.
#include "reference/evaluate.h"
#include "reference/values.h"

namespace km::reference {
namespace {

unsigned width(const Arguments& a) { return ptx::size_bits(a.in.type()); }

bool bit(Bits value, int position) { return (value >> position & 1) != 0; }

Outcome and_(const Arguments& a) { return {a.s[0] & a.s[1]}; }
Outcome or_(const Arguments& a) { return {a.s[0] | a.s[1]}; }
Outcome xor_(const Arguments& a) { return {a.s[0] ^ a.s[1]}; }
Outcome not_(const Arguments& a) { return {~a.s[0]}; }
Outcome cnot(const Arguments& a) { return {a.s[0] == 0 ? Bits{1} : Bits{0}}; }

/// Counts beyond the width shift everything out.
unsigned shift_count(const Arguments& a, unsigned index) {
  const auto count = static_cast<uint64_t>(a.s[index]);
  return count > width(a) ? width(a) : static_cast<unsigned>(count);
}

Outcome shl(const Arguments& a) { return {a.s[0] << shift_count(a, 1)}; }

Outcome shr(const Arguments& a) {
  const SignedBits value = extend(a.s[0], width(a), ptx::is_signed(a.in.type()));
  return {static_cast<Bits>(value >> shift_count(a, 1))};
}

/// d = upper or lower word of b:a shifted.
Outcome shf(const Arguments& a) {
  const auto given = static_cast<uint64_t>(a.s[2]);
  const unsigned count = a.in.has(Modifier::wrap) ? given & 31 : given > 32 ? 32 : given;
  const Bits both = a.s[1] << 32 | a.s[0];
  return {a.in.has(Modifier::l) ? both << count >> 32 : both >> count};
}

// ---- Fields.

/// A position or length: the manual permits 0 to 255. GPUs take the low byte for words of 32 bits,
/// and all of it for words of 64 bits, where a number beyond the word is like the word's width.
int extent(const Arguments& a, unsigned index) {
  const auto given = static_cast<uint32_t>(a.s[index]);
  return static_cast<int>(width(a) == 32 ? given & 0xff : given < 255 ? given : 255);
}

Outcome bfe(const Arguments& a) {
  const int msb = static_cast<int>(width(a)) - 1;
  const int position = extent(a, 1), length = extent(a, 2);
  const int last = position + length - 1 < msb ? position + length - 1 : msb;
  const bool sign = ptx::is_signed(a.in.type()) && length != 0 && bit(a.s[0], last);
  Bits result = 0;
  for (int i = 0; i <= msb; ++i) {
    const bool inside = i < length && position + i <= msb;
    if (inside ? bit(a.s[0], position + i) : sign) result |= Bits{1} << i;
  }
  return {result};
}

Outcome bfi(const Arguments& a) {
  const int msb = static_cast<int>(width(a)) - 1;
  const int position = extent(a, 2), length = extent(a, 3);
  Bits result = a.s[1];
  for (int i = 0; i < length && position + i <= msb; ++i) {
    const Bits place = Bits{1} << (position + i);
    result = bit(a.s[0], i) ? result | place : result & ~place;
  }
  return {result};
}

/// Ones from bit a on, b of them.
Outcome bmsk(const Arguments& a) {
  const bool wrap = a.in.has(Modifier::wrap);
  const auto first = static_cast<uint64_t>(wrap ? a.s[0] & 31 : a.s[0]);
  const auto count = static_cast<uint64_t>(wrap ? a.s[1] & 31 : a.s[1]);
  Bits result = 0;
  for (uint64_t i = first; i < 32 && i - first < count; ++i) result |= Bits{1} << i;
  return {result};
}

Outcome szext(const Arguments& a) {
  const auto given = static_cast<uint64_t>(a.s[1]);
  const uint64_t count = a.in.has(Modifier::wrap) ? given & 31 : given;
  if (count == 0) return {0};
  if (count >= 32) return {a.s[0]};
  const bool is_signed = ptx::is_signed(a.in.type());
  return {static_cast<Bits>(extend(a.s[0], static_cast<unsigned>(count), is_signed))};
}

// ---- Counts and searches.

Outcome popc(const Arguments& a) {
  Bits count = 0;
  for (unsigned i = 0; i < width(a); ++i) count += bit(a.s[0], static_cast<int>(i)) ? 1 : 0;
  return {count};
}

Outcome clz(const Arguments& a) {
  const auto bits = static_cast<int>(width(a));
  return {static_cast<Bits>(a.s[0] == 0 ? bits : bits - 1 - highest_bit(a.s[0]))};
}

Outcome brev(const Arguments& a) {
  Bits result = 0;
  for (unsigned i = 0; i < width(a); ++i) {
    if (bit(a.s[0], static_cast<int>(i))) result |= Bits{1} << (width(a) - 1 - i);
  }
  return {result};
}

Outcome bfind(const Arguments& a) {
  const auto msb = static_cast<int>(width(a)) - 1;
  Bits value = a.s[0];
  if (ptx::is_signed(a.in.type()) && bit(value, msb)) value = truncate(~value, width(a));
  if (value == 0) return {0xffffffff};
  const int found = highest_bit(value);
  return {static_cast<Bits>(a.in.has(Modifier::shiftamt) ? msb - found : found)};
}

/// The manual leaves bases beyond 31 undefined; their low five bits count here.
Outcome fns(const Arguments& a) {
  if (static_cast<uint32_t>(a.s[1]) > 31)
    return {0xffffffff};  // as GPUs do; the manual has no base there
  const int base = static_cast<int>(a.s[1]);
  const auto offset = static_cast<int64_t>(sign_extend(a.s[2], 32));
  if (offset == 0) return {bit(a.s[0], base) ? static_cast<Bits>(base) : Bits{0xffffffff}};
  int64_t left = (offset < 0 ? -offset : offset) - 1;
  for (int position = base; position >= 0 && position < 32; position += offset > 0 ? 1 : -1) {
    if (bit(a.s[0], position) && left-- == 0) return {static_cast<Bits>(position)};
  }
  return {0xffffffff};
}

// ---- Permutes and tables.

/// The source byte of each byte of the result, the lowest first, by the low two bits of c.
int prmt_source(const Instruction& in, int control, int place) {
  if (in.has(Modifier::f4e)) return control + place;
  if (in.has(Modifier::b4e)) return (control - place) & 7;
  if (in.has(Modifier::rc8)) return control;
  if (in.has(Modifier::ecl)) return place > control ? place : control;
  if (in.has(Modifier::ecr)) return place < control ? place : control;
  return (control & 1) * 2 + (place & 1);  // rc16
}

Outcome prmt(const Arguments& a) {
  const Bits source = a.s[1] << 32 | a.s[0];
  bool generic = true;
  for (Modifier mode : {Modifier::f4e, Modifier::b4e, Modifier::rc8, Modifier::ecl, Modifier::ecr,
                        Modifier::rc16}) {
    generic = generic && !a.in.has(mode);
  }
  Bits result = 0;
  for (int place = 0; place < 4; ++place) {
    const int selector = static_cast<int>(a.s[2] >> (4 * place) & 0xf);
    const int from =
        generic ? selector & 7 : prmt_source(a.in, static_cast<int>(a.s[2] & 3), place);
    Bits byte = source >> (8 * from) & 0xff;
    if (generic && (selector & 8) != 0) byte = bit(byte, 7) ? 0xff : 0;
    result |= byte << (8 * place);
  }
  return {result};
}

Outcome lop3(const Arguments& a) {
  Bits result = 0;
  for (int i = 0; i < 32; ++i) {
    const int row = bit(a.s[0], i) * 4 + bit(a.s[1], i) * 2 + bit(a.s[2], i);
    if (bit(a.s[3], row)) result |= Bits{1} << i;
  }
  if (a.s.size() < 5) return {result};
  const bool any = result != 0, other = a.s[4] != 0;
  return {result, a.in.has(Modifier::or_) ? any || other : any && other};
}

}  // namespace

Handler find_bits(const Instruction& in) {
  switch (in.opcode) {
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
    case Opcode::shf:
      return shf;
    case Opcode::bfe:
      return bfe;
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
    case Opcode::fns:
      return fns;
    case Opcode::prmt:
      return prmt;
    case Opcode::lop3:
      return lop3;
    default:
      return nullptr;
  }
}

}  // namespace km::reference
