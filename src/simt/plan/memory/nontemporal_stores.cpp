#include "simt/plan/memory/nontemporal_stores.h"

#include <algorithm>
#include <map>

#include "simt/analysis/memory/memory_access.h"
#include "simt/analysis/reach.h"

namespace km::simt {

using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;

namespace {

constexpr unsigned kDepth = 100;

bool is_plain_store(const ptx::Instruction& ptx) {
  return ptx.opcode == Opcode::st && !is_strong_access(ptx) && !ptx.has(Modifier::async) &&
         !ptx.has(Modifier::bulk);
}

/// Finds the parameters from which pointers are computed. It is an estimate if an address has
/// several pointer terms.
class Roots {
 public:
  explicit Roots(const Kernel& kernel) : kernel_(kernel) {}

  /// The parameter; kNone if it is unknown.
  ptx::SymbolId of(ValueId value, unsigned depth = kDepth) {
    if (depth == 0 || kernel_.values[value].block == kNone) return ptx::kNone;
    const auto [known, fresh] = known_.try_emplace(value, ptx::kNone);
    if (fresh) known_[value] = find(value, depth - 1);
    return known_[value];
  }

 private:
  ptx::SymbolId find(ValueId value, unsigned depth) {
    if (const Phi* const phi = kernel_.phi_of(value)) {
      for (ValueId input : phi->inputs) {
        if (const auto root = of(input, depth); root != ptx::kNone) return root;
      }
      return ptx::kNone;
    }
    const Inst& inst = *kernel_.instruction_of(value);
    switch (inst.ptx->opcode) {
      case Opcode::ld: {
        const Operand& source = inst.ptx->operands[1];
        return inst.reads.empty() && kernel_.is_parameter(source) ? source.symbol : ptx::kNone;
      }
      case Opcode::mov:
      case Opcode::cvta:
      case Opcode::add:
      case Opcode::mad:
        for (const auto& read : inst.reads) {
          if (const auto root = of(read.second, depth); root != ptx::kNone) return root;
        }
        return ptx::kNone;
      default:
        return ptx::kNone;
    }
  }

  const Kernel& kernel_;
  std::map<ValueId, ptx::SymbolId> known_;
};

/// True if other blocks may rely on earlier accesses once this instruction was executed.
bool orders(const Inst& inst) {
  if (is_plain_store(*inst.ptx)) return false;
  const bool loads = inst.ptx->opcode == Opcode::ld || inst.ptx->opcode == Opcode::ldu;
  return loads ? is_strong_access(*inst.ptx) : !orders_nothing(*inst.ptx);
}

/// The blocks that contain an ordering instruction or lead to one.
BlockSet leading_to_order(const Kernel& kernel) {
  BlockSet having(kernel.blocks.size());
  for (BlockId b = 0; b < having.size(); ++b) {
    const auto& insts = kernel.blocks[b].insts;
    having[b] = std::any_of(insts.begin(), insts.end(), orders);
  }
  return reaching(kernel, having);
}

}  // namespace

NontemporalStores::NontemporalStores(const Plan& plan) {
  if (!plan.has_phases()) return;
  const Kernel& kernel = *plan.kernel;
  Roots roots(kernel);
  std::set<ptx::SymbolId> loaded;
  for (const BasicBlock& block : kernel.blocks) {
    for (const Inst& inst : block.insts) {
      const auto access = memory_access(kernel, inst);
      if (!access || !is_global(access->space) || is_plain_store(*inst.ptx)) continue;
      if (reads_constants(*inst.ptx) || access->place->reg == ptx::kNone) continue;
      const ptx::SymbolId root = roots.of(inst.read(access->place->reg));
      if (root == ptx::kNone) return;
      loaded.insert(root);
    }
  }
  const BlockSet leading = leading_to_order(kernel);
  for (BlockId b = 0; b < kernel.blocks.size(); ++b) {
    const BasicBlock& block = kernel.blocks[b];
    const bool is_ordered = std::any_of(block.succs.begin(), block.succs.end(),
                                        [&](BlockId succ) { return leading[succ] != 0; });
    if (is_ordered || plan.shapes->loops.innermost[b] != UINT32_MAX) continue;
    // Visits the block backwards up to its last ordering instruction.
    for (size_t i = block.insts.size(); i-- > 0 && !orders(block.insts[i]);) {
      const Inst& inst = block.insts[i];
      const auto access = memory_access(kernel, inst);
      if (!access || !is_global(access->space) || !is_plain_store(*inst.ptx)) continue;
      if (access->place->reg == ptx::kNone) continue;
      const ptx::SymbolId root = roots.of(inst.read(access->place->reg));
      if (root == ptx::kNone || loaded.count(root) != 0) continue;
      stores_.insert(&inst);
      thread_bytes_ += access->size_bytes;
    }
  }
}

}  // namespace km::simt
