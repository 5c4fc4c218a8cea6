#include "simt/build/basic_blocks.h"

#include <algorithm>
#include <map>

namespace km::simt {

using ptx::Instruction;
using ptx::Opcode;

namespace {

/// A limit beyond any real program: analyses of all nodes of all loops take time proportional to
/// the depth times the kernel's length.
constexpr uint32_t kDeepestLoops = 256;

class BasicBlockBuilder {
 public:
  BasicBlockBuilder(const ptx::Module& module, const ptx::Function& function, BlockEnds ends)
      : module_(module), function_(function), ends_(ends) {}

  Result<std::vector<RawBasicBlock>> run() {
    starts_.assign(function_.code.size() + 1, kNone);
    for (const auto& label : function_.labels) starts_[label.instruction] = 0;
    uint32_t current = open();
    for (uint32_t i = 0; i < function_.code.size(); ++i) {
      if (starts_[i] != kNone) current = begin_at(i, current);
      KM_ASSIGN(current, add(function_.code[i], current));
    }
    if (starts_[function_.code.size()] != kNone) begin_at(function_.code.size(), current);
    for (auto& fix : fixes_) {
      blocks_[fix.block].targets[fix.slot] = starts_[function_.labels[fix.label].instruction];
    }
    return std::move(blocks_);
  }

 private:
  struct Fix {
    uint32_t block, slot;
    ptx::LabelId label;
  };

  uint32_t open() {
    blocks_.emplace_back();
    return static_cast<uint32_t>(blocks_.size() - 1);
  }

  /// Terminates `block` with a jump to a new block.
  uint32_t next(uint32_t block) {
    uint32_t fresh = open();
    blocks_[block].terminator = Terminator::jump;
    blocks_[block].targets = {fresh};
    return fresh;
  }

  uint32_t begin_at(uint32_t index, uint32_t current) {
    const uint32_t fresh = closed_ ? open() : next(current);
    closed_ = false;
    starts_[index] = fresh;
    return fresh;
  }

  /// Turns a guard into a branch; returns the block for the guarded instruction.
  uint32_t guard(const Instruction& instruction, uint32_t current, uint32_t* out_after) {
    uint32_t body = open(), after = open();
    auto& block = blocks_[current];
    block.terminator = Terminator::branch;
    block.targets = {body, after};
    block.condition = instruction.guard;
    block.condition_negated = instruction.guard_negated;
    block.terminator_ptx = &instruction;
    *out_after = after;
    return body;
  }

  Result<uint32_t> add(const Instruction& instruction, uint32_t current) {
    if (closed_) {  // unreachable code after an unconditional jump
      closed_ = false;
      current = open();
    }
    switch (instruction.opcode) {
      case Opcode::bra:
        return branch(instruction, current);
      case Opcode::brx:
        return table(instruction, current);
      case Opcode::ret:
      case Opcode::exit:
        return leave(instruction, current);
      default:
        break;
    }
    if (instruction.guard == kNone || !has_effects(instruction)) {
      return append(instruction, current);
    }
    uint32_t after = 0;
    uint32_t body = guard(instruction, current, &after);
    uint32_t last = append(instruction, body);
    blocks_[last].terminator = Terminator::jump;
    blocks_[last].targets = {after};
    return after;
  }

  uint32_t append(const Instruction& instruction, uint32_t current) {
    const bool begins = ends_ == BlockEnds::before_accesses && is_shared_access(instruction);
    if (begins && !blocks_[current].insts.empty()) current = next(current);
    blocks_[current].insts.push_back(&instruction);
    const bool syncs = ends_ != BlockEnds::nowhere && is_warp_sync(instruction);
    if (!is_barrier(instruction) && !syncs) return current;
    uint32_t fresh = next(current);
    blocks_[current].terminator = syncs ? Terminator::warp_sync : Terminator::barrier;
    blocks_[current].terminator_ptx = &instruction;
    return fresh;
  }

