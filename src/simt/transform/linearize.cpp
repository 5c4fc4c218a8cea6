#include "simt/transform/linearize.h"

#include <algorithm>

#include "simt/transform/pending_steps.h"
#include "simt/transform/step_order.h"

namespace km::simt {

namespace {

constexpr unsigned kSpeculationLimit = 8;  // instructions that may run under an empty mask
/// Limits the steps visited in sets of waiting lanes, which takes about a second.
constexpr uint64_t kMostWork = 20'000'000;

class Linearizer {
 public:
  Linearizer(const Kernel& kernel, const Shapes& shapes, const Region& region,
             bool splits_at_barriers)
      : kernel_(kernel),
        shapes_(shapes),
        region_(region),
        splits_at_barriers_(splits_at_barriers) {}

  std::optional<LinearPlan> run() {
    make_steps();
    rebuild_in_order();
    pending_.resize(order_.size());
    loop_exits_.resize(plan_.loops.loops.size());
    for (uint32_t i = 0; i < plan_.steps.size(); ++i) {
      connect(i);
      if (sets_.work() > kMostWork) return std::nullopt;
    }
    for (uint32_t i = 0; i < plan_.steps.size(); ++i) {
      if (block_of(i).terminator == Terminator::barrier && !splits_at_barriers_ &&
          pending_[i] != PendingSteps::kEmpty) {
        plan_.barrier_with_waiting_lanes = plan_.steps[i].block;
      }
    }
    measure_steps();
    assign_masks();
    assign_guards();
    assign_clears();
    return std::move(plan_);
  }

  LinearPlan order() {
    make_steps();
    return std::move(plan_);
  }

 private:
  void make_steps() {
    build_graph();
    order_nodes();
    plan_.steps.resize(order_.size());
    plan_.step_of.assign(kernel_.blocks.size(), kEndOfRegion);
    for (uint32_t i = 0; i < order_.size(); ++i) {
      plan_.steps[i].block = blocks_[order_[i]];
      plan_.step_of[plan_.steps[i].block] = i;
    }
  }

  Graph subgraph(const std::vector<BlockId>& nodes) const {
    std::vector<uint32_t> index(kernel_.blocks.size(), kNone);
    for (uint32_t i = 0; i < nodes.size(); ++i) index[nodes[i]] = i;
    Graph graph(nodes.size());
    for (uint32_t i = 0; i < nodes.size(); ++i) {
      if (splits_at_barriers_ && kernel_.blocks[nodes[i]].terminator == Terminator::barrier)
        continue;
      for (BlockId succ : kernel_.blocks[nodes[i]].succs) graph.add_edge(i, index[succ]);
    }
    return graph;
  }

  void build_graph() {
    blocks_ = region_.blocks;
    auto entry = std::find(blocks_.begin(), blocks_.end(), region_.entry);
    std::rotate(blocks_.begin(), entry, entry + 1);
    graph_ = subgraph(blocks_);
    dominators_ = DominatorTree(graph_, 0);
    loops_ = find_loops(graph_, dominators_);
  }

  /// Sorts nodes topologically, such that the nodes that a node immediately dominates follow it,
  /// and the nodes of a loop are contiguous.
  void order_nodes() {
    auto rpo = reverse_postorder(graph_);
    rpo_position_.assign(graph_.size(), 0);
    for (uint32_t i = 0; i < rpo.size(); ++i) rpo_position_[rpo[i]] = i;
    visit(0);
    place_.assign(graph_.size(), 0);
    for (uint32_t i = 0; i < order_.size(); ++i) place_[order_[i]] = i;
    for (uint32_t l = loops_.loops.size(); l-- > 0;) gather(l);
  }

