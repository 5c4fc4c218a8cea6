#include "simt/plan/block_order.h"

#include <algorithm>

#include "simt/analysis/memory/index_strides.h"
#include "simt/analysis/memory/memory_access.h"

namespace km::simt {

namespace {

/// True for a load or store that allows any order of blocks.
bool is_plain_access(const Inst& inst, const MemoryAccess& access) {
  using ptx::Space;
  const bool moves = inst.ptx->opcode == ptx::Opcode::ld || inst.ptx->opcode == ptx::Opcode::ldu ||
                     inst.ptx->opcode == ptx::Opcode::st;
  const bool is_own = access.space == Space::shared || access.space == Space::local;
  return moves && !is_own && !is_strong_access(*inst.ptx);
}

}  // namespace

bool runs_side_by_side(const Plan& plan) {
  const Kernel& kernel = *plan.kernel;
  const auto& block = plan.variant.block;
  const bool is_known = block[0] != 0 && uint64_t{block[1]} * block[2] > 1 &&
                        (block[0] % plan.lanes == 0 || plan.lanes % block[0] == 0);
  const bool is_whole = plan.regions.list.size() == 1 && !plan.splits_at_barriers && !plan.waits &&
                        plan.linear[0].loops.loops.empty() && kernel.irreducible == nullptr;
  if (!is_known || !is_whole || plan.variant.checked) return false;
  IndexStrides by_thread(kernel, *plan.shapes, ptx::SpecialRegister::tid, 0);
  IndexStrides by_block(kernel, *plan.shapes, ptx::SpecialRegister::ctaid, 0);
  bool any = false;
  for (const BasicBlock& b : kernel.blocks) {
    for (const Inst& inst : b.insts) {
      const ptx::Opcode opcode = inst.ptx->opcode;
      const bool divides = opcode == ptx::Opcode::div || opcode == ptx::Opcode::rem;
      if (!has_effects(*inst.ptx) || divides) continue;
      const auto access = memory_access(kernel, inst);
      if (!access || !is_plain_access(inst, *access)) return false;
      if (access->place->reg == ptx::kNone) continue;
      const ValueId address = inst.read(access->place->reg);
      const auto step = by_thread.of(address);
      if (step == 0) continue;
      if (!step || by_block.of(address) != *step * int64_t{block[0]}) return false;
      any = true;
    }
  }
  return any;
}

}  // namespace km::simt