  Result<uint32_t> branch(const Instruction& instruction, uint32_t current) {
    ptx::LabelId label = instruction.operands[0].label;
    auto& block = blocks_[current];
    block.terminator_ptx = &instruction;
    if (instruction.guard == kNone) {
      block.terminator = Terminator::jump;
      block.targets = {0};
      fixes_.push_back({current, 0, label});
      closed_ = true;
      return current;
    }
    block.terminator = Terminator::branch;
    block.condition = instruction.guard;
    block.condition_negated = instruction.guard_negated;
    uint32_t fresh = open();
    blocks_[current].targets = {0, fresh};
    fixes_.push_back({current, 0, label});
    return fresh;
  }

  Result<uint32_t> table(const Instruction& instruction, uint32_t current) {
    if (instruction.guard != kNone) {
      uint32_t after = 0;
      uint32_t body = guard(instruction, current, &after);
      KM_TRY(table_end(instruction, body));
      return after;
    }
    KM_TRY(table_end(instruction, current));
    closed_ = true;
    return current;
  }

  Status table_end(const Instruction& instruction, uint32_t current) {
    const auto& name = instruction.operands[1];
    auto& block = blocks_[current];
    block.terminator = Terminator::table;
    block.terminator_ptx = &instruction;
    block.condition = instruction.operands[0].reg;
    const bool is_list = name.kind == ptx::Operand::Kind::target_list;
    const ptx::TargetList* list = is_list ? &function_.target_lists[name.label] : nullptr;
    if (list == nullptr || block.condition == kNone) {
      return make_error(KM_ERROR_UNSUPPORTED_PTX, "%s: needs a register and a .branchtargets list",
                        describe(module_, instruction).c_str());
    }
    block.targets.assign(list->labels.size(), 0);
    for (uint32_t i = 0; i < list->labels.size(); ++i) {
      fixes_.push_back({current, i, list->labels[i]});
    }
    return {};
  }

  Result<uint32_t> leave(const Instruction& instruction, uint32_t current) {
    if (instruction.guard != kNone) {
      uint32_t after = 0;
      uint32_t body = guard(instruction, current, &after);
      blocks_[body].terminator_ptx = &instruction;
      return after;
    }
    blocks_[current].terminator = Terminator::exit;
    blocks_[current].terminator_ptx = &instruction;
    closed_ = true;
    return current;
  }

