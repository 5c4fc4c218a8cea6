#include "simt/plan/copied_values.h"

#include <algorithm>

namespace km::simt {
namespace {

/// True if the instruction gives on the value that it reads through `reg`, and does nothing else
/// with it: as what is stored, or moved.
bool passes_on(const Inst& inst, ptx::RegisterId reg) {
  const ptx::Instruction& ptx = *inst.ptx;
  if (ptx.opcode == ptx::Opcode::mov) return true;
  return ptx.opcode == ptx::Opcode::st && ptx.operands[0].reg != reg;
}

}  // namespace

CopiedValues::CopiedValues(const Kernel& kernel) : is_used_(kernel.values.size()) {
  mark_uses(kernel);
  // Values whose moved copies are used are used, too.
  for (bool changes = true; changes;) {
    changes = false;
    const auto mark = [&](ValueId value) {
      changes = changes || is_used_[value] == 0;
      is_used_[value] = 1;
    };
    for (const BasicBlock& block : kernel.blocks) {
      for (const Phi& phi : block.phis) {
        if (is_used_[phi.result] == 0) continue;
        for (const ValueId input : phi.inputs) mark(input);
      }
      for (const Inst& inst : block.insts) {
        if (inst.ptx->opcode != ptx::Opcode::mov || are_only_copied(inst)) continue;
        for (const auto& [reg, value] : inst.reads) mark(value);
      }
    }
  }
}

void CopiedValues::mark_uses(const Kernel& kernel) {
  for (const BasicBlock& block : kernel.blocks) {
    if (block.condition != kNone) is_used_[block.condition] = 1;
    for (const Inst& inst : block.insts) {
      if (inst.guard != kNone) is_used_[inst.guard] = 1;
      for (const auto& [reg, value] : inst.reads) {
        if (!passes_on(inst, reg)) is_used_[value] = 1;
      }
    }
  }
}

bool CopiedValues::are_only_copied(const Inst& inst) const {
  return std::none_of(inst.writes.begin(), inst.writes.end(),
                      [&](const auto& write) { return is_used_[write.second] != 0; });
}

}  // namespace km::simt
