#include "simt/analysis/control/convergence.h"

#include <algorithm>
#include <array>
#include <utility>

#include "simt/analysis/memory/polls.h"
#include "simt/analysis/reach.h"
#include "simt/analysis/thread_index_evaluator.h"

namespace km::simt {

namespace {

using ptx::Instruction;
using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;

/// The nodes that a search has visited. A new search starts in constant time, without a pass over
/// all nodes.
class Seen {
 public:
  explicit Seen(size_t size) : search_(size) {}

  void begin() { ++current_; }
  /// Returns false if this search has visited the node before.
  bool add(NodeId node) { return std::exchange(search_[node], current_) != current_; }

 private:
  std::vector<uint32_t> search_;  // by node: number of the last search that visited it
  uint32_t current_ = 0;
};

/// Marks the blocks between a branch and its reconvergence point; `block_of` maps the graph's nodes
/// to blocks, and nodes beyond its end are not blocks.
void mark_diverged(const Graph& graph, const DominatorTree& post, NodeId branch,
                   const std::vector<BlockId>& block_of, Seen& seen, BlockSet& result) {
  const NodeId meet = post.parent(branch);
  seen.begin();
  std::vector<NodeId> stack = graph.succs[branch];
  while (!stack.empty()) {
    const NodeId node = stack.back();
    stack.pop_back();
    if (node == meet || node >= block_of.size() || !seen.add(node)) continue;
    result[block_of[node]] = 1;
    stack.insert(stack.end(), graph.succs[node].begin(), graph.succs[node].end());
  }
}

/// The blocks strictly between a divergent branch and its reconvergence point. Only blocks of
/// `within` count, because lanes that have left those never return to a target. Sides that meet
/// only in a later iteration of a loop have not reconverged in this one.
BlockSet diverged_blocks(const Kernel& kernel, const LoopForest& loops, const BlockSet& branches,
                         const BlockSet& within) {
  Graph graph(kernel.blocks.size());
  std::vector<BlockId> blocks;
  for (BlockId b = 0; b < graph.size(); ++b) {
    blocks.push_back(b);
    if (!within[b]) continue;
    for (BlockId succ : kernel.blocks[b].succs) {
      if (within[succ]) graph.add_edge(b, succ);
    }
  }
  BlockSet result(kernel.blocks.size());
  auto diverges = [&](BlockId block) { return branches[block] && graph.succs[block].size() > 1; };
  const DominatorTree post = post_dominators(graph);
  Seen seen(graph.size());
  for (BlockId b = 0; b < graph.size(); ++b) {
    if (diverges(b)) mark_diverged(graph, post, b, blocks, seen, result);
  }
  for (uint32_t l = 0; l < loops.loops.size(); ++l) {
    const auto& nodes = loops.loops[l].nodes;
    if (std::none_of(nodes.begin(), nodes.end(), diverges)) continue;
    const Graph iteration = iteration_graph(graph, loops, l);
    const DominatorTree meets = post_dominators(iteration);
    for (NodeId n = 0; n < nodes.size(); ++n) {
      if (diverges(nodes[n])) mark_diverged(iteration, meets, n, nodes, seen, result);
    }
  }
  return result;
}

class Classifier {
 public:
  Classifier(const Kernel& kernel, const Shapes& shapes)
      : kernel_(kernel), shapes_(shapes), seen_(kernel.blocks.size()) {}

  Classification run() {
    result_.spin_loop.assign(shapes_.loops.loops.size(), 0);
    if (kernel_.irreducible != nullptr) {
      require(Mode::independent_threads, kernel_.irreducible,
              "is near a loop that is entered at more than one place");
    }
    check_barriers();
    check_warp_operations();
    check_allocations();
    check_loops();
    return std::move(result_);
  }

 private:
  /// True if no further cause can change the mode or its reason.
  bool is_decided() const { return result_.mode == Mode::independent_threads; }

