// A PTX function as the engine sees it: basic blocks in SSA form. Instructions stay the parser's;
// here they gain the values they read and write.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ptx/ir.h"
#include "simt/analysis/graph.h"

namespace km::simt {

using ValueId = uint32_t;
using BlockId = NodeId;
constexpr uint32_t kNone = UINT32_MAX;

struct Value {
  ptx::Type type = ptx::Type::none;  // of the register
  ptx::RegisterId reg = kNone;
  BlockId block = kNone;         // where it is defined; kNone: never (an undefined register)
  uint32_t instruction = kNone;  // index in the block; kNone: a phi
  uint32_t phi = kNone;          // index among the block's phis; kNone: an instruction
};

struct Inst {
  const ptx::Instruction* ptx = nullptr;
  std::vector<std::pair<ptx::RegisterId, ValueId>> reads;  // one entry per register
  std::vector<std::pair<ptx::RegisterId, ValueId>> writes;
  /// A guard that stays on the instruction: results are select(guard, new, old). Guards of
  /// instructions with effects have become branches.
  ValueId guard = kNone;
  std::vector<ValueId> old_values;  // one per write, when guarded

  ValueId read(ptx::RegisterId reg) const;
  ValueId written(ptx::RegisterId reg) const;
};

struct Phi {
  ValueId result = kNone;
  std::vector<ValueId> inputs;  // one per predecessor, in their order
};

enum class Terminator : uint8_t {
  jump,       // succs[0]
  branch,     // succs[0] where the condition holds, succs[1] elsewhere
  table,      // brx.idx: succs by index
  barrier,    // jump after a barrier instruction, the last of the block
  warp_sync,  // jump after a warp operation that waits for its members; for mode c only
  exit,       // the thread ends, or the function returns
};

struct BasicBlock {
  std::vector<Phi> phis;
  std::vector<Inst> insts;
  std::vector<BlockId> succs, preds;
  Terminator terminator = Terminator::exit;
  ValueId condition = kNone;  // of branch and table
  bool condition_negated = false;
  const ptx::Instruction* terminator_ptx = nullptr;
};

inline bool ends_in_barrier(const BasicBlock& block) {
  return block.terminator == Terminator::barrier;
}

struct Kernel {
  const ptx::Module* module = nullptr;
  const ptx::Function* function = nullptr;
  std::vector<Value> values;
  std::vector<BasicBlock> blocks;  // 0 is the entry and has no predecessor; all are reachable
  /// A loop is entered at more than one place, near this instruction: only mode c runs that.
  const ptx::Instruction* irreducible = nullptr;
  /// Instructions that are not the function's own.
  std::vector<std::shared_ptr<const ptx::Instruction>> synthesized;

  Graph graph() const;
  /// For each block and successor, the edge's place among the predecessors of that successor.
  std::vector<std::vector<uint32_t>> edge_slots() const;
  /// A barrier ends a block of the kernel, or one of these.
  bool has_barrier() const { return std::any_of(blocks.begin(), blocks.end(), ends_in_barrier); }
  bool has_barrier(const std::vector<BlockId>& list) const {
    return std::any_of(list.begin(), list.end(),
                       [&](BlockId b) { return ends_in_barrier(blocks[b]); });
  }
  /// The phi that makes a value; null: an instruction does, or nothing.
  const Phi* phi_of(ValueId value) const;
  /// The instruction that makes a value; null: a phi does, or nothing.
  const Inst* instruction_of(ValueId value) const {
    const Value& v = values[value];
    const bool is_made = v.block != kNone && v.instruction != kNone;
    return is_made ? &blocks[v.block].insts[v.instruction] : nullptr;
  }
  /// True if an operand names a parameter of the function itself, not of one that it calls.
  bool is_parameter(const ptx::Operand& operand) const;
  /// True if an instruction only loads such a parameter, at a place known now.
  bool loads_parameter(const Inst& inst) const;
  /// The symbol of the function or of the module that an operand names.
  const ptx::Symbol& symbol_of(const ptx::Operand& operand) const {
    const auto& symbols = operand.local_symbol ? function->symbols : module->symbols;
    return symbols[operand.symbol];
  }
};

/// Divides the body into basic blocks, turns guards of effects into branches, gives every back edge
/// of a loop one latch and every plain `ret` a block of its own, and puts registers into SSA form.
/// `independent_threads`: for mode c, warp operations that wait end their blocks.
/// KM_ERROR_UNSUPPORTED_PTX for control flow that no mode of this version runs.
Result<Kernel> build_kernel(const ptx::Module& module, const ptx::Function& function,
                            bool independent_threads = false);

/// The text KM_DUMP=ir prints.
std::string dump(const Kernel& kernel);

/// The registers that an instruction's operands name, each once; its guard is not among them.
struct RegisterUse {
  std::vector<ptx::RegisterId> reads, writes;
};
RegisterUse registers_of(const ptx::Function& function, const ptx::Instruction& instruction);

// Facts about opcodes that the engine needs before lowering (opcodes.cpp).
bool writes_first_operand(const ptx::Instruction& instruction);
/// Touches memory, other lanes, the block or time: never guarded by a select.
bool has_effects(const ptx::Instruction& instruction);
/// A load or store that others may see happen: done as it stands, when it stands there.
bool is_strong_access(const ptx::Instruction& instruction);
/// A load of what nobody writes while the kernel runs.
bool reads_constants(const ptx::Instruction& instruction);
/// Neither accesses memory nor orders what other blocks see of accesses.
bool orders_nothing(const ptx::Instruction& instruction);
bool is_barrier(const ptx::Instruction& instruction);
/// A barrier at which all threads of the block wait, under number 0, reductions included; or that
/// of a cluster.
bool is_block_barrier(const ptx::Instruction& instruction);
/// Stores to memory, or may have other effects that threads beside it see.
bool changes_memory(const ptx::Instruction& instruction);
/// barrier.cluster.wait: a barrier without number and thread count.
bool is_cluster_wait(const ptx::Instruction& instruction);
/// Blocks of a cluster use each other, and so must be there at the same time.
bool meets_cluster(const ptx::Function& function);
/// Exchanges data or waits within a warp.
bool is_warp_operation(const ptx::Instruction& instruction);
/// The place that a load, store or atomic operation accesses; no operand: the instruction is none
/// of these.
struct MemoryPlace {
  const ptx::Operand* operand = nullptr;
  uint64_t size_bytes = 0;  // of all elements
};
MemoryPlace memory_place(const ptx::Instruction& instruction);
/// Global memory, or what may be.
inline bool is_global(ptx::Space space) {
  return space == ptx::Space::global || space == ptx::Space::generic;
}
/// A conversion between integers of 32 and 64 bits: it extends, cuts off or moves.
bool is_word_conversion(const ptx::Instruction& instruction);
/// A warp operation that waits until its members have come to it.
bool is_warp_sync(const ptx::Instruction& instruction);
/// The last operand names the members; else they are all lanes that have not exited.
bool has_member_mask(const ptx::Instruction& instruction);
/// "kernel.ptx:41: 'bar.sync 0'", for messages.
std::string describe(const ptx::Module& module, const ptx::Instruction& instruction);

}  // namespace km::simt
