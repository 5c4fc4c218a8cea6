// Integer arithmetic. Everything is computed in 128 bits; the caller cuts results to their type.
#include "reference/evaluate.h"
#include "reference/values.h"

namespace km::reference {
namespace {

unsigned width(const Arguments& a) { return ptx::size_bits(element_of(a.in.type())); }

SignedBits number(const Arguments& a, unsigned index) {
  return extend(a.s[index], width(a), has_sign(a.in.type()));
}

Outcome of(SignedBits value) { return {static_cast<Bits>(value)}; }

/// Saturates where the instruction says so; only .s32 has it.
Outcome finish(const Arguments& a, SignedBits value) {
  return of(a.in.has(Modifier::sat) ? clamp_to(value, 32, true) : value);
}

/// Applies `f(x, y)` to both halves of packed operands, or to plain ones.
template <class F>
Outcome on_elements(const Arguments& a, F f) {
  const unsigned bits = width(a);
  const bool is_signed = has_sign(a.in.type());
  const unsigned count = is_packed(a.in.type()) ? 2 : 1;
  Bits result = 0;
  for (unsigned i = 0; i < count; ++i) {
    const SignedBits x = extend(a.s[0] >> (i * bits), bits, is_signed);
    const SignedBits y = extend(a.s[1] >> (i * bits), bits, is_signed);
    result |= truncate(static_cast<Bits>(f(x, y)), bits) << (i * bits);
  }
  return {result};
}

Outcome add(const Arguments& a) {
  if (a.in.has(Modifier::sat)) return finish(a, number(a, 0) + number(a, 1));
  return on_elements(a, [](SignedBits x, SignedBits y) { return x + y; });
}

Outcome sub(const Arguments& a) {
  if (a.in.has(Modifier::sat)) return finish(a, number(a, 0) - number(a, 1));
  return on_elements(a, [](SignedBits x, SignedBits y) { return x - y; });
}

Outcome min_max(const Arguments& a) {
  const bool maximum = a.in.opcode == Opcode::max, relu = a.in.has(Modifier::relu);
  return on_elements(a, [=](SignedBits x, SignedBits y) {
    const SignedBits chosen = (x < y) != maximum ? x : y;
    return relu && chosen < 0 ? SignedBits{0} : chosen;
  });
}

// ---- With the carry flag: unsigned sums with one bit more.

Outcome with_carry(const Arguments& a, Bits wide) {
  const unsigned bits = width(a);
  Outcome result{truncate(wide, bits)};
  result.carry = a.in.has(Modifier::cc) ? (wide >> bits & 1) != 0 : a.carry;
  return result;
}

Outcome add_carry(const Arguments& a) {
  const bool in = a.in.opcode == Opcode::addc && a.carry;
  return with_carry(a, a.s[0] + a.s[1] + (in ? 1 : 0));
}

/// The flag is set if nothing is borrowed, so that a sum with the complement gives it.
Outcome sub_carry(const Arguments& a) {
  const bool borrows = a.in.opcode == Opcode::subc && !a.carry;
  const Bits complement = truncate(~Bits{a.s[1]}, width(a));
  return with_carry(a, a.s[0] + complement + (borrows ? 0 : 1));
}

// ---- Products.

/// All bits of the product.
Bits product(const Arguments& a) {
  if (has_sign(a.in.type())) return static_cast<Bits>(number(a, 0) * number(a, 1));
  return a.s[0] * a.s[1];
}

Bits product_part(const Arguments& a) {
  return a.in.has(Modifier::hi) ? product(a) >> width(a) : product(a);
}

Outcome mul(const Arguments& a) { return {product_part(a)}; }

Outcome mad(const Arguments& a) {
  if (a.in.has(Modifier::sat)) {
    return finish(a, sign_extend(product_part(a), 32) + number(a, 2));
  }
  return {product_part(a) + a.s[2]};
}

Outcome mad_carry(const Arguments& a) {
  const bool in = a.in.opcode == Opcode::madc && a.carry;
  return with_carry(a, truncate(product_part(a), width(a)) + a.s[2] + (in ? 1 : 0));
}

/// Bits 47..16 or 31..0 of the product of the low 24 bits.
Bits product_24(const Arguments& a) {
  const bool is_signed = has_sign(a.in.type());
  const SignedBits x = extend(a.s[0], 24, is_signed), y = extend(a.s[1], 24, is_signed);
  const auto wide = static_cast<Bits>(x * y);
  return a.in.has(Modifier::hi) ? wide >> 16 : wide;
}

Outcome mul24(const Arguments& a) { return {product_24(a)}; }

Outcome mad24(const Arguments& a) {
  if (a.in.has(Modifier::sat)) return finish(a, sign_extend(product_24(a), 32) + number(a, 2));
  return {product_24(a) + a.s[2]};
}

Outcome sad(const Arguments& a) {
  const SignedBits difference = number(a, 0) - number(a, 1);
  return of(number(a, 2) + (difference < 0 ? -difference : difference));
}

// ---- Division. By PTX the result of a zero divisor is the machine's: ours is all ones.

Outcome div(const Arguments& a) {
  if (a.s[1] == 0) return {~Bits{0}};
  return of(number(a, 0) / number(a, 1));
}

Outcome rem(const Arguments& a) {
  if (a.s[1] == 0) return {~Bits{0}};
  return of(number(a, 0) % number(a, 1));
}

Outcome absolute(const Arguments& a) {
  const SignedBits x = number(a, 0);
  return of(x < 0 ? -x : x);
}

Outcome negate(const Arguments& a) { return of(-number(a, 0)); }

// ---- Dot products.

/// c plus the products of the parts of a, `bits` wide, with bytes of b from `first` on.
Outcome dot(const Arguments& a, unsigned bits, unsigned first) {
  const bool a_signed = ptx::is_signed(a.in.type(0)), b_signed = ptx::is_signed(a.in.type(1));
  SignedBits sum = sign_extend(a.s[2], 32);
  for (unsigned i = 0; i < 32 / bits; ++i) {
    const SignedBits x = extend(a.s[0] >> (i * bits), bits, a_signed);
    sum += x * extend(a.s[1] >> (8 * (first + i)), 8, b_signed);
  }
  return of(sum);
}

Outcome dp4a(const Arguments& a) { return dot(a, 8, 0); }
Outcome dp2a(const Arguments& a) { return dot(a, 16, a.in.has(Modifier::hi) ? 2 : 0); }

Handler find_carry(const Instruction& in) {
  switch (in.opcode) {
    case Opcode::add:
    case Opcode::addc:
      return add_carry;
    case Opcode::sub:
    case Opcode::subc:
      return sub_carry;
    case Opcode::mad:
    case Opcode::madc:
      return mad_carry;
    default:
      return nullptr;
  }
}

}  // namespace

Handler find_integer(const Instruction& in) {
  const bool dot_product = in.opcode == Opcode::dp4a || in.opcode == Opcode::dp2a;
  if (!is_plain_integer(in.type()) || (in.type_count != 1 && !dot_product)) return nullptr;
  if (in.has(Modifier::cc)) return find_carry(in);
  switch (in.opcode) {
    case Opcode::addc:
    case Opcode::subc:
    case Opcode::madc:
      return find_carry(in);
    case Opcode::add:
      return add;
    case Opcode::sub:
      return sub;
    case Opcode::min:
    case Opcode::max:
      return min_max;
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
    case Opcode::div:
      return div;
    case Opcode::rem:
      return rem;
    case Opcode::abs:
      return absolute;
    case Opcode::neg:
      return negate;
    case Opcode::dp4a:
      return dp4a;
    case Opcode::dp2a:
      return dp2a;
    default:
      return nullptr;
  }
}

}  // namespace km::reference