  void visit(NodeId root) {
    struct Frame {
      NodeId node;
      std::vector<NodeId> children;
      size_t next;
    };
    std::vector<Frame> stack;
    auto open = [&](NodeId node) {
      order_.push_back(node);
      stack.push_back({node, sorted_children(node), 0});
    };
    open(root);
    while (!stack.empty()) {
      Frame& frame = stack.back();
      if (frame.next == frame.children.size()) {
        stack.pop_back();
        continue;
      }
      open(frame.children[frame.next++]);
    }
  }

  /// Children in the dominator tree, each before the ones that its subtree leads to. Reverse
  /// postorder already has that property for the children.
  std::vector<NodeId> sorted_children(NodeId node) const {
    std::vector<NodeId> children = dominators_.children(node);
    std::sort(children.begin(), children.end(),
              [&](NodeId a, NodeId b) { return rpo_position_[a] < rpo_position_[b]; });
    return children;
  }

  /// Moves nodes that are dominated by the loop but are outside of it to the end of the loop.
  void gather(uint32_t loop) {
    uint32_t first = UINT32_MAX, last = 0;
    for (NodeId node : loops_.loops[loop].nodes) {
      first = std::min(first, place_[node]);
      last = std::max(last, place_[node]);
    }
    if (last - first + 1 == loops_.loops[loop].nodes.size()) return;
    std::stable_partition(order_.begin() + first, order_.begin() + last + 1,
                          [&](NodeId n) { return loops_.contains(loop, n); });
    for (uint32_t i = first; i <= last; ++i) place_[order_[i]] = i;
  }

  /// Renumbers nodes in the new order; from here on they are steps.
  void rebuild_in_order() {
    std::vector<BlockId> nodes;
    for (const Step& step : plan_.steps) nodes.push_back(step.block);
    graph_ = subgraph(nodes);
    dominators_ = DominatorTree(graph_, 0);
    loops_ = find_loops(graph_, dominators_);
    plan_.loops = loops_;
    for (const Loop& loop : loops_.loops) {
      plan_.divergent_loop.push_back(is_divergent(plan_.steps[loop.header].block));
    }
  }

  bool is_divergent(BlockId header) const {
    const uint32_t l = shapes_.loops.innermost[header];
    return l != UINT32_MAX && shapes_.loops.loops[l].header == header &&
           shapes_.divergent_loop[l] != 0;
  }

  const BasicBlock& block_of(uint32_t step) const {
    return kernel_.blocks[plan_.steps[step].block];
  }

  bool is_kill(uint32_t step) const {
    const BasicBlock& block = block_of(step);
    return block.terminator == Terminator::exit && block.insts.empty();
  }

  using Pending = PendingSteps::Set;

  bool is_pending(uint32_t step) const { return pending_[step] != PendingSteps::kEmpty; }
  /// The step (or the end of the region) with waiting lanes that runs next after a step.
  uint32_t next_pending(uint32_t step) const {
    return is_pending(step) ? sets_.first(pending_[step]) : kEndOfRegion;
  }
  void add(Pending& set, uint32_t step) { set = sets_.with(set, step); }

  uint32_t follow(Pending waiting) {
    if (waiting == PendingSteps::kEmpty) return kEndOfRegion;
    const uint32_t next = sets_.first(waiting);
    pending_[next] = sets_.merged(pending_[next], sets_.without_first(waiting));
    return next;
  }

  uint32_t latch_of(uint32_t loop) const { return loops_.loops[loop].latches[0]; }

  /// Records that lanes leave every divergent loop between `from` and `to`; returns whether there
  /// is one.
  bool leave_loops(uint32_t from, uint32_t to) {
    bool left = false;
    uint32_t target = to;
    std::vector<uint32_t> chain;
    for (uint32_t l = loops_.innermost[from]; l != UINT32_MAX && !loops_.contains(l, to);
         l = loops_.loops[l].parent) {
      if (plan_.divergent_loop[l]) chain.push_back(l);
    }
    for (auto l = chain.rbegin(); l != chain.rend(); ++l) {  // outermost first
      if (target != kEndOfRegion) add(loop_exits_[*l], target);
      target = latch_of(*l);
      left = true;
    }
    return left;
  }