  void require(Mode mode, const Instruction* cause, const char* reason) {
    if (static_cast<int>(mode) <= static_cast<int>(result_.mode)) return;
    result_.mode = mode;
    result_.reason = describe(*kernel_.module, *cause) + " " + reason;
    result_.cause = cause;
  }

  void check_barriers() {
    BlockSet barriers(kernel_.blocks.size());
    for (BlockId b = 0; b < barriers.size(); ++b) {
      const BasicBlock& block = kernel_.blocks[b];
      barriers[b] = block.terminator == Terminator::barrier;
      if (barriers[b] && !is_block_barrier(*block.terminator_ptx)) {
        require(Mode::fibers, block.terminator_ptx, "has a barrier number or thread count");
      }
    }
    const BlockSet within = reaching(kernel_, barriers);
    const BlockSet warps = diverged_blocks(kernel_, shapes_.loops, shapes_.warp_branch, within);
    const BlockSet lanes =
        diverged_blocks(kernel_, shapes_.loops, shapes_.divergent_branch, within);
    for (BlockId b = 0; b < barriers.size(); ++b) {
      if (!barriers[b]) continue;
      const Instruction* at = kernel_.blocks[b].terminator_ptx;
      if (warps[b]) require(Mode::fibers, at, "is not reached by all warps alike");
      if (lanes[b])
        require(Mode::independent_threads, at, "is not reached by all lanes of a warp alike");
    }
  }

  static bool allocates_tensors(const Instruction& instruction) {
    return instruction.opcode == Opcode::tcgen05 && instruction.has(Modifier::alloc);
  }

  /// Several allocations of tensor memory may be more than there is, so that one of them waits.
  void check_allocations() {
    unsigned count = 0;
    for (const BasicBlock& block : kernel_.blocks) {
      for (const Inst& inst : block.insts) {
        if (!allocates_tensors(*inst.ptx) || ++count < 2) continue;
        return require(Mode::fibers, inst.ptx, "may wait until another warp releases columns");
      }
    }
  }

  void check_warp_operations() {
    for (BlockId b = 0; b < kernel_.blocks.size() && !is_decided(); ++b) {
      for (const Inst& inst : kernel_.blocks[b].insts) {
        if (!is_warp_operation(*inst.ptx) || inst.ptx->opcode == Opcode::activemask) continue;
        if (!converged(b, inst)) {
          require(Mode::independent_threads, inst.ptx,
                  "is executed where lanes of its member mask may be elsewhere");
        }
      }
    }
  }

  const BlockSet& lanes_diverged_before(BlockId block) {
    auto& entry = diverged_before_[block];
    if (entry.empty()) {
      BlockSet target(kernel_.blocks.size());
      target[block] = 1;
      const BlockSet within = reaching(kernel_, target);
      entry = diverged_blocks(kernel_, shapes_.loops, shapes_.divergent_branch, within);
      // If a side of the branch never reaches this point, its lanes must be exiting, not waiting.
      for (BlockId b = 0; b < kernel_.blocks.size(); ++b) {
        if (!shapes_.divergent_branch[b]) continue;
        const auto& succs = kernel_.blocks[b].succs;
        if (std::none_of(succs.begin(), succs.end(), [&](BlockId s) { return within[s]; }))
          continue;
        for (BlockId succ : succs) {
          if (!within[succ] && !is_exit(succ)) entry[block] = 1;
        }
      }
    }
    return entry;
  }

  bool is_exit(BlockId block) const {
    return kernel_.blocks[block].terminator == Terminator::exit &&
           kernel_.blocks[block].insts.empty();
  }

  bool converged(BlockId block, const Inst& inst) {
    const Operand& mask = inst.ptx->operands[inst.ptx->operand_count - 1];
    if (mask.kind == Operand::Kind::reg && has_member_mask(*inst.ptx) &&
        names_active_lanes(inst.read(mask.reg), 0)) {
      return true;
    }
    return !lanes_diverged_before(block)[block];
  }

