// The second half of build_kernel(): converts registers to SSA values, with phis where definitions
// meet (pruned SSA: only for live registers).
#include <algorithm>

#include "simt/build/basic_blocks.h"
#include "simt/kernel/warpgroup_rules.h"

namespace km::simt {

namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::RegisterId;

void add_register(std::vector<RegisterId>& list, RegisterId reg) {
  if (reg != ptx::kNone && std::find(list.begin(), list.end(), reg) == list.end()) {
    list.push_back(reg);
  }
}

void collect(const ptx::Function& function, const Operand& operand, bool written,
             RegisterUse& out) {
  switch (operand.kind) {
    case Operand::Kind::reg:
      add_register(written ? out.writes : out.reads, operand.reg);
      break;
    case Operand::Kind::address:
      add_register(out.reads, operand.reg);
      break;
    case Operand::Kind::vector:
    case Operand::Kind::pair:
    case Operand::Kind::list:
    case Operand::Kind::tuple:
      for (uint32_t i = 0; i < operand.count; ++i) {
        const bool is_place = operand.kind == Operand::Kind::tuple;
        collect(function, function.operand_pool[operand.first + i], written && !is_place, out);
      }
      break;
    default:
      break;
  }
}

/// A limit for the inputs of all phis, those of dead registers included, which is 200 MB.
constexpr uint64_t kMostPhis = 20'000'000;

/// Finds the phis that are read, by tracking the value of each register down the dominator tree.
class PhiReaders {
 public:
  PhiReaders(const std::vector<std::vector<RegisterId>>& phi_registers, size_t registers)
      : phi_registers_(phi_registers), held_(registers, kNone), undo_(phi_registers.size()) {
    for (const auto& list : phi_registers) {
      first_.push_back(count_);
      count_ += static_cast<uint32_t>(list.size());
    }
    is_read_.resize(count_);
    sources_.resize(count_);
  }

  uint32_t number(BlockId block, size_t phi) const {
    return first_[block] + static_cast<uint32_t>(phi);
  }

  void enter(BlockId block) {
    for (size_t p = 0; p < phi_registers_[block].size(); ++p) {
      hold(block, phi_registers_[block][p], number(block, p));
    }
  }
  void read(RegisterId reg) {
    if (held_[reg] != kNone) mark(held_[reg]);
  }
  void write(BlockId block, RegisterId reg) {
    if (held_[reg] != kNone) hold(block, reg, kNone);
  }
  /// Called at the end of each predecessor of `block`: its phis read the registers' values.
  void read_by_phis(BlockId block) {
    for (size_t p = 0; p < phi_registers_[block].size(); ++p) {
      const uint32_t held = held_[phi_registers_[block][p]];
      if (held != kNone) sources_[number(block, p)].push_back(held);
    }
  }
  void leave(BlockId block) {
    for (; !undo_[block].empty(); undo_[block].pop_back()) {
      held_[undo_[block].back().first] = undo_[block].back().second;
    }
  }

  std::vector<uint8_t> read_phis() {
    while (!open_.empty()) {
      const uint32_t phi = open_.back();
      open_.pop_back();
      for (uint32_t source : sources_[phi]) mark(source);
    }
    return std::move(is_read_);
  }

 private:
  void mark(uint32_t phi) {
    if (is_read_[phi] != 0) return;
    is_read_[phi] = 1;
    open_.push_back(phi);
  }
  void hold(BlockId block, RegisterId reg, uint32_t phi) {
    undo_[block].emplace_back(reg, held_[reg]);
    held_[reg] = phi;
  }

  const std::vector<std::vector<RegisterId>>& phi_registers_;  // by block
  std::vector<uint32_t> first_;                                // number of a block's first phi
  uint32_t count_ = 0;
  std::vector<uint32_t> held_;  // by register: the phi that is its current value; kNone: not a phi
  std::vector<std::vector<std::pair<RegisterId, uint32_t>>> undo_;  // by block
  std::vector<uint8_t> is_read_;                                    // by phi
  std::vector<std::vector<uint32_t>> sources_;                      // by phi: phis among its inputs
  std::vector<uint32_t> open_;
};

class Builder {
 public:
  Builder(const ptx::Module& module, const ptx::Function& function,
          const std::vector<RawBasicBlock>& raw)
      : function_(function), raw_(raw) {
    kernel_.module = &module;
    kernel_.function = &function;
  }

