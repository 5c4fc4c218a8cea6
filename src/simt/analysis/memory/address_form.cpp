#include "simt/analysis/memory/address_form.h"

#include <algorithm>
#include <bit>

namespace km::simt {

using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

namespace {

constexpr unsigned kMostValues = 256;  // limit of values visited per question

bool immediate_has_zeros(const Operand& operand, uint32_t bits) {
  return (operand.bits & ((uint64_t{1} << bits) - 1)) == 0;
}

/// True for integer arithmetic in which the low bits of the result depend on low bits only.
bool is_plain(const ptx::Instruction& ptx) {
  for (const Modifier modifier : {Modifier::sat, Modifier::cc, Modifier::hi}) {
    if (ptx.has(modifier)) return false;
  }
  const Type type = ptx.types[0];
  return ptx.type_count != 0 && ptx::is_integer(type) && ptx::size_bits(type) >= 16;
}

bool widens_integer(const ptx::Instruction& ptx) {
  return ptx.opcode == Opcode::cvt && ptx.type_count == 2 && !ptx.has(Modifier::sat) &&
         ptx::is_integer(ptx.types[0]) && ptx::is_integer(ptx.types[1]) &&
         ptx::size_bits(ptx.types[0]) >= ptx::size_bits(ptx.types[1]) &&
         ptx::size_bits(ptx.types[1]) >= 16;
}

/// True for a cvta between spaces in which the address is the same.
bool keeps_address(const ptx::Instruction& ptx) {
  return ptx.opcode == Opcode::cvta && ptx.has(Modifier::global);
}

bool copies(const ptx::Instruction& ptx) {
  const bool plain = ptx.opcode == Opcode::mov && ptx.operand_count == 2 &&
                     ptx.operands[0].kind == Operand::Kind::reg &&
                     ptx.operands[1].kind == Operand::Kind::reg && !ptx.operands[1].negated;
  return plain || keeps_address(ptx);
}

}  // namespace

/// The instruction that computes a value without a guard; null for phis and others.
const Inst* AddressForms::plain_source(ValueId value) const {
  const Value& v = kernel_.values[value];
  if (v.block == kNone || v.instruction == kNone) return nullptr;
  const Inst& inst = kernel_.blocks[v.block].insts[v.instruction];
  return inst.guard == kNone && inst.writes.size() == 1 ? &inst : nullptr;
}

const Inst* AddressForms::plain_source(const Inst& inst, const Operand& operand) const {
  if (operand.kind != Operand::Kind::reg || operand.negated) return nullptr;
  return plain_source(inst.read(operand.reg));
}

bool AddressForms::is_uniform(const Inst& inst, const Operand& operand, BlockId block) const {
  return operand.kind == Operand::Kind::reg && !operand.negated &&
         shapes_.at(kernel_, inst.read(operand.reg), block).is_uniform();
}

// ---- Trailing zeros.

/// True if a value has at least `bits` trailing zero bits in every lane. The result requires them
/// of all values that it depends on, so a value that was visited already may be assumed to have
/// them.
bool AddressForms::find_zeros(ValueId value, uint32_t bits, Seen& seen) {
  if (bits == 0) return true;
  const Shape& shape = shapes_.values[value];
  if (kernel_.values[value].block == kNone || (shape.is_uniform() && shape.align >= bits)) {
    return true;
  }
  if (!seen.insert(value).second) return true;
  if (left_ == 0) return false;
  --left_;
  if (const Phi* phi = kernel_.phi_of(value)) {
    return std::all_of(phi->inputs.begin(), phi->inputs.end(),
                       [&](ValueId input) { return find_zeros(input, bits, seen); });
  }
  const Inst* inst = plain_source(value);
  return inst != nullptr && find_zeros(*inst, bits, seen);
}

bool AddressForms::find_zeros(const Inst& inst, const Operand& operand, uint32_t bits, Seen& seen) {
  if (operand.kind == Operand::Kind::immediate) return immediate_has_zeros(operand, bits);
  return operand.kind == Operand::Kind::reg && !operand.negated &&
         find_zeros(inst.read(operand.reg), bits, seen);
}

bool AddressForms::find_zeros(const Inst& inst, uint32_t bits, Seen& seen) {
  const auto& ptx = *inst.ptx;
  const auto of = [&](unsigned i, uint32_t wanted) {
    // A value that was visited for fewer bits must be visited again.
    if (wanted == bits) return find_zeros(inst, ptx.operands[i], bits, seen);
    Seen fresh;
    return find_zeros(inst, ptx.operands[i], wanted, fresh);
  };
  if (copies(ptx) || widens_integer(ptx)) return of(1, bits);
  if (!is_plain(ptx)) return false;
  const auto product = [&] {
    const Operand& factor = ptx.operands[2];
    if (factor.kind != Operand::Kind::immediate) return of(1, bits);
    if (immediate_has_zeros(factor, bits)) return true;
    return of(1, bits - static_cast<uint32_t>(std::countr_zero(factor.bits)));
  };
  switch (ptx.opcode) {
    case Opcode::add:
    case Opcode::sub:
      return of(1, bits) && of(2, bits);
    case Opcode::and_: {
      const Operand& mask = ptx.operands[2];
      return mask.kind == Operand::Kind::immediate && immediate_has_zeros(mask, bits);
    }
    case Opcode::mul:
      return product();
    case Opcode::mad:
      return product() && of(3, bits);
    case Opcode::shl: {
      const Operand& by = ptx.operands[2];
      if (by.kind != Operand::Kind::immediate) return of(1, bits);
      return by.bits >= bits || of(1, bits - static_cast<uint32_t>(by.bits));
    }
    default:
      return false;
  }
}

// ---- Congruence.

std::optional<ValueId> AddressForms::congruent(ValueId value, uint32_t bits, BlockId block) {
  left_ = kMostValues;
  Seen seen, roots;
  if (!find_roots(value, bits, block, seen, roots) || roots.size() != 1) return std::nullopt;
  return *roots.begin();
}

/// Follows the only term of each sum that does not have the trailing zeros.
bool AddressForms::find_roots(ValueId value, uint32_t bits, BlockId block, Seen& seen,
                              Seen& roots) {
  Seen fresh;
  if (find_zeros(value, bits, fresh)) {
    roots.insert(kNone);
    return true;
  }
  const Shape shape = shapes_.at(kernel_, value, block);
  if (shape.is_uniform()) {
    roots.insert(value);
    return true;
  }
  if (!seen.insert(value).second) return true;
  if (left_ == 0 || shapes_.loop_left(kernel_, value, block) != UINT32_MAX) return false;
  if (const Phi* phi = kernel_.phi_of(value)) {
    return std::all_of(phi->inputs.begin(), phi->inputs.end(),
                       [&](ValueId input) { return find_roots(input, bits, block, seen, roots); });
  }
  const Inst* inst = plain_source(value);
  return inst != nullptr && find_roots(*inst, bits, block, seen, roots);
}

bool AddressForms::find_roots(const Inst& inst, uint32_t bits, BlockId block, Seen& seen,
                              Seen& roots) {
  const auto& ptx = *inst.ptx;
  const auto is_zero = [&](unsigned i) {
    Seen fresh;
    return find_zeros(inst, ptx.operands[i], bits, fresh);
  };
  const auto follow = [&](unsigned i) {
    const Operand& operand = ptx.operands[i];
    return operand.kind == Operand::Kind::reg && !operand.negated &&
           find_roots(inst.read(operand.reg), bits, block, seen, roots);
  };
  if (copies(ptx)) return follow(1);
  if (!is_plain(ptx)) return false;
  switch (ptx.opcode) {
    case Opcode::add:
      return (is_zero(2) && follow(1)) || (is_zero(1) && follow(2));
    case Opcode::sub:
      return is_zero(2) && follow(1);
    case Opcode::mad: {
      const Operand& factor = ptx.operands[2];
      const bool vanishes =
          factor.kind == Operand::Kind::immediate && immediate_has_zeros(factor, bits);
      return vanishes && follow(3);
    }
    default:
      return false;
  }
}

// ---- Elements of arrays.

std::optional<IndexedAddress> AddressForms::indexed(ValueId value, BlockId block) const {
  std::optional<IndexedAddress> result = find_indexed(value, block);
  const auto is_left = [&](ValueId each) {
    return shapes_.loop_left(kernel_, each, block) != UINT32_MAX;
  };
  if (result && (is_left(value) || is_left(result->widening->read(result->index.reg)))) return {};
  return result;
}

std::optional<IndexedAddress> AddressForms::find_indexed(ValueId value, BlockId block) const {
  const Inst* inst = plain_source(value);
  while (inst != nullptr && copies(*inst->ptx)) inst = plain_source(*inst, inst->ptx->operands[1]);
  if (inst == nullptr || !is_plain(*inst->ptx)) return std::nullopt;
  const auto& ptx = *inst->ptx;
  if (ptx.opcode == Opcode::mad && ptx.has(Modifier::wide) &&
      is_uniform(*inst, ptx.operands[3], block)) {
    IndexedAddress result;
    result.base = inst->read(ptx.operands[3].reg);
    if (add_widened(*inst, result)) return result;
  }
  if (ptx.opcode != Opcode::add || ptx::size_bits(ptx.types[0]) != 64) return std::nullopt;
  for (const unsigned base : {1U, 2U}) {
    const Operand& other = ptx.operands[3 - base];
    if (!is_uniform(*inst, ptx.operands[base], block) || other.kind != Operand::Kind::reg) continue;
    IndexedAddress result;
    result.base = inst->read(ptx.operands[base].reg);
    if (add_widened(inst->read(other.reg), result)) return result;
  }
  return std::nullopt;
}

bool AddressForms::add_widened(ValueId value, IndexedAddress& result) const {
  const Inst* inst = plain_source(value);
  while (inst != nullptr && inst->ptx->opcode == Opcode::add && is_plain(*inst->ptx) &&
         inst->ptx->operands[2].kind == Operand::Kind::immediate) {
    result.offset += static_cast<int64_t>(inst->ptx->operands[2].bits);
    inst = plain_source(*inst, inst->ptx->operands[1]);
  }
  // mad.wide would add a second base, but the form has one already.
  return inst != nullptr && inst->ptx->opcode != Opcode::mad && add_widened(*inst, result);
}

/// Matches index * scale: mul.wide, mad.wide, or a shift of a value widened by cvt.
bool AddressForms::add_widened(const Inst& inst, IndexedAddress& result) const {
  const auto& ptx = *inst.ptx;
  const Inst* widening = &inst;
  uint64_t scale = 1;
  if (ptx.opcode == Opcode::shl && ptx::size_bits(ptx.types[0]) == 64 &&
      ptx.operands[2].kind == Operand::Kind::immediate && ptx.operands[2].bits < 4) {
    scale = uint64_t{1} << ptx.operands[2].bits;
    widening = plain_source(inst, ptx.operands[1]);
    if (widening == nullptr || widening->ptx->opcode != Opcode::cvt) return false;
  }
  const auto& source = *widening->ptx;
  Type from = source.types[0];
  if (source.opcode == Opcode::cvt) {
    if (!widens_integer(source) || ptx::size_bits(source.types[0]) != 64) return false;
    from = source.types[1];
  } else {
    const bool multiplies = source.opcode == Opcode::mul || source.opcode == Opcode::mad;
    const Operand& factor = source.operands[2];
    if (!multiplies || !source.has(Modifier::wide) || factor.kind != Operand::Kind::immediate) {
      return false;
    }
    scale = factor.bits;
  }
  if (ptx::size_bits(from) != 32 || scale > 8 || !std::has_single_bit(scale) ||
      source.operands[1].kind != Operand::Kind::reg || source.operands[1].negated) {
    return false;
  }
  result.widening = widening;
  result.index = source.operands[1];
  result.is_unsigned = !ptx::is_signed(from);
  result.scale = static_cast<uint32_t>(scale);
  return true;
}

}  // namespace km::simt
