// The second half of build_kernel(): registers become values, with phis where definitions meet
// (pruned: only where the register is live).
#include <algorithm>

#include "simt/blocks.h"

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
      for (uint32_t i = 0; i < operand.count; ++i) {
        collect(function, function.operand_pool[operand.first + i], written, out);
      }
      break;
    default:
      break;
  }
}

using Bits = std::vector<uint64_t>;
bool test(const Bits& bits, uint32_t i) { return (bits[i / 64] >> (i % 64)) & 1; }
void set(Bits& bits, uint32_t i) { bits[i / 64] |= uint64_t{1} << (i % 64); }

class Builder {
 public:
  Builder(const ptx::Module& module, const ptx::Function& function,
          const std::vector<RawBlock>& raw)
      : function_(function), raw_(raw) {
    kernel_.module = &module;
    kernel_.function = &function;
  }

  Kernel run() {
    copy_blocks();
    graph_ = kernel_.graph();
    dominators_ = DominatorTree(graph_, 0);
    compute_liveness();
    place_phis();
    rename();
    return std::move(kernel_);
  }

 private:
  void copy_blocks() {
    kernel_.blocks.resize(raw_.size());
    registers_.resize(raw_.size());
    for (uint32_t b = 0; b < raw_.size(); ++b) {
      Block& block = kernel_.blocks[b];
      block.succs = raw_[b].targets;
      block.end = raw_[b].end;
      block.condition_negated = raw_[b].condition_negated;
      block.terminator = raw_[b].terminator;
      for (uint32_t target : block.succs) kernel_.blocks[target].preds.push_back(b);
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

  void compute_liveness() {
    const size_t words = (function_.registers.size() + 63) / 64;
    live_in_.assign(raw_.size(), Bits(words));
    defined_.assign(raw_.size(), Bits(words));
    for (uint32_t b = 0; b < raw_.size(); ++b) {
      auto use = [&](RegisterId reg) {
        if (reg != ptx::kNone && !test(defined_[b], reg)) set(live_in_[b], reg);
      };
      for (uint32_t i = 0; i < registers_[b].size(); ++i) {
        for (RegisterId reg : registers_[b][i].reads) use(reg);
        if (keeps_guard(kernel_.blocks[b].insts[i])) {
          use(kernel_.blocks[b].insts[i].ptx->guard);
          for (RegisterId reg : registers_[b][i].writes) use(reg);
        }
        for (RegisterId reg : registers_[b][i].writes) set(defined_[b], reg);
      }
      use(raw_[b].condition);
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (auto b = static_cast<uint32_t>(raw_.size()); b-- > 0;) {
        for (uint32_t succ : raw_[b].targets) changed |= flow(b, succ);
      }
    }
  }

  bool flow(uint32_t block, uint32_t succ) {
    bool changed = false;
    for (size_t w = 0; w < live_in_[block].size(); ++w) {
      uint64_t bits = live_in_[block][w] | (live_in_[succ][w] & ~defined_[block][w]);
      changed |= bits != live_in_[block][w];
      live_in_[block][w] = bits;
    }
    return changed;
  }

  void place_phis() {
    auto frontiers = dominators_.frontiers(graph_);
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
    for (RegisterId reg = 0; reg < definitions.size(); ++reg) {
      std::vector<BlockId> work = definitions[reg];
      while (!work.empty()) {
        BlockId from = work.back();
        work.pop_back();
        for (BlockId at : frontiers[from]) {
          auto& here = phi_registers_[at];
          if (!test(live_in_[at], reg) || (!here.empty() && here.back() == reg)) continue;
          here.push_back(reg);
          work.push_back(at);
        }
      }
    }
    for (BlockId b = 0; b < raw_.size(); ++b) {
      kernel_.blocks[b].phis.resize(phi_registers_[b].size());
      for (Phi& phi : kernel_.blocks[b].phis)
        phi.inputs.resize(kernel_.blocks[b].preds.size(), kNone);
    }
  }

  ValueId new_value(RegisterId reg, BlockId block, uint32_t instruction) {
    kernel_.values.push_back({function_.registers[reg].type, reg, block, instruction});
    return static_cast<ValueId>(kernel_.values.size() - 1);
  }

  ValueId current(RegisterId reg) {
    if (stacks_[reg].empty()) stacks_[reg].push_back(new_value(reg, kNone, kNone));
    return stacks_[reg].back();
  }

  void rename() {
    stacks_.resize(function_.registers.size());
    struct Frame {
      BlockId block;
      size_t child = 0;
      std::vector<RegisterId> pushed;
    };
    std::vector<Frame> frames;
    frames.push_back({0, 0, {}});
    rename_block(0, frames.back().pushed);
    while (!frames.empty()) {
      Frame& frame = frames.back();
      const auto& children = dominators_.children(frame.block);
      if (frame.child < children.size()) {
        BlockId child = children[frame.child++];
        frames.push_back({child, 0, {}});
        rename_block(child, frames.back().pushed);
        continue;
      }
      for (RegisterId reg : frame.pushed) stacks_[reg].pop_back();
      frames.pop_back();
    }
  }

  void define(RegisterId reg, ValueId value, std::vector<RegisterId>& pushed) {
    stacks_[reg].push_back(value);
    pushed.push_back(reg);
  }

  void rename_block(BlockId b, std::vector<RegisterId>& pushed) {
    Block& block = kernel_.blocks[b];
    for (size_t p = 0; p < block.phis.size(); ++p) {
      block.phis[p].result = new_value(phi_registers_[b][p], b, kNone);
      define(phi_registers_[b][p], block.phis[p].result, pushed);
    }
    for (uint32_t i = 0; i < block.insts.size(); ++i) rename_instruction(b, i, pushed);
    if (raw_[b].condition != ptx::kNone) block.condition = current(raw_[b].condition);
    for (BlockId succ : block.succs) fill_phis(b, succ);
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

  void fill_phis(BlockId from, BlockId to) {
    Block& target = kernel_.blocks[to];
    for (size_t slot = 0; slot < target.preds.size(); ++slot) {
      if (target.preds[slot] != from) continue;
      for (size_t p = 0; p < target.phis.size(); ++p) {
        target.phis[p].inputs[slot] = current(phi_registers_[to][p]);
      }
    }
  }

  const ptx::Function& function_;
  const std::vector<RawBlock>& raw_;
  Kernel kernel_;
  Graph graph_;
  DominatorTree dominators_;
  std::vector<std::vector<RegisterUse>> registers_;
  std::vector<Bits> live_in_, defined_;
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
  if (v.block == kNone || v.instruction != kNone) return nullptr;
  const auto& phis = blocks[v.block].phis;
  const auto found =
      std::find_if(phis.begin(), phis.end(), [&](const Phi& phi) { return phi.result == value; });
  return found == phis.end() ? nullptr : &*found;
}

Graph Kernel::graph() const {
  Graph graph(blocks.size());
  for (BlockId b = 0; b < blocks.size(); ++b) {
    graph.succs[b] = blocks[b].succs;
    graph.preds[b] = blocks[b].preds;
  }
  return graph;
}

RegisterUse registers_of(const ptx::Function& function, const Instruction& instruction) {
  RegisterUse result;
  bool call = instruction.opcode == ptx::Opcode::call;
  bool before_target = call;
  for (unsigned i = 0; i < instruction.operand_count; ++i) {
    const Operand& operand = instruction.operands[i];
    bool is_list = operand.kind == Operand::Kind::list;
    bool written = call ? before_target && is_list : i == 0 && writes_first_operand(instruction);
    collect(function, operand, written, result);
    if (!is_list) before_target = false;
  }
  return result;
}

Result<Kernel> build_kernel(const ptx::Module& module, const ptx::Function& function, bool parted) {
  KM_ASSIGN(auto raw, split_blocks(module, function, parted));
  const Instruction* irreducible = normalise_blocks(raw);
  Kernel kernel = Builder(module, function, raw).run();
  kernel.irreducible = irreducible;
  return kernel;
}

}  // namespace km::simt
