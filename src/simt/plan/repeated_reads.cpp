#include "simt/plan/repeated_reads.h"

#include <algorithm>

#include "simt/analysis/memory/memory_access.h"
#include "simt/analysis/memory/memory_ref.h"
#include "simt/analysis/reach.h"

namespace km::simt {
namespace {

/// True if the atomic does nothing new if the value has changed since the program read it.
bool repeats_reads(const ptx::Instruction& ptx) {
  using ptx::Modifier;
  for (const Modifier m :
       {Modifier::cas, Modifier::min, Modifier::max, Modifier::and_, Modifier::or_}) {
    if (ptx.has(m)) return true;
  }
  return false;
}

MemoryRef ref_of(const Kernel& kernel, const Inst& inst, const MemoryAccess& access) {
  return memory_ref(kernel, inst, *access.place, access.size_bytes);
}

/// True if the memory certainly begins within the other.
bool is_part_of(const MemoryRef& part, const MemoryRef& whole) {
  const int64_t distance = part.offset - whole.offset;
  return part.same_root(whole) && part.exact && whole.exact && distance >= 0 &&
         distance < static_cast<int64_t>(whole.size_bytes);
}

bool is_load(const Inst& inst) {
  return inst.ptx->opcode == ptx::Opcode::ld || inst.ptx->opcode == ptx::Opcode::ldu;
}

}  // namespace

RepeatedReads::RepeatedReads(const Kernel& kernel) {
  for (BlockId b = 0; b < kernel.blocks.size(); ++b) {
    for (const Inst& inst : kernel.blocks[b].insts) {
      if (is_atomic(inst) && repeats_reads(*inst.ptx)) mark_loads(kernel, b, inst);
    }
  }
}

/// Marks the loads of the atomic's place, or of a part of it, from which a path without a barrier
/// leads to it.
void RepeatedReads::mark_loads(const Kernel& kernel, BlockId home, const Inst& atomic) {
  const MemoryRef whole = ref_of(kernel, atomic, *memory_access(kernel, atomic));
  BlockSet targets(kernel.blocks.size());
  targets[home] = 1;
  const BlockSet reaching = reached(targets, preds_in(kernel), [&](BlockId, BlockId from) {
    return !ends_in_barrier(kernel.blocks[from]);
  });
  for (BlockId b = 0; b < kernel.blocks.size(); ++b) {
    const BasicBlock& block = kernel.blocks[b];
    const bool leads_there =
        !ends_in_barrier(block) &&
        std::any_of(block.succs.begin(), block.succs.end(), [&](BlockId s) { return reaching[s]; });
    bool is_before = b == home;
    for (const Inst& inst : block.insts) {
      if (&inst == &atomic) is_before = false;
      if (!is_load(inst) || (!leads_there && !is_before)) continue;
      const auto access = memory_access(kernel, inst);
      if (access && is_part_of(ref_of(kernel, inst, *access), whole)) loads_.insert(inst.ptx);
    }
  }
}

}  // namespace km::simt