  Result<Kernel> run() {
    copy_blocks();
    graph_ = kernel_.graph();
    dominators_ = DominatorTree(graph_, 0);
    if (!place_phis()) {
      return make_error(
          KM_ERROR_UNSUPPORTED_PTX,
          "%s:%u: kernel '%s' has too many labels that are reached from too many places",
          kernel_.module->name.c_str(), function_.location.line, function_.name.c_str());
    }
    drop_unread_phis();
    rename();
    return std::move(kernel_);
  }

 private:
  void copy_blocks() {
    kernel_.blocks.resize(raw_.size());
    registers_.resize(raw_.size());
    slots_of_edges_.resize(raw_.size());
    for (uint32_t b = 0; b < raw_.size(); ++b) {
      BasicBlock& block = kernel_.blocks[b];
      block.succs = raw_[b].targets;
      block.terminator = raw_[b].terminator;
      block.condition_negated = raw_[b].condition_negated;
      block.terminator_ptx = raw_[b].terminator_ptx;
      for (uint32_t target : block.succs) {
        slots_of_edges_[b].push_back(static_cast<uint32_t>(kernel_.blocks[target].preds.size()));
        kernel_.blocks[target].preds.push_back(b);
      }
      for (const Instruction* instruction : raw_[b].insts) {
        block.insts.emplace_back();
        block.insts.back().ptx = instruction;
        registers_[b].push_back(registers_of(function_, *instruction));
      }
    }
  }

  bool keeps_guard(const Inst& inst) const {
    return inst.ptx->guard != ptx::kNone && !has_effects(*inst.ptx);
  }

  /// Calls `read(register)` and `write(register)` for an instruction's accesses, in order.
  template <class Read, class Write>
  void visit_registers(BlockId b, uint32_t i, Read read, Write write) const {
    const RegisterUse& use = registers_[b][i];
    for (RegisterId reg : use.reads) read(reg);
    if (keeps_guard(kernel_.blocks[b].insts[i])) {
      read(kernel_.blocks[b].insts[i].ptx->guard);
      for (RegisterId reg : use.writes) read(reg);
    }
    for (RegisterId reg : use.writes) write(reg);
  }

  /// The registers that some block reads before it writes them; others need no phis.
  std::vector<uint8_t> read_across_blocks() const {
    std::vector<uint8_t> result(function_.registers.size());
    std::vector<BlockId> written_in(function_.registers.size(), kNone);
    for (BlockId b = 0; b < raw_.size(); ++b) {
      auto read = [&](RegisterId reg) { result[reg] |= written_in[reg] != b; };
      auto write = [&](RegisterId reg) { written_in[reg] = b; };
      for (uint32_t i = 0; i < registers_[b].size(); ++i) visit_registers(b, i, read, write);
      if (raw_[b].condition != ptx::kNone) read(raw_[b].condition);
    }
    return result;
  }

  /// Places phis at every block where definitions of a register may meet. Returns false if there
  /// are too many.
  bool place_phis() {
    const auto frontiers = dominators_.frontiers(graph_, kMostPhis);
    if (!frontiers) return false;
    const std::vector<uint8_t> is_read = read_across_blocks();
    std::vector<std::vector<BlockId>> definitions(function_.registers.size());
    for (BlockId b = 0; b < raw_.size(); ++b) {
      for (const auto& registers : registers_[b]) {
        for (RegisterId reg : registers.writes) {
          if (definitions[reg].empty() || definitions[reg].back() != b) {
            definitions[reg].push_back(b);
          }
        }
      }
    }
    phi_registers_.resize(raw_.size());
    uint64_t inputs = 0;
    for (RegisterId reg = 0; reg < definitions.size(); ++reg) {
      if (is_read[reg] == 0) continue;
      std::vector<BlockId> work = definitions[reg];
      while (!work.empty()) {
        BlockId from = work.back();
        work.pop_back();
        for (BlockId at : (*frontiers)[from]) {
          auto& here = phi_registers_[at];
          if (!here.empty() && here.back() == reg) continue;
          here.push_back(reg);
          work.push_back(at);
          inputs += kernel_.blocks[at].preds.size();
        }
      }
      if (inputs > kMostPhis) return false;
    }
    return true;
  }