  /// True if the mask is the result of activemask, a ballot or a match, which consists of active
  /// lanes by construction.
  bool names_active_lanes(ValueId value, unsigned depth) const {
    const Value& v = kernel_.values[value];
    if (v.block == kNone || v.instruction == kNone || depth > 4) return false;
    const Inst& inst = kernel_.blocks[v.block].insts[v.instruction];
    switch (inst.ptx->opcode) {
      case Opcode::activemask:
      case Opcode::match:
        return true;
      case Opcode::vote:
        return inst.ptx->has(Modifier::ballot);
      case Opcode::mov:
        return inst.reads.size() == 1 && names_active_lanes(inst.reads[0].second, depth + 1);
      default:
        return false;
    }
  }

  /// A loop may wait for another lane, warp or block if its exit depends on a poll. Compilers may
  /// also fold a spin loop into the enclosing one: then some path around the loop passes no exit
  /// that is independent of polls.
  void check_loops() {
    if (shapes_.loops.loops.empty()) return;
    const ValueUses uses(kernel_);
    const Graph graph = kernel_.graph();
    for (uint32_t l = 0; l < shapes_.loops.loops.size(); ++l) {
      const LoopPolls polls(kernel_, graph, shapes_, uses, l);
      std::map<BlockId, const Inst*> waits;     // branches, and the polls that they wait for
      BlockSet bounded(kernel_.blocks.size());  // exits that do not depend on polls
      for (BlockId b : shapes_.loops.loops[l].nodes) {
        const BasicBlock& block = kernel_.blocks[b];
        if (block.condition == kNone) continue;
        const bool exits = std::any_of(block.succs.begin(), block.succs.end(), [&](BlockId succ) {
          return !shapes_.loops.contains(l, succ);
        });
        const Inst* awaited = polls.at(b);
        if (awaited != nullptr) waits[b] = awaited;
        if (awaited != nullptr && exits) note_wait(l, *awaited);
        bounded[b] = exits && awaited == nullptr && shapes_.loops.innermost[b] == l;
      }
      for (const auto& [branch, awaited] : waits) {
        if (goes_round(l, branch, bounded)) note_wait(l, *awaited);
      }
    }
  }

  void note_wait(uint32_t loop, const Inst& awaited) {
    result_.spin_loop[loop] = 1;
    if (is_decided() || meets_each_round(loop)) return;
    if (!waits_together(loop)) {
      require(Mode::independent_threads, awaited.ptx,
              "decides when a loop ends, which may wait for lanes of the same warp");
    } else if (!waits_for_other_blocks(loop, awaited)) {
      require(Mode::fibers, awaited.ptx,
              "decides when a loop ends, which may wait for warps of the same block");
    }
  }

  /// True if every path around the loop passes a barrier of the block, at which other warps and
  /// lanes make progress.
  bool meets_each_round(uint32_t loop) const {
    const Loop& l = shapes_.loops.loops[loop];
    const auto passes = [&](BlockId b) {
      const BasicBlock& block = kernel_.blocks[b];
      return block.terminator != Terminator::barrier || !is_block_barrier(*block.terminator_ptx);
    };
    const BlockSet round = reached(only(l.header), succs_in(kernel_), [&](BlockId b, BlockId succ) {
      return passes(b) && shapes_.loops.contains(loop, succ);
    });
    return std::none_of(l.latches.begin(), l.latches.end(),
                        [&](BlockId latch) { return round[latch] && passes(latch); });
  }

  /// True if the loop waits only for other warps: lanes of its own warp that are outside have
  /// nothing to do before the lanes inside leave.
  bool waits_together(uint32_t loop) {
    const BlockId header = shapes_.loops.loops[loop].header;
    const BlockSet within = reaching(kernel_, only(header));
    const BlockSet before = reaching_forward(header);
    // Blocks that change memory, by whether the branch is in the loop.
    std::array<BlockSet, 2> changing;
    BlockSet suspects(kernel_.blocks.size());  // branches whose sides both reach the loop
    bool is_suspect = false;
    for (BlockId b = 0; b < kernel_.blocks.size(); ++b) {
      if (!shapes_.divergent_branch[b]) continue;
      const auto& succs = kernel_.blocks[b].succs;
      if (!is_any(succs, within)) continue;
      const bool inside = shapes_.loops.contains(loop, b);
      BlockSet& beside = changing[inside ? 1 : 0];
      if (beside.empty()) beside = changing_beside(loop, inside, before);
      if (!is_any(succs, beside)) continue;
      if (!is_all(succs, within)) return false;
      suspects[b] = is_suspect = true;
    }
    return !is_suspect || diverged_blocks(kernel_, shapes_.loops, suspects, within)[header] == 0;
  }