  uint32_t divergent_loop_around(uint32_t step) const {
    for (uint32_t l = loops_.innermost[step]; l != UINT32_MAX; l = loops_.loops[l].parent) {
      if (plan_.divergent_loop[l]) return l;
    }
    return UINT32_MAX;
  }

  void connect(uint32_t i) {
    Step& step = plan_.steps[i];
    const uint32_t loop = loops_.innermost[i];
    bool is_latch = loop != UINT32_MAX && latch_of(loop) == i;
    if (is_latch && plan_.divergent_loop[loop]) return connect_divergent_latch(i, loop);
    bool diverges = shapes_.divergent_branch[step.block] != 0;
    bool left = false;
    Pending targets = PendingSteps::kEmpty;
    const uint32_t around = divergent_loop_around(i);
    for (NodeId succ : graph_.succs[i]) {
      if (is_latch && succ == loops_.loops[loop].header) continue;
      if (is_kill(succ)) {
        left = true;
        diverges |= around != UINT32_MAX;
      } else if (leave_loops(i, succ)) {
        left = diverges = true;
      } else {
        add(targets, succ);
      }
    }
    if (diverges) {
      targets = sets_.merged(targets, pending_[i]);
      if (left && around != UINT32_MAX && latch_of(around) > i) add(targets, latch_of(around));
      step.linear = true;
      step.next = {follow(targets)};
      return;
    }
    connect_uniform(i);
  }

  void connect_uniform(uint32_t i) {
    Step& step = plan_.steps[i];
    const uint32_t loop = loops_.innermost[i];
    if (graph_.succs[i].empty()) step.next.push_back(follow(pending_[i]));
    for (NodeId succ : graph_.succs[i]) {
      bool back = loop != UINT32_MAX && succ == loops_.loops[loop].header && succ <= i;
      if (back) {
        step.next.push_back(succ);
        continue;
      }
      Pending waiting = pending_[i];
      if (!is_kill(succ)) add(waiting, succ);
      step.next.push_back(follow(waiting));
    }
  }

  /// The steps of a set after the latch that are outside of its loop.
  Pending behind_loop(Pending waiting, uint32_t latch, uint32_t loop) {
    // The steps of a loop are contiguous, so all steps after the first one outside are outside too.
    const auto is_behind = [&](uint32_t step) {
      return step > latch && !loops_.contains(loop, step);
    };
    while (waiting != PendingSteps::kEmpty && !is_behind(sets_.first(waiting))) {
      waiting = sets_.without_first(waiting);
    }
    return waiting;
  }

  void connect_divergent_latch(uint32_t i, uint32_t loop) {
    Step& step = plan_.steps[i];
    const uint32_t header = loops_.loops[loop].header;
    step.linear = true;
    step.repeat = header;
    for (NodeId succ : graph_.succs[i]) {
      if (succ != header && !is_kill(succ)) leave_loops(i, succ);
    }
    Pending after = loop_exits_[loop];
    for (Pending waiting : {pending_[header], pending_[i]}) {
      after = sets_.merged(after, behind_loop(waiting, i, loop));
    }
    const uint32_t outer = loops_.loops[loop].parent;
    uint32_t around = UINT32_MAX;
    for (uint32_t l = outer; l != UINT32_MAX && around == UINT32_MAX; l = loops_.loops[l].parent) {
      if (plan_.divergent_loop[l]) around = l;
    }
    if (around != UINT32_MAX && latch_of(around) > i) add(after, latch_of(around));
    step.next = {follow(after)};
  }

