#include "simt/plan/memory/privatized_atomics.h"

#include "simt/analysis/memory/memory_access.h"

namespace km::simt {

using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;

PrivatizedAtomics::PrivatizedAtomics(const Plan& plan, const ReadValues& reads)
    : plan_(plan), reads_(reads) {
  find();
}

void PrivatizedAtomics::find() {
  const bool ends_alone = plan_.mode == Mode::run_to_completion && !plan_.waits;
  if (!ends_alone || plan_.variant.checked) return;
  unsigned bits = 0;  // total width of the privatised sums
  for (BlockId b = 0; b < plan_.kernel->blocks.size(); ++b) {
    for (const Inst& inst : plan_.kernel->blocks[b].insts) {
      const auto access = memory_access(*plan_.kernel, inst);
      if (access && is_global(access->space) && is_candidate(inst)) {
        const unsigned own = ptx::size_bits(inst.ptx->type());
        if (bits != 0 && bits != own) return;
        bits = own;
      } else if (!allows_privatizing(inst, b)) {
        return;
      }
    }
  }
  is_used_ = bits != 0;
}

/// True for an addition that may become visible late.
bool PrivatizedAtomics::is_candidate(const Inst& inst) const {
  const auto& ptx = *inst.ptx;
  if (!is_atomic(inst) || !ptx.has(Modifier::add) || ptx.has(Modifier::async)) return false;
  const bool orders = ptx.has(Modifier::acquire) || ptx.has(Modifier::release) ||
                      ptx.has(Modifier::acq_rel) || ptx.has(Modifier::sys);
  const unsigned bits = ptx::size_bits(ptx.type());
  const Operand& content = ptx.operands[ptx.opcode == Opcode::red ? 1 : 2];
  return !orders && ptx::is_integer(ptx.type()) && (bits == 32 || bits == 64) &&
         content.kind != Operand::Kind::vector && !reads_.has_readers(inst);
}

bool PrivatizedAtomics::allows_privatizing(const Inst& inst, BlockId block) const {
  const auto& ptx = *inst.ptx;
  const auto access = memory_access(*plan_.kernel, inst);
  if (!access) return orders_nothing(ptx);
  if (!is_global(access->space)) return !is_strong_access(ptx) && !ptx.has(Modifier::async);
  if (is_atomic(inst) || is_strong_access(ptx) || ptx.has(Modifier::async)) return false;
  if (reads_constants(ptx) || access->place->reg == ptx::kNone) return true;
  return !plan_.shapes->at(*plan_.kernel, inst.read(access->place->reg), block).is_varying();
}

}  // namespace km::simt