  /// True if the loop waits for other blocks only: no other packet of this block changes memory
  /// between the barrier before the loop and the barrier after it.
  bool waits_for_other_blocks(uint32_t loop, const Inst& awaited) const {
    const auto& block = shapes_.options.block;
    if (block[0] == 0) return false;
    if (uint64_t{block[0]} * block[1] * block[2] <= shapes_.options.lanes) return true;
    const BlockId header = shapes_.loops.loops[loop].header;
    const BlockId alone = one_packet_part(header);
    const bool awaits_global = awaited.ptx->has(Modifier::global) && awaits_global_memory(loop);
    const BlockSet around = between_barriers(header);
    for (BlockId b = 0; b < kernel_.blocks.size(); ++b) {
      if (!around[b] || (alone != kNone && shapes_.dominators.dominates(alone, b))) continue;
      for (const Inst& inst : kernel_.blocks[b].insts) {
        const bool elsewhere =
            awaits_global && (inst.ptx->has(Modifier::shared) || inst.ptx->has(Modifier::local));
        if (!is_barrier(*inst.ptx) && !elsewhere && changes_memory(*inst.ptx)) return false;
      }
    }
    return true;
  }

  static bool is_any(const std::vector<BlockId>& blocks, const BlockSet& set) {
    return std::any_of(blocks.begin(), blocks.end(), [&](BlockId b) { return set[b] != 0; });
  }

  static bool is_all(const std::vector<BlockId>& blocks, const BlockSet& set) {
    return std::all_of(blocks.begin(), blocks.end(), [&](BlockId b) { return set[b] != 0; });
  }

  BlockSet only(BlockId block) const {
    BlockSet result(kernel_.blocks.size());
    result[block] = 1;
    return result;
  }

  bool awaits_global_memory(uint32_t loop) const {
    for (BlockId b : shapes_.loops.loops[loop].nodes) {
      for (const Inst& inst : kernel_.blocks[b].insts) {
        if (is_strong_load(*inst.ptx) && !inst.ptx->has(Modifier::global)) return false;
      }
    }
    return true;
  }

  /// The outermost block around `target` that only the threads of one packet reach; kNone: none.
  BlockId one_packet_part(BlockId target) const {
    const ThreadIndexEvaluator values(kernel_, shapes_.options.block);
    BlockId result = kNone;
    for (BlockId b = target; b != kNone; b = shapes_.dominators.parent(b)) {
      const auto& preds = kernel_.blocks[b].preds;
      if (preds.size() == 1 && taken_by_one_packet(values, preds[0], b)) result = b;
    }
    return result;
  }

  bool taken_by_one_packet(const ThreadIndexEvaluator& values, BlockId from, BlockId to) const {
    const BasicBlock& block = kernel_.blocks[from];
    if (block.terminator != Terminator::branch || block.succs[0] == block.succs[1]) return false;
    const bool when = (block.succs[0] == to) != block.condition_negated;
    uint32_t taken = kNone;  // number of the packet
    for (uint32_t thread = 0; thread < values.thread_count(); ++thread) {
      const auto condition = values.of(block.condition, thread);
      if (!condition) return false;
      if ((*condition != 0) != when) continue;
      const uint32_t packet = thread / shapes_.options.lanes;
      if (taken != kNone && taken != packet) return false;
      taken = packet;
    }
    return true;
  }