  /// Precomputes facts that are needed for many steps.
  void measure_steps() {
    const auto count = static_cast<uint32_t>(plan_.steps.size());
    instructions_before_.assign(count + 1, 0);
    next_test_.assign(count + 1, count);
    is_trivial_.resize(count);
    for (uint32_t i = 0; i < count; ++i) {
      instructions_before_[i + 1] = instructions_before_[i] + block_of(i).insts.size();
      is_trivial_[i] = find_trivial(i);
    }
    for (uint32_t i = count; i-- > 0;) next_test_[i] = is_trivial_[i] ? next_test_[i + 1] : i;
    ways_to_.resize(count);
    for (uint32_t j = 0; j < count; ++j) {
      const auto& next = plan_.steps[j].next;
      for (uint32_t slot = 0; slot < next.size(); ++slot) {
        if (next[slot] != kEndOfRegion) ways_to_[next[slot]].emplace_back(j, slot);
      }
    }
  }

  /// A step has the mask of its dominator if all lanes reach it in the same iteration.
  void assign_masks() {
    Reconvergence reconvergence(graph_, loops_);
    WaitingSteps waiting(static_cast<uint32_t>(plan_.steps.size()));
    for (uint32_t i = 0; i < plan_.steps.size(); ++i) {
      waiting.advance(i);
      assign_mask(i, reconvergence, waiting);
      waiting.add(i, plan_.steps[i].mask_step, next_pending(i));
    }
  }

  void assign_mask(uint32_t i, Reconvergence& reconvergence, const WaitingSteps& waiting) {
    Step& step = plan_.steps[i];
    step.mask_step = i;
    if (i == 0) {
      step.mask = Step::Mask::entry;
      step.mask_accumulates = false;
      if (is_divergent_header(0)) step.mask = Step::Mask::variable;
      return;
    }
    uint32_t above = dominators_.parent(i);
    while (above != kNoNode && is_left(above, i)) {
      above = dominators_.parent(loops_.loops[loops_.innermost[above]].header);
    }
    if (!is_divergent_header(i) && above != kNoNode && reconvergence.always_reaches(above, i)) {
      take_mask(step, above);
    } else if (const uint32_t source = undivided_source(i, waiting); source != kEndOfRegion) {
      take_mask(step, source);
    } else {
      step.mask_accumulates = accumulates(i);
    }
  }

  void take_mask(Step& step, uint32_t source) {
    step.mask = Step::Mask::same;
    step.mask_block = plan_.steps[source].block;
    step.mask_step = plan_.steps[source].mask_step;
  }

  /// The step whose mask is also this step's: control comes only directly from steps with that
  /// mask, over branches that are not divergent. kEndOfRegion if there is none.
  uint32_t undivided_source(uint32_t i, const WaitingSteps& waiting) const {
    uint32_t source = kEndOfRegion;
    for (const auto& [j, slot] : ways_to_[i]) {
      const Step& from = plan_.steps[j];
      const bool straight =
          j < i && !from.linear && slot < graph_.succs[j].size() && graph_.succs[j][slot] == i;
      if (!straight || (source != kEndOfRegion && from.mask_step != source)) return kEndOfRegion;
      source = from.mask_step;
    }
    if (ways_to_[i].size() != graph_.preds[i].size() || source == kEndOfRegion) return kEndOfRegion;
    // No step qualifies if lanes may exit in between: control would then skip the step that they
    // would have reached next, here or in steps with the same mask.
    if (waiting.some_after(source)) return kEndOfRegion;
    return is_left(source, i) ? kEndOfRegion : source;
  }

  /// True if `from` is in a loop that ends before `i`, so that its mask is that of the last
  /// iteration.
  bool is_left(uint32_t from, uint32_t i) const {
    const uint32_t l = loops_.innermost[from];
    return l != UINT32_MAX && !loops_.contains(l, i);
  }

  bool is_divergent_header(uint32_t i) const {
    const uint32_t l = loops_.innermost[i];
    return l != UINT32_MAX && loops_.loops[l].header == i && plan_.divergent_loop[l];
  }

  bool accumulates(uint32_t i) const {
    size_t forward = 0;
    for (NodeId pred : graph_.preds[i]) {
      if (pred >= i) continue;
      ++forward;
      for (uint32_t l = loops_.innermost[pred]; l != UINT32_MAX; l = loops_.loops[l].parent) {
        if (plan_.divergent_loop[l] && !loops_.contains(l, i)) return true;
      }
    }
    return forward > 1;
  }