  /// Removes phis whose value no instruction or branch reads, directly or through other phis. The
  /// rest are those of live registers.
  void drop_unread_phis() {
    PhiReaders readers(phi_registers_, function_.registers.size());
    walk_dominators([&](BlockId b) { note_readers(b, readers); },
                    [&](BlockId b) { readers.leave(b); });
    const std::vector<uint8_t> is_read = readers.read_phis();
    for (BlockId b = 0; b < raw_.size(); ++b) {
      auto& registers = phi_registers_[b];
      size_t kept = 0;
      for (size_t p = 0; p < registers.size(); ++p) {
        if (is_read[readers.number(b, p)]) registers[kept++] = registers[p];
      }
      registers.resize(kept);
      kernel_.blocks[b].phis.resize(kept);
      for (Phi& phi : kernel_.blocks[b].phis) {
        phi.inputs.resize(kernel_.blocks[b].preds.size(), kNone);
      }
    }
  }

  void note_readers(BlockId b, PhiReaders& readers) const {
    readers.enter(b);
    auto read = [&](RegisterId reg) { readers.read(reg); };
    auto write = [&](RegisterId reg) { readers.write(b, reg); };
    for (uint32_t i = 0; i < registers_[b].size(); ++i) visit_registers(b, i, read, write);
    if (raw_[b].condition != ptx::kNone) readers.read(raw_[b].condition);
    for (BlockId succ : raw_[b].targets) readers.read_by_phis(succ);
  }

  /// Visits the dominator tree: `enter` before a block's children, `leave` after them.
  template <class Enter, class Leave>
  void walk_dominators(Enter enter, Leave leave) const {
    std::vector<std::pair<BlockId, size_t>> stack{{0, 0}};
    enter(0);
    while (!stack.empty()) {
      auto& [block, next] = stack.back();
      const auto& children = dominators_.children(block);
      if (next < children.size()) {
        const BlockId child = children[next++];
        stack.emplace_back(child, 0);
        enter(child);
        continue;
      }
      leave(block);
      stack.pop_back();
    }
  }

  ValueId new_value(RegisterId reg, BlockId block, uint32_t instruction) {
    kernel_.values.push_back({function_.registers[reg].type, reg, block, instruction, kNone});
    return static_cast<ValueId>(kernel_.values.size() - 1);
  }

  ValueId current(RegisterId reg) {
    if (stacks_[reg].empty()) stacks_[reg].push_back(new_value(reg, kNone, kNone));
    return stacks_[reg].back();
  }

  void rename() {
    stacks_.resize(function_.registers.size());
    std::vector<std::vector<RegisterId>> pushed(raw_.size());
    walk_dominators([&](BlockId b) { rename_block(b, pushed[b]); },
                    [&](BlockId b) {
                      for (RegisterId reg : pushed[b]) stacks_[reg].pop_back();
                    });
  }

  void define(RegisterId reg, ValueId value, std::vector<RegisterId>& pushed) {
    stacks_[reg].push_back(value);
    pushed.push_back(reg);
  }

  void rename_block(BlockId b, std::vector<RegisterId>& pushed) {
    BasicBlock& block = kernel_.blocks[b];
    for (size_t p = 0; p < block.phis.size(); ++p) {
      block.phis[p].result = new_value(phi_registers_[b][p], b, kNone);
      kernel_.values.back().phi = static_cast<uint32_t>(p);
      define(phi_registers_[b][p], block.phis[p].result, pushed);
    }
    for (uint32_t i = 0; i < block.insts.size(); ++i) rename_instruction(b, i, pushed);
    if (raw_[b].condition != ptx::kNone) block.condition = current(raw_[b].condition);
    for (size_t edge = 0; edge < block.succs.size(); ++edge) {
      fill_phis(block.succs[edge], slots_of_edges_[b][edge]);
    }
  }

