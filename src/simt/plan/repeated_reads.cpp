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

/// The value that an address was before conversions between state spaces and moves, which name the
/// same place.
ValueId origin_of(const Kernel& kernel, ValueId address) {
  for (const Inst* inst = kernel.instruction_of(address); inst != nullptr;
       inst = kernel.instruction_of(address)) {
    const bool is_same =
        inst->ptx->opcode == ptx::Opcode::cvta || inst->ptx->opcode == ptx::Opcode::mov;
    if (!is_same || inst->guard != kNone || inst->reads.size() != 1) break;
    if (inst->writes.size() != 1) break;
    address = inst->reads[0].second;
  }
  return address;
}

/// True if two addresses are the same value, or sums of such values: compilers add an index to a
/// pointer in each of the state spaces in which the program uses it.
bool are_same(const Kernel& kernel, ValueId a, ValueId b, int depth = 0) {
  constexpr int kMostDepth = 4;
  if (a == b) return true;
  if (depth == kMostDepth || a == kNone || b == kNone) return false;
  a = origin_of(kernel, a);
  b = origin_of(kernel, b);
  if (a == b) return true;
  const Inst *sum = kernel.instruction_of(a), *other = kernel.instruction_of(b);
  for (const Inst* inst : {sum, other}) {
    if (inst == nullptr || inst->ptx->opcode != ptx::Opcode::add) return false;
    if (inst->guard != kNone || inst->reads.size() != 2) return false;
  }
  const auto pairs = [&](size_t first) {
    return are_same(kernel, sum->reads[0].second, other->reads[first].second, depth + 1) &&
           are_same(kernel, sum->reads[1].second, other->reads[1 - first].second, depth + 1);
  };
  return pairs(0) || pairs(1);
}

/// An access, the place that it names and the memory behind that.
struct Reference {
  Reference(const Kernel& kernel, const Inst& inst, const MemoryAccess& access)
      : place(*access.place),
        base(place.reg == ptx::kNone ? kNone : origin_of(kernel, inst.read(place.reg))),
        memory(memory_ref(kernel, inst, place, access.size_bytes)) {}

  const ptx::Operand& place;
  ValueId base;
  MemoryRef memory;
};

/// True if the memory begins within the other, by the register or the variable that both name, or
/// by what their addresses are made of.
bool is_part_of(const Kernel& kernel, const Reference& part, const Reference& whole) {
  const auto is_within = [&](int64_t distance) {
    return distance >= 0 && distance < static_cast<int64_t>(whole.memory.size_bytes);
  };
  if (are_same(kernel, part.base, whole.base) && part.place.symbol == whole.place.symbol &&
      part.place.local_symbol == whole.place.local_symbol) {
    return is_within(part.place.offset - whole.place.offset);
  }
  return part.memory.same_root(whole.memory) && part.memory.exact && whole.memory.exact &&
         is_within(part.memory.offset - whole.memory.offset);
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
  const Reference whole(kernel, atomic, *memory_access(kernel, atomic));
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
      if (access && is_part_of(kernel, {kernel, inst, *access}, whole)) loads_.insert(inst.ptx);
    }
  }
}

}  // namespace km::simt