  bool find_trivial(uint32_t i) const {
    const BasicBlock& block = block_of(i);
    if (block.insts.size() > kSpeculationLimit || plan_.steps[i].repeat != kEndOfRegion) {
      return false;
    }
    if (block.terminator == Terminator::barrier ||
        loops_.innermost[i] != loops_.innermost[dominator(i)]) {
      return false;
    }
    if (block.terminator != Terminator::jump && !plan_.steps[i].linear &&
        block.terminator != Terminator::exit)
      return false;
    for (BlockId succ : block.succs) {
      for (const Phi& phi : kernel_.blocks[succ].phis) {
        if (!shapes_.values[phi.result].is_varying()) return false;
      }
    }
    return std::none_of(block.insts.begin(), block.insts.end(),
                        [](const Inst& inst) { return has_effects(*inst.ptx); });
  }

  uint32_t dominator(uint32_t i) const {
    const NodeId above = dominators_.parent(i);
    return above == kNoNode ? i : above;
  }

  /// The way control arrives at a step: from the body of another step or, if that was skipped, from
  /// its test.
  struct Arrival {
    uint32_t from;
    bool is_skip;
    bool is_direct;  // over an edge of the graph that carries all lanes
  };

  std::vector<std::vector<Arrival>> forward_arrivals() const {
    std::vector<std::vector<Arrival>> arrivals(plan_.steps.size());
    for (uint32_t j = 0; j < plan_.steps.size(); ++j) {
      const Step& step = plan_.steps[j];
      for (size_t slot = 0; slot < step.next.size(); ++slot) {
        const uint32_t next = step.next[slot];
        if (next == kEndOfRegion || next <= j) continue;
        const bool is_direct =
            !step.linear && slot < graph_.succs[j].size() && graph_.succs[j][slot] == next;
        arrivals[next].push_back({j, false, is_direct});
      }
    }
    return arrivals;
  }

  /// Finds the step that control goes to if no lane reaches a step: the first after all steps with
  /// its mask.
  void find_skips() {
    skips_.assign(plan_.steps.size(), kEndOfRegion);
    for (auto i = static_cast<uint32_t>(plan_.steps.size()); i-- > 0;) {
      const Step& step = plan_.steps[i];
      // At a latch no lane is left for another iteration.
      const uint32_t next = step.repeat != kEndOfRegion ? step.next[0] : next_pending(i);
      const bool is_passed = next != kEndOfRegion &&
                             plan_.steps[next].mask_step == step.mask_step &&
                             !is_left(step.mask_step, next);
      skips_[i] = is_passed ? skips_[next] : next;
    }
  }

  /// A step whose mask may be empty tests it, unless it may run under an empty mask. A mask is
  /// known not to be empty (filled) if every path leads here over a uniform edge from a filled
  /// step, or if it is the mask of a filled step whose body is on every path.
  void assign_guards() {
    std::vector<std::vector<Arrival>> arrivals = forward_arrivals();
    std::vector<uint8_t> filled(plan_.steps.size());
    find_skips();
    WayTree ways;
    ways.add_step(kNone);
    filled[0] = 1;
    for (uint32_t i = 1; i < plan_.steps.size(); ++i) {
      Step& step = plan_.steps[i];
      bool all = !arrivals[i].empty();
      uint32_t way = kNone;
      for (const Arrival& arrival : arrivals[i]) {
        all = all && arrival.is_direct && filled[arrival.from];
        const uint32_t from = 2 * arrival.from + (arrival.is_skip ? 0 : 1);
        way = way == kNone ? from : ways.common(way, from);
      }
      ways.add_step(way == kNone ? 0 : way);
      filled[i] = all || has_mask_of_filled(i, filled, ways);
      if (filled[i] || (is_trivial_[i] && !leads_to_work(i))) continue;
      step.guard = true;
      filled[i] = 1;
      step.skip = skips_[i];
      if (step.skip != kEndOfRegion) arrivals[step.skip].push_back({i, true, false});
    }
  }

