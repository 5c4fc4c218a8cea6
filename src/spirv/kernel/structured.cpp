#include "spirv/kernel/structured.h"

#include <algorithm>

namespace km::spirv {

using ptx::Modifier;
using ptx::Type;
using simt::BlockId;
using simt::Terminator;

Structured::Structured(Shader& shader)
    : s(shader),
      b(shader.b),
      warp_(shader),
      lowering_(shader, warp_),
      graph_(shader.kernel.graph()),
      dominators_(graph_, 0),
      loops_(simt::find_loops(graph_, dominators_)),
      slots_(shader.kernel.edge_slots()),
      order_(graph_.size()),
      is_header_(graph_.size()),
      has_label_(graph_.size()),
      inside_(graph_.size()),
      after_(graph_.size()),
      target_(shader.new_variable(shader.b.getInt32Ty())),
      exit_(static_cast<BlockId>(graph_.size())) {
  const auto order = simt::reverse_postorder(graph_);
  for (uint32_t i = 0; i < order.size(); ++i) order_[order[i]] = i;
  for (const simt::Loop& loop : loops_.loops) is_header_[loop.header] = 1;
  find_tree();
  find_far_values();
}

/// True if an edge or a dominator leads out of a loop; `out_loop` is the outermost one left.
bool Structured::is_after_loop(BlockId from, BlockId to, uint32_t* out_loop) const {
  bool leaves = false;
  for (uint32_t loop = loops_.innermost[from]; loop != UINT32_MAX;
       loop = loops_.loops[loop].parent) {
    if (loops_.contains(loop, to)) break;
    *out_loop = loop;
    leaves = true;
  }
  return leaves;
}

void Structured::find_tree() {
  for (BlockId block = 1; block < graph_.size(); ++block) {
    if (!dominators_.reachable(block)) continue;
    const BlockId parent = dominators_.parent(block);
    uint32_t loop = UINT32_MAX;
    if (is_after_loop(parent, block, &loop)) {
      has_label_[block] = 1;
      after_[loops_.loops[loop].header].push_back(block);
      continue;
    }
    const auto forward = std::count_if(graph_.preds[block].begin(), graph_.preds[block].end(),
                                       [&](BlockId pred) { return order_[pred] < order_[block]; });
    if (forward == 1) continue;
    has_label_[block] = 1;
    inside_[parent].push_back(block);
  }
  const auto sort = [&](std::vector<BlockId>& list) {
    std::sort(list.begin(), list.end(),
              [&](BlockId x, BlockId y) { return order_[x] < order_[y]; });
  };
  for (auto& list : inside_) sort(list);
  for (auto& list : after_) sort(list);
}

/// Values that are used outside of a loop that defines them live in variables: in SPIR-V their
/// definition need not dominate the code after the loop.
void Structured::find_far_values() {
  const auto use = [&](BlockId block, simt::ValueId value) {
    if (value == simt::kNone) return;
    const BlockId home = s.kernel.values[value].block;
    uint32_t loop = UINT32_MAX;
    if (home != simt::kNone && is_after_loop(home, block, &loop)) s.keep_in_variable(value);
  };
  for (BlockId block = 0; block < graph_.size(); ++block) {
    const simt::BasicBlock& one = s.kernel.blocks[block];
    for (const simt::Phi& phi : one.phis) {
      for (size_t i = 0; i < phi.inputs.size(); ++i) use(one.preds[i], phi.inputs[i]);
    }
    for (const simt::Inst& inst : one.insts) {
      for (const auto& read : inst.reads) use(block, read.second);
      for (const simt::ValueId value : inst.old_values) use(block, value);
      use(block, inst.guard);
    }
    use(block, one.condition);
  }
}

void Structured::emit() { emit_tree(0); }

void Structured::set_target(BlockId target) {
  s.store(target_, s.u32(target));
  pending_.insert(target);
}

void Structured::emit_tree(BlockId block) {
  if (!is_header_[block]) return emit_block(block);
  V early = s.loop([&] {
    emit_block(block);
    pending_.erase(block);
    return b.CreateICmpEQ(s.load(target_), s.u32(block));
  });
  s.if_then(early, [&] { set_target(exit_); });
  for (const BlockId next : after_[block]) emit_at_target(next);
}

void Structured::emit_block(BlockId block) {
  pending_.clear();
  if (lowering_.lower_block(block)) {
    emit_end(block);
  } else {
    set_target(exit_);
  }
  for (const BlockId next : inside_[block]) emit_at_target(next);
}

void Structured::emit_at_target(BlockId block) {
  if (pending_.erase(block) == 0) return;  // nothing leads there
  if (pending_.empty()) return emit_tree(block);
  const std::set<BlockId> others = pending_;
  s.if_then(b.CreateICmpEQ(s.load(target_), s.u32(block)), [&] { emit_tree(block); });
  pending_.insert(others.begin(), others.end());
}

void Structured::emit_end(BlockId block) {
  const simt::BasicBlock& one = s.kernel.blocks[block];
  switch (one.terminator) {
    case Terminator::barrier:
      emit_barrier(one);
      return go(block, 0);
    case Terminator::jump:
    case Terminator::warp_sync:
      return go(block, 0);
    case Terminator::exit:
      return set_target(exit_);
    case Terminator::branch: {
      std::set<BlockId> first;
      s.if_else(
          s.condition(one),
          [&] {
            go(block, 0);
            first.swap(pending_);
          },
          [&] { go(block, 1); });
      pending_.insert(first.begin(), first.end());
      return;
    }
    case Terminator::table: {
      std::set<BlockId> all;
      std::vector<std::pair<uint32_t, Shader::Body>> cases;
      for (uint32_t i = 0; i < one.succs.size(); ++i) {
        cases.emplace_back(i, [&, i] {
          pending_.clear();
          go(block, i);
          all.insert(pending_.begin(), pending_.end());
        });
      }
      set_target(exit_);  // an index beyond the table
      all.insert(exit_);
      s.choose(b.CreateZExtOrTrunc(s.read(one.condition), b.getInt32Ty()), cases);
      pending_ = all;
      return;
    }
  }
}

/// Follows an edge: the child without a label stands in its place.
void Structured::go(BlockId from, size_t edge) {
  const BlockId to = s.kernel.blocks[from].succs[edge];
  s.begin_block(from);
  s.store_phis(from, to, slots_[from][edge]);
  const bool is_back = order_[to] <= order_[from];
  if (is_back || has_label_[to]) return set_target(to);
  emit_tree(to);
}

void Structured::emit_barrier(const simt::BasicBlock& block) {
  if (!lowering_.takes_barrier(block)) return;
  if (!block.terminator_ptx->has(Modifier::red)) return s.barrier();
  lowering_.define_reduction(block, s.count_in_block(lowering_.counted_at(block)));
}

}  // namespace km::spirv
