#include "simt/plan/values/nan_classes.h"

#include <algorithm>

namespace km::simt {

using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

namespace {

/// True if the instruction copies bits; a shuffle does so only if lanes never diverge for good (not
/// in mode c).
bool passes_bits(const ptx::Instruction& ptx, Mode mode) {
  if (ptx.opcode == Opcode::selp) return true;
  if (ptx.opcode == Opcode::shfl) return mode != Mode::independent_threads;
  return ptx.opcode == Opcode::mov && ptx.operands[0].kind == Operand::Kind::reg &&
         ptx.operands[1].kind == Operand::Kind::reg;
}

/// True if this operand is copied; the other operands of such an instruction are destinations or
/// conditions.
bool is_passed(const Inst& inst, ptx::RegisterId reg) {
  const auto& ptx = *inst.ptx;
  if (ptx.opcode != Opcode::shfl) return true;
  return ptx.operands[1].kind == Operand::Kind::reg && ptx.operands[1].reg == reg;
}

}  // namespace

bool NanClasses::raise(ValueId value, Class fresh) {
  Class& held = classes_[value];
  if (fresh == Class::none || fresh == held) return false;
  if (held != Class::none) fresh = Class::mixed;
  if (fresh == held) return false;
  held = fresh;
  return true;
}

bool NanClasses::flow(const Plan& plan, const Inst& inst) {
  const bool passes = passes_bits(*inst.ptx, plan.mode);
  const bool constant = inst.ptx->opcode == Opcode::mov && inst.reads.empty();
  Class fresh = makes_float(*inst.ptx) ? Class::arithmetic : Class::raw;
  if (constant || passes) fresh = Class::none;
  bool changed = false;
  for (const auto& [reg, value] : inst.writes) {
    changed |= raise(value, fresh);
    for (ValueId old : inst.old_values) changed |= raise(value, classes_[old]);
    for (const auto& [source, read] : inst.reads) {
      const bool is_content = passes && is_passed(inst, source);
      if (!is_content || plan.kernel->values[read].type == Type::pred) continue;
      changed |= raise(value, classes_[read]);
    }
  }
  return changed;
}

NanClasses::NanClasses(const Plan& plan) {
  const Kernel& kernel = *plan.kernel;
  classes_.assign(kernel.values.size(), Class::none);
  for (bool changed = true; changed;) {
    changed = false;
    for (const BasicBlock& block : kernel.blocks) {
      for (const Phi& phi : block.phis) {
        for (ValueId input : phi.inputs) changed |= raise(phi.result, classes_[input]);
      }
      for (const Inst& inst : block.insts) changed |= flow(plan, inst);
    }
  }
}

bool NanClasses::has_mixed_result(const Inst& inst) const {
  return std::any_of(inst.writes.begin(), inst.writes.end(),
                     [&](const auto& write) { return is_mixed(write.second); });
}

}  // namespace km::simt