  /// True if much code follows a step for the same lanes, so that one test here saves tests further
  /// on.
  bool leads_to_work(uint32_t i) const {
    constexpr size_t kMuch = 32;
    const uint32_t end = std::min<uint32_t>(skips_[i], plan_.steps.size());
    return next_test_[i] < end && instructions_before_[end] - instructions_before_[i] >= kMuch;
  }

  bool has_mask_of_filled(uint32_t i, const std::vector<uint8_t>& filled,
                          const WayTree& ways) const {
    if (plan_.steps[i].mask != Step::Mask::same) return false;
    const uint32_t source = plan_.step_of[plan_.steps[i].mask_block], body = 2 * source + 1;
    return filled[source] && ways.common(ways.way_to(i), body) == body;
  }

  void assign_clears() {
    for (uint32_t i = 1; i < plan_.steps.size(); ++i) {
      const Step& step = plan_.steps[i];
      if (step.mask != Step::Mask::variable) continue;
      uint32_t loop = loops_.innermost[i];
      if (loop != UINT32_MAX && loops_.loops[loop].header == i) loop = loops_.loops[loop].parent;
      if (loop == UINT32_MAX) {
        plan_.clear_at_start.push_back(i);
      } else {
        plan_.steps[loops_.loops[loop].header].clear_masks.push_back(i);
      }
    }
  }

  const Kernel& kernel_;
  const Shapes& shapes_;
  const Region& region_;
  const bool splits_at_barriers_;  // a barrier ends the region
  std::vector<BlockId> blocks_;
  Graph graph_;
  DominatorTree dominators_;
  LoopForest loops_;
  std::vector<uint32_t> rpo_position_;
  std::vector<NodeId> order_;
  std::vector<uint32_t> place_;  // by node: index in order_
  PendingSteps sets_;
  std::vector<Pending> pending_;     // by step: the steps with waiting lanes when control arrives
  std::vector<Pending> loop_exits_;  // by loop
  // The arrays below have an entry for each step, after all are connected.
  std::vector<uint64_t> instructions_before_;
  std::vector<uint8_t> is_trivial_;
  std::vector<uint32_t> next_test_;  // the next step that is not trivial
  std::vector<std::vector<std::pair<uint32_t, uint32_t>>> ways_to_;  // arrivals at each step
  std::vector<uint32_t> skips_;
  LinearPlan plan_;
};

}  // namespace

LinearPlan order_blocks(const Kernel& kernel, const Shapes& shapes, const Region& region) {
  return Linearizer(kernel, shapes, region, false).order();
}

std::optional<LinearPlan> linearize(const Kernel& kernel, const Shapes& shapes,
                                    const Region& region, bool splits_at_barriers) {
  return Linearizer(kernel, shapes, region, splits_at_barriers).run();
}

std::string dump(const Kernel&, const LinearPlan& plan) {
  std::string text;
  for (uint32_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    text += "step " + std::to_string(i) + ": block " + std::to_string(step.block);
    if (step.mask == Step::Mask::entry) text += " mask entry";
    if (step.mask == Step::Mask::same) text += " mask of " + std::to_string(step.mask_block);
    if (step.mask == Step::Mask::variable) text += step.mask_accumulates ? " mask or" : " mask";
    auto name = [](uint32_t target) {
      return target == kEndOfRegion ? std::string("end") : std::to_string(target);
    };
    if (step.guard) text += " guard else " + name(step.skip);
    if (step.repeat != kEndOfRegion) text += " repeat " + name(step.repeat);
    text += step.linear ? " then" : " next";
    for (uint32_t next : step.next) text += " " + name(next);
    text += "\n";
  }
  return text;
}

}  // namespace km::simt