  /// The basic blocks that warps may execute between the same two barriers as `target`.
  BlockSet between_barriers(BlockId target) const {
    auto passes = [&](BlockId block) {
      return kernel_.blocks[block].terminator != Terminator::barrier;
    };
    BlockSet starts = reached(only(target), preds_in(kernel_),
                              [&](BlockId, BlockId pred) { return passes(pred); });
    for (BlockId b = 0; b < starts.size(); ++b) {
      const auto& preds = kernel_.blocks[b].preds;
      if (!preds.empty() && std::all_of(preds.begin(), preds.end(), passes)) starts[b] = 0;
    }
    return reached(starts, succs_in(kernel_),
                   [&](BlockId block, BlockId) { return passes(block); });
  }

  /// The blocks from which `target` is reached without another iteration of any loop.
  BlockSet reaching_forward(BlockId target) const {
    return reached(only(target), preds_in(kernel_), [&](BlockId block, BlockId pred) {
      return !shapes_.dominators.dominates(block, pred);
    });
  }

  /// The blocks from which lanes that do not enter the loop (with `inside`: that leave it before
  /// others) reach a change of memory before they wait for the other lanes. Blocks in `before` are
  /// complete before the loop begins.
  BlockSet changing_beside(uint32_t loop, bool inside, const BlockSet& before) {
    if (memory_effects_.empty()) find_memory_effects();
    const BlockId header = shapes_.loops.loops[loop].header;
    BlockSet changing(kernel_.blocks.size());
    for (BlockId b = 0; b < changing.size(); ++b) {
      changing[b] = memory_effects_[b].changes && !before[b] && !shapes_.loops.contains(loop, b);
    }
    return reached(changing, preds_in(kernel_), [&](BlockId, BlockId pred) {
      return !memory_effects_[pred].holds && (inside || pred != header);
    });
  }

  /// The effect of a block on the lanes that enter it, up to an instruction that waits for the
  /// whole warp.
  struct MemoryEffect {
    bool changes = false;  // changes memory
    bool holds = false;    // waits for the whole warp
  };

  void find_memory_effects() {
    memory_effects_.resize(kernel_.blocks.size());
    for (BlockId b = 0; b < memory_effects_.size(); ++b) {
      MemoryEffect& effect = memory_effects_[b];
      for (const Inst& inst : kernel_.blocks[b].insts) {
        effect.holds = holds_whole_warp(*inst.ptx);
        if (effect.holds) break;
        if (changes_memory(*inst.ptx)) effect.changes = true;
      }
    }
  }

  /// True if no lane passes the instruction before all lanes of the warp have reached it.
  static bool holds_whole_warp(const Instruction& instruction) {
    if (is_barrier(instruction)) return !instruction.has(Modifier::arrive);
    if (!has_member_mask(instruction)) return false;
    const Operand& mask = instruction.operands[instruction.operand_count - 1];
    return mask.kind == Operand::Kind::immediate && static_cast<uint32_t>(mask.bits) == UINT32_MAX;
  }

  /// True if a path leads from the branch around the loop back to it without a block of `avoided`.
  bool goes_round(uint32_t loop, BlockId branch, const BlockSet& avoided) {
    seen_.begin();
    std::vector<BlockId> stack{branch};
    while (!stack.empty()) {
      const BlockId block = stack.back();
      stack.pop_back();
      for (BlockId succ : kernel_.blocks[block].succs) {
        if (succ == branch) return true;
        if (avoided[succ] || !shapes_.loops.contains(loop, succ) || !seen_.add(succ)) continue;
        stack.push_back(succ);
      }
    }
    return false;
  }

  const Kernel& kernel_;
  const Shapes& shapes_;
  Classification result_;
  std::map<BlockId, BlockSet> diverged_before_;
  Seen seen_;
  std::vector<MemoryEffect> memory_effects_;  // by block, computed on demand
};

}  // namespace

Classification classify(const Kernel& kernel, const Shapes& shapes) {
  return Classifier(kernel, shapes).run();
}

}  // namespace km::simt
