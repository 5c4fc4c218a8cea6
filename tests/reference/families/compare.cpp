// Comparison and selection: setp, set, selp, slct, testp.
#include "reference/evaluate.h"
#include "reference/values.h"

namespace km::reference {
namespace {

struct Relation {
  Modifier modifier;
  bool less, equal, greater, unordered;
  enum class For : uint8_t { any, integers, reals } on;
};

using For = Relation::For;

// lo, ls, hi, hs compare as unsigned; the others by the type.
constexpr Relation kRelations[] = {
    {Modifier::eq, false, true, false, false, For::any},
    {Modifier::ne, true, false, true, false, For::any},
    {Modifier::lt, true, false, false, false, For::any},
    {Modifier::le, true, true, false, false, For::any},
    {Modifier::gt, false, false, true, false, For::any},
    {Modifier::ge, false, true, true, false, For::any},
    {Modifier::lo, true, false, false, false, For::integers},
    {Modifier::ls, true, true, false, false, For::integers},
    {Modifier::hi, false, false, true, false, For::integers},
    {Modifier::hs, false, true, true, false, For::integers},
    {Modifier::equ, false, true, false, true, For::reals},
    {Modifier::neu, true, false, true, true, For::reals},
    {Modifier::ltu, true, false, false, true, For::reals},
    {Modifier::leu, true, true, false, true, For::reals},
    {Modifier::gtu, false, false, true, true, For::reals},
    {Modifier::geu, false, true, true, true, For::reals},
    {Modifier::num, true, true, true, false, For::reals},
    {Modifier::nan, false, false, false, true, For::reals},
};

const Relation* relation_of(const Instruction& in) {
  for (const Relation& relation : kRelations) {
    if (in.has(relation.modifier)) return &relation;
  }
  return nullptr;
}

std::partial_ordering order_of(const Instruction& in, Type type, Bits a, Bits b) {
  if (const Format* format = format_of(type)) {
    auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
    if (in.has(Modifier::ftz)) x = flush(*format, x), y = flush(*format, y);
    return compare(decode(*format, x), decode(*format, y));
  }
  const unsigned bits = ptx::size_bits(type);
  const bool is_signed = ptx::is_signed(type) && relation_of(in)->on != For::integers;
  return extend(a, bits, is_signed) <=> extend(b, bits, is_signed);
}

bool holds(const Instruction& in, Type type, Bits a, Bits b) {
  const Relation& relation = *relation_of(in);
  const auto order = order_of(in, type, a, b);
  if (order == std::partial_ordering::less) return relation.less;
  if (order == std::partial_ordering::greater) return relation.greater;
  return order == std::partial_ordering::equivalent ? relation.equal : relation.unordered;
}

bool combine(const Arguments& a, bool truth) {
  if (a.s.size() < 3) return truth;
  const bool other = a.s[2] != 0;
  if (a.in.has(Modifier::and_)) return truth && other;
  return a.in.has(Modifier::or_) ? truth || other : truth != other;
}

Bits half(Bits packed, unsigned index) { return truncate(packed >> (16 * index), 16); }

/// p and q are a comparison and its opposite; of packed operands the results of the two halves.
Outcome setp(const Arguments& a) {
  const Type type = element_of(a.in.type());
  if (is_packed(a.in.type())) {
    const bool low = holds(a.in, type, half(a.s[0], 0), half(a.s[1], 0));
    const bool high = holds(a.in, type, half(a.s[0], 1), half(a.s[1], 1));
    return {combine(a, low) ? Bits{1} : Bits{0}, combine(a, high)};
  }
  const bool truth = holds(a.in, type, a.s[0], a.s[1]);
  return {combine(a, truth) ? Bits{1} : Bits{0}, combine(a, !truth)};
}

/// 1.0 or all ones.
Bits truth_value(Type type) {
  if (const Format* format = format_of(type)) {
    return encode(*format, from_integer(false, 1), Round::rn);
  }
  return low_mask(ptx::size_bits(type));
}

Outcome set(const Arguments& a) {
  const Type source = a.in.type(1), target = a.in.type(0);
  if (!is_packed(source)) {
    return {combine(a, holds(a.in, source, a.s[0], a.s[1])) ? truth_value(target) : Bits{0}};
  }
  const Bits yes = is_packed(target) ? truth_value(element_of(target)) : Bits{0xffff};
  Bits result = 0;
  for (unsigned i = 0; i < 2; ++i) {
    const bool truth = holds(a.in, element_of(source), half(a.s[0], i), half(a.s[1], i));
    if (combine(a, truth)) result |= yes << (16 * i);
  }
  return {result};
}

Outcome selp(const Arguments& a) { return {a.s[2] != 0 ? a.s[0] : a.s[1]}; }

/// a where c is not negative; NaN selects b.
Outcome slct(const Arguments& a) {
  if (a.in.type(1) == Type::s32) return {sign_extend(a.s[2], 32) >= 0 ? a.s[0] : a.s[1]};
  auto c = static_cast<uint64_t>(a.s[2]);
  if (a.in.has(Modifier::ftz)) c = flush(kF32, c);
  const Number number = decode(kF32, c);
  const bool at_least_zero = number.is_zero() || (!number.is_nan() && !number.negative);
  return {at_least_zero ? a.s[0] : a.s[1]};
}

Outcome testp(const Arguments& a) {
  const Format& format = *format_of(a.in.type());
  const auto bits = static_cast<uint64_t>(a.s[0]);
  const bool nan = is_nan(format, bits), infinite = is_infinite(format, bits);
  bool truth = is_subnormal(format, bits);
  if (a.in.has(Modifier::finite)) truth = !nan && !infinite;
  if (a.in.has(Modifier::infinite)) truth = infinite;
  if (a.in.has(Modifier::number)) truth = !nan;
  if (a.in.has(Modifier::notanumber)) truth = nan;
  if (a.in.has(Modifier::normal)) truth = !nan && !infinite && !is_subnormal(format, bits);
  return {truth ? Bits{1} : Bits{0}};
}

/// Whether PTX defines this comparison on operands of the type.
bool is_defined(const Instruction& in, Type type) {
  const Relation* relation = relation_of(in);
  if (relation == nullptr) return false;
  const bool real = format_of(type) != nullptr;
  const bool flushes = type == Type::f32 || element_of(type) == Type::f16;
  if (in.has(Modifier::ftz) && !flushes) return false;
  if (relation->on == For::reals) return real;
  if (relation->on == For::integers) return !real && !ptx::is_signed(type);
  const bool equality = relation->modifier == Modifier::eq || relation->modifier == Modifier::ne;
  return ptx::kind_of(type) != ptx::TypeKind::bits || equality;
}

}  // namespace

Handler find_compare(const Instruction& in) {
  switch (in.opcode) {
    case Opcode::setp:
      return is_defined(in, in.type(0)) ? setp : nullptr;
    case Opcode::set:
      return is_defined(in, in.type(1)) ? set : nullptr;
    case Opcode::selp:
      return selp;
    case Opcode::slct:
      return slct;
    case Opcode::testp:
      return testp;
    default:
      return nullptr;
  }
}

}  // namespace km::reference
