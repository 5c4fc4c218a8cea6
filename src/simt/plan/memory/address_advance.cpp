#include "simt/plan/memory/address_advance.h"

#include <algorithm>

namespace km::simt {

using ptx::Opcode;

AddressAdvance::Kind AddressAdvance::of(ValueId value, uint32_t loop, unsigned depth) {
  const auto& info = kernel_.values[value];
  if (info.block == kNone || !plan_.shapes->loops.contains(loop, info.block)) return Kind::none;
  if (const auto known = kinds_.find({value, loop}); known != kinds_.end()) {
    return known->second;
  }
  if (depth == 0) return Kind::other;
  if (info.instruction == kNone) return of_phi(value, loop);
  const Inst& inst = kernel_.blocks[info.block].insts[info.instruction];
  switch (inst.ptx->opcode) {
    case Opcode::mov:
    case Opcode::cvt:
    case Opcode::cvta:
    case Opcode::add:
    case Opcode::mul:
    case Opcode::mad:
    case Opcode::shl:
      break;
    default:
      return Kind::other;
  }
  Kind result = Kind::none;
  for (const auto& read : inst.reads) {
    result = std::max(result, of(read.second, loop, depth - 1));
  }
  kinds_[{value, loop}] = result;
  return result;
}

AddressAdvance::Kind AddressAdvance::of_phi(ValueId value, uint32_t loop) const {
  const BlockId header = kernel_.values[value].block;
  const BasicBlock& block = kernel_.blocks[header];
  if (header != plan_.shapes->loops.loops[loop].header) return Kind::other;
  for (const Phi& phi : block.phis) {
    if (phi.result != value) continue;
    for (size_t i = 0; i < phi.inputs.size(); ++i) {
      if (!plan_.shapes->loops.contains(loop, block.preds[i])) continue;
      const Inst* const step = kernel_.instruction_of(phi.inputs[i]);
      if (step == nullptr || step->ptx->opcode != Opcode::add || step->reads.size() != 2) {
        return Kind::other;
      }
      const ValueId by = step->reads[step->reads[0].second == value ? 1 : 0].second;
      const Shape& distance = plan_.shapes->values[by];
      if (!distance.is_uniform() || distance.constant()) return Kind::other;
    }
  }
  return Kind::unknown_distance;
}

}  // namespace km::simt
