// Comparison and selection: setp, set, selp, slct, testp.
#include <llvm/IR/Intrinsics.h>

#include "simt/arithmetic/floating_point/half.h"
#include "simt/arithmetic/lanes.h"

namespace km::simt::arithmetic {
namespace {

using llvm::CmpInst;
using ptx::Instruction;
using ptx::Modifier;
using ptx::Opcode;
using ptx::Type;

struct Comparison {
  Modifier modifier;
  CmpInst::Predicate is_signed, is_unsigned, real;
};

constexpr CmpInst::Predicate kNone = CmpInst::BAD_ICMP_PREDICATE;

constexpr Comparison kComparisons[] = {
    {Modifier::eq, CmpInst::ICMP_EQ, CmpInst::ICMP_EQ, CmpInst::FCMP_OEQ},
    {Modifier::ne, CmpInst::ICMP_NE, CmpInst::ICMP_NE, CmpInst::FCMP_ONE},
    {Modifier::lt, CmpInst::ICMP_SLT, CmpInst::ICMP_ULT, CmpInst::FCMP_OLT},
    {Modifier::le, CmpInst::ICMP_SLE, CmpInst::ICMP_ULE, CmpInst::FCMP_OLE},
    {Modifier::gt, CmpInst::ICMP_SGT, CmpInst::ICMP_UGT, CmpInst::FCMP_OGT},
    {Modifier::ge, CmpInst::ICMP_SGE, CmpInst::ICMP_UGE, CmpInst::FCMP_OGE},
    {Modifier::lo, CmpInst::ICMP_ULT, CmpInst::ICMP_ULT, kNone},
    {Modifier::ls, CmpInst::ICMP_ULE, CmpInst::ICMP_ULE, kNone},
    {Modifier::hi, CmpInst::ICMP_UGT, CmpInst::ICMP_UGT, kNone},
    {Modifier::hs, CmpInst::ICMP_UGE, CmpInst::ICMP_UGE, kNone},
    {Modifier::equ, kNone, kNone, CmpInst::FCMP_UEQ},
    {Modifier::neu, kNone, kNone, CmpInst::FCMP_UNE},
    {Modifier::ltu, kNone, kNone, CmpInst::FCMP_ULT},
    {Modifier::leu, kNone, kNone, CmpInst::FCMP_ULE},
    {Modifier::gtu, kNone, kNone, CmpInst::FCMP_UGT},
    {Modifier::geu, kNone, kNone, CmpInst::FCMP_UGE},
    {Modifier::num, kNone, kNone, CmpInst::FCMP_ORD},
    {Modifier::nan, kNone, kNone, CmpInst::FCMP_UNO},
};

/// The LLVM comparison predicate of the instruction for operands of `type`.
CmpInst::Predicate predicate_of(const Instruction& in, Type type) {
  for (const Comparison& comparison : kComparisons) {
    if (!in.has(comparison.modifier)) continue;
    if (ptx::is_float(type)) return comparison.real;
    return ptx::is_signed(type) ? comparison.is_signed : comparison.is_unsigned;
  }
  return kNone;
}

V compare(Lanes& l, const Instruction& in, Type type, V a, V c) {
  CmpInst::Predicate predicate = predicate_of(in, type);
  if (!ptx::is_float(type)) return l.b.CreateICmp(predicate, a, c);
  bool ftz = in.has(Modifier::ftz);
  if (is_half(type))
    return l.b.CreateFCmp(predicate, half_to_f32(l, type, a, ftz), half_to_f32(l, type, c, ftz));
  return l.b.CreateFCmp(predicate, l.flush_if(ftz, a), l.flush_if(ftz, c));
}

V combine(Lanes& l, const Instruction& in, V truth, V other) {
  if (in.has(Modifier::and_)) return l.both(truth, other);
  if (in.has(Modifier::or_)) return l.any(truth, other);
  return l.b.CreateXor(truth, other);
}

/// Every second element of packed lanes, starting at 0 or 1.
V every_second(Lanes& l, V packed, unsigned from) {
  if (l.count() == 0) return l.b.CreateExtractElement(packed, uint64_t{from});
  std::vector<int> indices(l.count());
  for (unsigned i = 0; i < l.count(); ++i) indices[i] = static_cast<int>(2 * i + from);
  return l.b.CreateShuffleVector(packed, indices);
}

/// setp on packed halves: p has the result of the low half, q that of the high half.
Values setp_packed(Lanes& l, const Instruction& in, std::span<V const> s) {
  Lanes halves = l.halves();
  V truth = compare(halves, in, element_of(in.type()), l.split_halves(s[0]), l.split_halves(s[1]));
  Values results;
  for (unsigned i = 0; i < 2; ++i) {
    V part = every_second(l, truth, i);
    results.push_back(s.size() > 2 ? combine(l, in, part, s[2]) : part);
  }
  return results;
}

Values setp(Lanes& l, const Instruction& in, std::span<V const> s) {
  if (is_packed_half(in.type())) return setp_packed(l, in, s);
  V truth = compare(l, in, in.type(), s[0], s[1]);
  V opposite = l.b.CreateNot(truth);
  if (s.size() < 3) return {truth, opposite};
  return {combine(l, in, truth, s[2]), combine(l, in, opposite, s[2])};
}

/// The value of `set` for true: 1.0 or all ones.
V truth_value(Lanes& l, Type type) {
  switch (type) {
    case Type::f32:
      return l.real32(1.0f);
    case Type::f16:
      return l.constant(16, 0x3c00);
    case Type::bf16:
      return l.constant(16, 0x3f80);
    default:
      return l.all_ones(l.constant(ptx::size_bits(type), 0));
  }
}

/// Duplicates each lane's predicate for both halves.
V doubled(Lanes& l, V condition) {
  if (l.count() == 0) return l.b.CreateVectorSplat(2, condition);
  std::vector<int> indices(2 * l.count());
  for (unsigned i = 0; i < indices.size(); ++i) indices[i] = static_cast<int>(i / 2);
  return l.b.CreateShuffleVector(condition, indices);
}

Values set_packed(Lanes& l, const Instruction& in, std::span<V const> s) {
  Lanes halves = l.halves();
  Type source = element_of(in.type(1));
  Type result = is_packed_half(in.type(0)) ? element_of(in.type(0)) : Type::u16;
  V truth = compare(halves, in, source, l.split_halves(s[0]), l.split_halves(s[1]));
  if (s.size() > 2) truth = combine(halves, in, truth, doubled(l, s[2]));
  V yes = truth_value(halves, result);
  return {l.join_halves(halves.select(truth, yes, halves.zero(yes)))};
}

Values set(Lanes& l, const Instruction& in, std::span<V const> s) {
  if (is_packed_half(in.type(1))) return set_packed(l, in, s);
  V truth = compare(l, in, in.type(1), s[0], s[1]);
  if (s.size() > 2) truth = combine(l, in, truth, s[2]);
  V yes = truth_value(l, in.type(0));
  return {l.select(truth, yes, l.zero(yes))};
}

Values selp(Lanes& l, const Instruction&, std::span<V const> s) {
  return {l.select(s[2], s[0], s[1])};
}

Values slct(Lanes& l, const Instruction& in, std::span<V const> s) {
  // Flushing turns a negative subnormal into -0, which compares as not below zero.
  V c = l.flush_if(in.has(Modifier::ftz), s[2]);
  V zero = l.zero(c);
  V first = Lanes::is_f32(c) ? l.b.CreateFCmpOGE(c, zero) : l.b.CreateICmpSGE(c, zero);
  return {l.select(first, s[0], s[1])};
}

Values testp(Lanes& l, const Instruction& in, std::span<V const> s) {
  auto& b = l.b;
  bool wide = Lanes::is_f64(s[0]);
  unsigned width = wide ? 64 : 32, fraction = wide ? 52 : 23;
  uint64_t infinity = wide ? 0x7ff0000000000000 : 0x7f800000;
  V top = l.constant(width, infinity), least = l.constant(width, uint64_t{1} << fraction);
  V magnitude =
      b.CreateAnd(l.bits(s[0]), l.constant(width, infinity | ((uint64_t{1} << fraction) - 1)));
  if (in.has(Modifier::finite)) return {b.CreateICmpULT(magnitude, top)};
  if (in.has(Modifier::infinite)) return {b.CreateICmpEQ(magnitude, top)};
  if (in.has(Modifier::number)) return {b.CreateICmpULE(magnitude, top)};
  if (in.has(Modifier::notanumber)) return {b.CreateICmpUGT(magnitude, top)};
  V zero = b.CreateICmpEQ(magnitude, l.zero(magnitude));
  V below = b.CreateICmpULT(magnitude, least);
  if (in.has(Modifier::subnormal)) return {l.both(below, b.CreateNot(zero))};
  V at_least = b.CreateAnd(b.CreateNot(below), b.CreateICmpULT(magnitude, top));
  return {l.any(at_least, zero)};
}

bool comparable(const Instruction& in, Type type) {
  if (is_packed_half(type)) type = element_of(type);
  return predicate_of(in, type) != kNone && ptx::kind_of(type) != ptx::TypeKind::predicate;
}

}  // namespace

Handler find_compare(const Instruction& in) {
  switch (in.opcode) {
    case Opcode::setp:
      return comparable(in, in.type(0)) ? setp : nullptr;
    case Opcode::set:
      return comparable(in, in.type(1)) ? set : nullptr;
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

}  // namespace km::simt::arithmetic
