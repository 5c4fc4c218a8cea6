// Operand bits read as integers and as floating-point formats.
#pragma once

#include "ptx/enums.h"
#include "reference/soft_float.h"

namespace km::reference {

constexpr Bits low_mask(unsigned bits) { return bits >= 128 ? ~Bits{0} : (Bits{1} << bits) - 1; }

constexpr Bits truncate(Bits value, unsigned bits) { return value & low_mask(bits); }

/// The low `bits` bits in two's complement.
constexpr SignedBits sign_extend(Bits value, unsigned bits) {
  const unsigned up = 128 - bits;
  return static_cast<SignedBits>(value << up) >> up;
}

constexpr SignedBits extend(Bits value, unsigned bits, bool is_signed) {
  return is_signed ? sign_extend(value, bits) : static_cast<SignedBits>(truncate(value, bits));
}

constexpr SignedBits clamp(SignedBits value, SignedBits least, SignedBits most) {
  return value < least ? least : value > most ? most : value;
}

/// To the range of an integer of `bits` bits.
constexpr SignedBits clamp_to(SignedBits value, unsigned bits, bool is_signed) {
  const auto span = static_cast<SignedBits>(low_mask(is_signed ? bits - 1 : bits));
  return clamp(value, is_signed ? -span - 1 : 0, span);
}

/// The type of one element: f16x2 gives f16, f32 itself.
ptx::Type element_of(ptx::Type type);
bool is_packed(ptx::Type type);
/// 2 of f16x2, 4 of e4m3x4, 1 of f32.
unsigned element_count(ptx::Type type);
/// The format of a floating-point type (of an element of packed ones); null for others.
const Format* format_of(ptx::Type type);
bool is_plain_integer(ptx::Type type);
/// As ptx::is_signed, and for elements of s16x2.
bool has_sign(ptx::Type type);

}  // namespace km::reference