  const ptx::Module& module_;
  const ptx::Function& function_;
  const BlockEnds ends_;
  std::vector<RawBasicBlock> blocks_;
  std::vector<uint32_t> starts_;  // by instruction with a label: the block that begins there
  std::vector<Fix> fixes_;
  bool closed_ = false;  // the current block is terminated, so only a label opens the next
};

Graph graph_of(const std::vector<RawBasicBlock>& blocks) {
  Graph graph(blocks.size());
  for (uint32_t b = 0; b < blocks.size(); ++b) {
    for (uint32_t target : blocks[b].targets) graph.add_edge(b, target);
  }
  return graph;
}

bool is_plain_exit(const RawBasicBlock& block) {
  return block.terminator == Terminator::exit && block.insts.empty();
}

void make_exits_private(std::vector<RawBasicBlock>& blocks) {
  const size_t count = blocks.size();
  for (size_t b = 0; b < count; ++b) {
    if (blocks[b].terminator == Terminator::jump && is_plain_exit(blocks[blocks[b].targets[0]])) {
      blocks[b].terminator_ptx = blocks[blocks[b].targets[0]].terminator_ptx;
      blocks[b].terminator = Terminator::exit;
      blocks[b].targets.clear();
      continue;
    }
    for (size_t slot = 0; slot < blocks[b].targets.size(); ++slot) {
      if (!is_plain_exit(blocks[blocks[b].targets[slot]])) continue;
      RawBasicBlock copy = blocks[blocks[b].targets[slot]];
      blocks[b].targets[slot] = static_cast<uint32_t>(blocks.size());
      blocks.push_back(std::move(copy));
    }
  }
}

/// Removes unreachable blocks and numbers the others in reverse postorder.
void renumber(std::vector<RawBasicBlock>& blocks) {
  auto order = reverse_postorder(graph_of(blocks));
  std::vector<uint32_t> number(blocks.size(), kNone);
  for (uint32_t i = 0; i < order.size(); ++i) number[order[i]] = i;
  std::vector<RawBasicBlock> result(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) {
    result[i] = std::move(blocks[order[i]]);
    for (auto& target : result[i].targets) target = number[target];
  }
  blocks = std::move(result);
}

void redirect(RawBasicBlock& block, uint32_t from, uint32_t to) {
  for (auto& target : block.targets) {
    if (target == from) target = to;
  }
}

void merge_latches(std::vector<RawBasicBlock>& blocks) {
  Graph graph = graph_of(blocks);
  LoopForest forest = find_loops(graph, DominatorTree(graph, 0));
  for (uint32_t l = 0; l < forest.loops.size(); ++l) {
    const auto& loop = forest.loops[l];
    bool single = loop.latches.size() == 1 && forest.innermost[loop.latches[0]] == l &&
                  std::count(blocks[loop.latches[0]].targets.begin(),
                             blocks[loop.latches[0]].targets.end(), loop.header) == 1 &&
                  blocks[loop.latches[0]].terminator != Terminator::barrier &&
                  blocks[loop.latches[0]].terminator != Terminator::warp_sync;
    if (single) continue;
    RawBasicBlock latch;
    latch.terminator = Terminator::jump;
    latch.targets = {loop.header};
    const auto number = static_cast<uint32_t>(blocks.size());
    for (NodeId source : loop.latches) redirect(blocks[source], loop.header, number);
    blocks.push_back(std::move(latch));
  }
}

/// The first instruction from a block on, for messages: a block without instructions only jumps.
const Instruction* instruction_from(const std::vector<RawBasicBlock>& blocks, uint32_t block) {
  for (uint32_t b = block; b < blocks.size(); ++b) {
    if (!blocks[b].insts.empty()) return blocks[b].insts[0];
    if (blocks[b].terminator_ptx != nullptr) return blocks[b].terminator_ptx;
  }
  return blocks[0].terminator_ptx;
}

}  // namespace

Result<std::vector<RawBasicBlock>> build_basic_blocks(const ptx::Module& module,
                                                      const ptx::Function& function,
                                                      BlockEnds ends) {
  return BasicBlockBuilder(module, function, ends).run();
}

Result<const Instruction*> normalise_basic_blocks(const ptx::Module& module,
                                                  std::vector<RawBasicBlock>& blocks) {
  for (auto& block : blocks) {
    if (block.terminator == Terminator::branch && block.targets[0] == block.targets[1]) {
      block.terminator = Terminator::jump;
      block.targets.pop_back();
      block.condition = kNone;
    }
  }
  RawBasicBlock entry;
  entry.terminator = Terminator::jump;
  entry.targets = {1};
  for (auto& block : blocks) {
    for (auto& target : block.targets) ++target;
  }
  blocks.insert(blocks.begin(), std::move(entry));
  make_exits_private(blocks);
  renumber(blocks);
  merge_latches(blocks);
  renumber(blocks);
  const Graph graph = graph_of(blocks);
  const LoopForest forest = find_loops(graph, DominatorTree(graph, 0));
  for (const Loop& loop : forest.loops) {
    if (loop.depth <= kDeepestLoops) continue;
    return make_error(KM_ERROR_UNSUPPORTED_PTX, "%s: loops are nested more than %u deep",
                      describe(module, *instruction_from(blocks, loop.header)).c_str(),
                      kDeepestLoops);
  }
  return forest.irreducible == kNoNode ? nullptr : instruction_from(blocks, forest.irreducible);
}

}  // namespace km::simt
