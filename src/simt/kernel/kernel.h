// A PTX function in the engine's form: basic blocks in SSA form. Instructions are those of the
// parser, with the values that they read and write.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ptx/ir.h"
#include "simt/kernel/graph.h"

namespace km::simt {

using ValueId = uint32_t;
using BlockId = NodeId;
constexpr uint32_t kNone = UINT32_MAX;

struct Value {
  ptx::Type type = ptx::Type::none;  // type of the register
  ptx::RegisterId reg = kNone;
  BlockId block = kNone;         // block of its definition; kNone: undefined register
  uint32_t instruction = kNone;  // index in the block; kNone: a phi
  uint32_t phi = kNone;          // index among the block's phis; kNone: an instruction
};

struct Inst {
  const ptx::Instruction* ptx = nullptr;
  std::vector<std::pair<ptx::RegisterId, ValueId>> reads;  // one entry per register
  std::vector<std::pair<ptx::RegisterId, ValueId>> writes;
  /// A guard that stays on the instruction: results are select(guard, new, old). Guards of
  /// instructions with effects have been turned into branches.
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
  branch,     // succs[0] if the condition holds, otherwise succs[1]
  table,      // brx.idx: succs by index
  barrier,    // jump after a barrier instruction, the last of the block
  warp_sync,  // jump after a warp operation that waits for its members; for mode c only
  exit,       // the thread exits, or the function returns
};

struct BasicBlock {
  std::vector<Phi> phis;
  std::vector<Inst> insts;
  std::vector<BlockId> succs, preds;
  Terminator terminator = Terminator::exit;
  ValueId condition = kNone;  // condition of a branch, index of a table
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
  std::vector<BasicBlock> blocks;  // 0 is the entry, without predecessors; all are reachable
  /// An instruction near a loop with several entries (irreducible control flow), which only mode c
  /// supports; null: none.
  const ptx::Instruction* irreducible = nullptr;
  /// Synthesized instructions, which are not in the function.
  std::vector<std::shared_ptr<const ptx::Instruction>> synthesized;

  Graph graph() const;
  /// For each block and successor, the edge's index among the predecessors of that successor.
  std::vector<std::vector<uint32_t>> edge_slots() const;
  /// True if a block of the kernel ends with a barrier.
  bool has_barrier() const { return std::any_of(blocks.begin(), blocks.end(), ends_in_barrier); }
  bool has_barrier(const std::vector<BlockId>& list) const {
    return std::any_of(list.begin(), list.end(),
                       [&](BlockId b) { return ends_in_barrier(blocks[b]); });
  }
  /// The phi that defines a value; null if an instruction does, or if it is undefined.
  const Phi* phi_of(ValueId value) const;
  /// The instruction that defines a value; null if a phi does, or if it is undefined.
  const Inst* instruction_of(ValueId value) const {
    const Value& v = values[value];
    const bool is_made = v.block != kNone && v.instruction != kNone;
    return is_made ? &blocks[v.block].insts[v.instruction] : nullptr;
  }
  /// True if an operand names a parameter of the function itself, not of a callee.
  bool is_parameter(const ptx::Operand& operand) const;
  /// True if an instruction only loads such a parameter, at a constant offset.
  bool loads_parameter(const Inst& inst) const;
  /// The symbol of the function or of the module that an operand names.
  const ptx::Symbol& symbol_of(const ptx::Operand& operand) const {
    const auto& symbols = operand.local_symbol ? function->symbols : module->symbols;
    return symbols[operand.symbol];
  }
};

/// The places where basic blocks end beside branches and barriers.
enum class BlockEnds : uint8_t {
  nowhere,
  at_warp_operations,  // for mode c: at those that wait
  before_accesses,     // also before accesses to memory that other threads see
};

/// Builds basic blocks, turns guards of effects into branches, normalises the control-flow graph
/// (one latch per loop, a block for every plain `ret`), and converts registers to SSA form.
/// KM_ERROR_UNSUPPORTED_PTX for control flow that no mode supports.
Result<Kernel> build_kernel(const ptx::Module& module, const ptx::Function& function,
                            BlockEnds ends = BlockEnds::nowhere);

/// The text of KM_DUMP=ir.
std::string dump(const Kernel& kernel);

/// The registers that an instruction's operands name, each once, without its guard.
struct RegisterUse {
  std::vector<ptx::RegisterId> reads, writes;
};
RegisterUse registers_of(const ptx::Function& function, const ptx::Instruction& instruction);

// Properties of opcodes that the engine needs before lowering (opcodes.cpp).
/// True for loads, stores and atomics of memory that other threads may access.
bool is_shared_access(const ptx::Instruction& instruction);
bool writes_first_operand(const ptx::Instruction& instruction);
/// True if the second operand, which is written by itself, is a result, too.
bool writes_second_operand(const ptx::Instruction& instruction);
/// True if the instruction accesses memory, other lanes, the block or time, so that its guard
/// cannot be a select.
bool has_effects(const ptx::Instruction& instruction);
/// True for a load or store that other threads may observe, so that it can be neither moved nor
/// merged.
bool is_strong_access(const ptx::Instruction& instruction);
/// True for a load of memory that is constant while the kernel runs.
bool reads_constants(const ptx::Instruction& instruction);
/// True if the instruction neither accesses memory nor orders accesses for other blocks.
bool orders_nothing(const ptx::Instruction& instruction);
bool is_barrier(const ptx::Instruction& instruction);
/// True for a barrier with number 0 at which all threads of the block wait, including reductions,
/// and for that of a cluster.
bool is_block_barrier(const ptx::Instruction& instruction);
/// True if the instruction stores to memory, or has other effects that other threads may observe.
bool changes_memory(const ptx::Instruction& instruction);
/// True for barrier.cluster.wait, a barrier without number and thread count.
bool is_cluster_wait(const ptx::Instruction& instruction);
/// True if the blocks of a cluster access or wait for each other, so that they must run at the same
/// time.
bool meets_cluster(const ptx::Function& function);
/// True if the instruction exchanges data or waits within a warp.
bool is_warp_operation(const ptx::Instruction& instruction);
/// The memory operand of a load, store or atomic operation; no operand for other instructions.
struct MemoryPlace {
  const ptx::Operand* operand = nullptr;
  uint64_t size_bytes = 0;  // size of all elements together
};
MemoryPlace memory_place(const ptx::Instruction& instruction);
/// True for global memory, and for generic addresses, which may be global.
inline bool is_global(ptx::Space space) {
  return space == ptx::Space::global || space == ptx::Space::generic;
}
/// True for a conversion between integers of 32 and 64 bits: an extension, truncation or move.
bool is_word_conversion(const ptx::Instruction& instruction);
/// True for a warp operation that waits until all its members have arrived.
bool is_warp_sync(const ptx::Instruction& instruction);
/// True if the last operand is the member mask; otherwise the members are all lanes that have not
/// exited.
bool has_member_mask(const ptx::Instruction& instruction);
/// "kernel.ptx:41: 'bar.sync 0'", for messages.
std::string describe(const ptx::Module& module, const ptx::Instruction& instruction);

}  // namespace km::simt
