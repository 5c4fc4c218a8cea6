#include "simt/analysis/memory/index_strides.h"

#include <algorithm>

namespace km::simt {

namespace {

using ptx::Opcode;
using ptx::Operand;
using ptx::SpecialRegister;

constexpr unsigned kDepth = 32;  // maximum depth of expressions

using Stride = std::optional<int64_t>;

Stride added(const Stride& a, const Stride& b) {
  return a && b ? Stride(simt::added(*a, *b)) : Stride();
}

bool is_thread_or_block(SpecialRegister special) {
  return special == SpecialRegister::tid || special == SpecialRegister::ctaid ||
         special == SpecialRegister::ntid || special == SpecialRegister::nctaid;
}

}  // namespace

Stride IndexStrides::operand(const Inst& inst, unsigned index, unsigned depth) {
  const Operand& operand = inst.ptx->operands[index];
  switch (operand.kind) {
    case Operand::Kind::immediate:
    case Operand::Kind::symbol:
      return 0;
    case Operand::Kind::special:
      if (operand.special == special_ && operand.component == dimension_) return 1;
      return is_thread_or_block(operand.special) ? Stride(0) : Stride();
    case Operand::Kind::reg: {
      const Stride stride = of(inst.read(operand.reg), depth);
      return operand.negated && stride ? Stride(scaled(*stride, -1)) : stride;
    }
    default:
      return {};
  }
}

Stride IndexStrides::of(ValueId value, unsigned depth) {
  const Value& v = kernel_.values[value];
  if (v.block == kNone) return 0;
  if (const auto known = known_.find(value); known != known_.end()) return known->second;
  if (depth > kDepth) return {};
  known_[value] = {};  // ends the recursion of a value that depends on itself
  if (v.instruction == kNone) return known_[value] = of_phi(value, depth + 1);
  return known_[value] = of(kernel_.blocks[v.block].insts[v.instruction], depth + 1);
}

Stride IndexStrides::of_phi(ValueId value, unsigned depth) {
  const Phi* const phi = kernel_.phi_of(value);
  const Stride first = of(phi->inputs[0], depth);
  const bool same = std::all_of(phi->inputs.begin(), phi->inputs.end(),
                                [&](ValueId input) { return of(input, depth) == first; });
  return same ? first : Stride();
}

Stride IndexStrides::of(const Inst& inst, unsigned depth) {
  if (inst.guard != kNone || ptx::is_packed_integer(inst.ptx->type())) return {};
  switch (inst.ptx->opcode) {
    case Opcode::mov:
    case Opcode::cvt:
    case Opcode::cvta:
      return inst.ptx->operand_count == 2 ? operand(inst, 1, depth) : Stride();
    case Opcode::add:
      return sum(inst, 1, depth);
    case Opcode::sub:
      return sum(inst, -1, depth);
    case Opcode::mul:
      return product(inst, depth);
    case Opcode::mad:
      return added(product(inst, depth), operand(inst, 3, depth));
    case Opcode::shl: {
      const Stride stride = operand(inst, 1, depth);
      const auto bits = shapes_.constant(inst, inst.ptx->operands[2]);
      if (!stride || !bits || *bits < 0 || *bits > 62) return nothing_moves(inst, depth);
      return scaled(*stride, int64_t{1} << *bits);
    }
    case Opcode::min:
    case Opcode::max:
      return extreme(inst, depth);
    case Opcode::ld:
    case Opcode::ldu:
      return loaded(inst, depth);
    default:
      return nothing_moves(inst, depth);
  }
}

Stride IndexStrides::sum(const Inst& inst, int64_t sign, unsigned depth) {
  const Stride right = operand(inst, 2, depth);
  return added(operand(inst, 1, depth), right ? Stride(scaled(*right, sign)) : right);
}

Stride IndexStrides::product(const Inst& inst, unsigned depth) {
  for (const unsigned factor : {2u, 1u}) {
    const auto known = shapes_.constant(inst, inst.ptx->operands[factor]);
    const Stride stride = known ? operand(inst, 3 - factor, depth) : Stride();
    if (stride) return scaled(*stride, *known);
  }
  const bool still = operand(inst, 1, depth) == Stride(0) && operand(inst, 2, depth) == Stride(0);
  return still ? Stride(0) : Stride();
}

/// A clamp has the stride of the operand that moves.
Stride IndexStrides::extreme(const Inst& inst, unsigned depth) {
  if (inst.ptx->operand_count != 3) return nothing_moves(inst, depth);
  const Stride a = operand(inst, 1, depth), b = operand(inst, 2, depth);
  if (a == b || b == Stride(0)) return a;
  return a == Stride(0) ? b : Stride();
}

Stride IndexStrides::loaded(const Inst& inst, unsigned depth) {
  const Operand& place = inst.ptx->operands[1];
  if (place.reg == ptx::kNone) return 0;
  return of(inst.read(place.reg), depth) == Stride(0) ? Stride(0) : Stride();
}

Stride IndexStrides::nothing_moves(const Inst& inst, unsigned depth) {
  const auto& operands = inst.ptx->operands;
  for (unsigned i = 1; i < inst.ptx->operand_count; ++i) {
    const bool is_special = operands[i].kind == Operand::Kind::special;
    if (is_special && operand(inst, i, depth) != Stride(0)) return {};
  }
  const bool still = std::all_of(inst.reads.begin(), inst.reads.end(), [&](const auto& read) {
    return of(read.second, depth) == Stride(0);
  });
  return still ? Stride(0) : Stride();
}

}  // namespace km::simt