  void rename_instruction(BlockId b, uint32_t i, std::vector<RegisterId>& pushed) {
    Inst& inst = kernel_.blocks[b].insts[i];
    for (RegisterId reg : registers_[b][i].reads) inst.reads.emplace_back(reg, current(reg));
    bool guarded = keeps_guard(inst);
    if (guarded) inst.guard = current(inst.ptx->guard);
    for (RegisterId reg : registers_[b][i].writes) {
      if (guarded) inst.old_values.push_back(current(reg));
    }
    for (RegisterId reg : registers_[b][i].writes) {
      ValueId value = new_value(reg, b, i);
      inst.writes.emplace_back(reg, value);
      define(reg, value, pushed);
    }
  }

  void fill_phis(BlockId to, uint32_t slot) {
    auto& phis = kernel_.blocks[to].phis;
    for (size_t p = 0; p < phis.size(); ++p) phis[p].inputs[slot] = current(phi_registers_[to][p]);
  }

  const ptx::Function& function_;
  const std::vector<RawBasicBlock>& raw_;
  Kernel kernel_;
  Graph graph_;
  DominatorTree dominators_;
  std::vector<std::vector<RegisterUse>> registers_;
  // Index of an edge among the successor's predecessors.
  std::vector<std::vector<uint32_t>> slots_of_edges_;
  std::vector<std::vector<RegisterId>> phi_registers_;
  std::vector<std::vector<ValueId>> stacks_;
};

}  // namespace

ValueId Inst::read(RegisterId reg) const {
  for (const auto& [key, value] : reads) {
    if (key == reg) return value;
  }
  return kNone;
}

ValueId Inst::written(RegisterId reg) const {
  for (const auto& [key, value] : writes) {
    if (key == reg) return value;
  }
  return kNone;
}

const Phi* Kernel::phi_of(ValueId value) const {
  const Value& v = values[value];
  return v.block == kNone || v.phi == kNone ? nullptr : &blocks[v.block].phis[v.phi];
}

Graph Kernel::graph() const {
  Graph graph(blocks.size());
  for (BlockId b = 0; b < blocks.size(); ++b) {
    graph.succs[b] = blocks[b].succs;
    graph.preds[b] = blocks[b].preds;
  }
  return graph;
}

std::vector<std::vector<uint32_t>> Kernel::edge_slots() const {
  std::vector<std::vector<uint32_t>> result(blocks.size());
  std::vector<std::vector<std::pair<BlockId, uint32_t>>> edges(blocks.size());  // sorted lists
  std::vector<size_t> first(blocks.size());
  for (BlockId b = 0; b < blocks.size(); ++b) {
    result[b].resize(blocks[b].succs.size());
    for (uint32_t i = 0; i < blocks[b].succs.size(); ++i)
      edges[b].emplace_back(blocks[b].succs[i], i);
    std::sort(edges[b].begin(), edges[b].end());
  }
  // The edges of each predecessor are sorted in the order in which blocks are visited.
  for (BlockId b = 0; b < blocks.size(); ++b) {
    for (uint32_t slot = 0; slot < blocks[b].preds.size(); ++slot) {
      const BlockId pred = blocks[b].preds[slot];
      result[pred][edges[pred][first[pred]++].second] = slot;
    }
  }
  return result;
}

RegisterUse registers_of(const ptx::Function& function, const Instruction& instruction) {
  RegisterUse result;
  bool call = instruction.opcode == ptx::Opcode::call;
  bool before_target = call;
  for (unsigned i = 0; i < instruction.operand_count; ++i) {
    const Operand& operand = instruction.operands[i];
    bool is_list = operand.kind == Operand::Kind::list;
    bool written = call ? before_target && is_list
                        : (i == 0 && writes_first_operand(instruction)) ||
                              (i == 1 && writes_second_operand(instruction));
    collect(function, operand, written, result);
    if (i == 0 && updates_first_operand(instruction)) collect(function, operand, false, result);
    if (!is_list) before_target = false;
  }
  return result;
}

Result<Kernel> build_kernel(const ptx::Module& module, const ptx::Function& function,
                            BlockEnds ends) {
  KM_ASSIGN(auto raw, build_basic_blocks(module, function, ends));
  KM_ASSIGN(const Instruction* irreducible, normalise_basic_blocks(module, raw));
  KM_ASSIGN(Kernel kernel, Builder(module, function, raw).run());
  kernel.irreducible = irreducible;
  return kernel;
}

}  // namespace km::simt
