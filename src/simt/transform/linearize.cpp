#include "simt/transform/linearize.h"

#include <algorithm>
#include <set>

namespace km::simt {

namespace {

constexpr unsigned kSpeculationLimit = 8;  // instructions run under a mask that may be empty

class Linearizer {
 public:
  Linearizer(const Kernel& kernel, const Shapes& shapes, const Region& region, bool split)
      : kernel_(kernel), shapes_(shapes), region_(region), split_(split) {}

  LinearPlan run() {
    make_steps();
    rebuild_in_order();
    pending_.resize(order_.size());
    loop_exits_.resize(plan_.loops.loops.size());
    for (uint32_t i = 0; i < plan_.steps.size(); ++i) connect(i);
    for (uint32_t i = 0; i < plan_.steps.size(); ++i) {
      if (block_of(i).end == End::barrier && !split_ && !pending_[i].empty()) {
        plan_.barrier_with_waiting_lanes = plan_.steps[i].block;
      }
    }
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
      if (split_ && kernel_.blocks[nodes[i]].end == End::barrier) continue;
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

  /// A topological order in which the nodes that a node dominates directly follow it, and the
  /// nodes of a loop lie together.
  void order_nodes() {
    auto rpo = reverse_postorder(graph_);
    rpo_position_.assign(graph_.size(), 0);
    for (uint32_t i = 0; i < rpo.size(); ++i) rpo_position_[rpo[i]] = i;
    visit(0);
    for (auto loop = loops_.loops.rbegin(); loop != loops_.loops.rend(); ++loop) gather(*loop);
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

  /// Children in the dominator tree, each before those that its own subtree leads to. Reverse
  /// postorder has that property for the children themselves.
  std::vector<NodeId> sorted_children(NodeId node) const {
    std::vector<NodeId> children = dominators_.children(node);
    std::sort(children.begin(), children.end(),
              [&](NodeId a, NodeId b) { return rpo_position_[a] < rpo_position_[b]; });
    return children;
  }

  /// Moves nodes that an inner node dominates but that lie outside the loop behind it.
  void gather(const Loop& loop) {
    std::vector<uint8_t> inside(graph_.size());
    for (NodeId node : loop.nodes) inside[node] = 1;
    auto first = std::find_if(order_.begin(), order_.end(), [&](NodeId n) { return inside[n]; });
    auto last = std::find_if(order_.rbegin(), order_.rend(), [&](NodeId n) { return inside[n]; });
    std::stable_partition(first, last.base(), [&](NodeId n) { return inside[n] != 0; });
  }

  /// From here on nodes are steps.
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
    for (uint32_t l = 0; l < shapes_.loops.loops.size(); ++l) {
      if (shapes_.loops.loops[l].header == header) return shapes_.divergent_loop[l] != 0;
    }
    return false;
  }

  const Block& block_of(uint32_t step) const { return kernel_.blocks[plan_.steps[step].block]; }

  bool is_kill(uint32_t step) const {
    const Block& block = block_of(step);
    return block.end == End::exit && block.insts.empty();
  }

  using Pending = std::set<uint32_t>;

  uint32_t follow(Pending waiting) {
    if (waiting.empty()) return kEndOfRegion;
    uint32_t next = *waiting.begin();
    waiting.erase(waiting.begin());
    pending_[next].insert(waiting.begin(), waiting.end());
    return next;
  }

  uint32_t latch_of(uint32_t loop) const { return loops_.loops[loop].latches[0]; }

  /// Notes that lanes leave every divergent loop between `from` and `to`; true if there is one.
  bool leave_loops(uint32_t from, uint32_t to) {
    bool left = false;
    uint32_t target = to;
    std::vector<uint32_t> chain;
    for (uint32_t l = loops_.innermost[from]; l != UINT32_MAX && !loops_.contains(l, to);
         l = loops_.loops[l].parent) {
      if (plan_.divergent_loop[l]) chain.push_back(l);
    }
    for (auto l = chain.rbegin(); l != chain.rend(); ++l) {  // outermost first
      if (target != kEndOfRegion) loop_exits_[*l].insert(target);
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
    Pending targets;
    const uint32_t around = divergent_loop_around(i);
    for (NodeId succ : graph_.succs[i]) {
      if (is_latch && succ == loops_.loops[loop].header) continue;
      if (is_kill(succ)) {
        left = true;
        diverges |= around != UINT32_MAX;
      } else if (leave_loops(i, succ)) {
        left = diverges = true;
      } else {
        targets.insert(succ);
      }
    }
    if (diverges) {
      targets.insert(pending_[i].begin(), pending_[i].end());
      if (left && around != UINT32_MAX && latch_of(around) > i) targets.insert(latch_of(around));
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
      if (!is_kill(succ)) waiting.insert(succ);
      step.next.push_back(follow(waiting));
    }
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
    for (const auto* waiting : {&pending_[header], &pending_[i]}) {
      for (uint32_t target : *waiting) {
        if (target > i && !loops_.contains(loop, target)) after.insert(target);
      }
    }
    const uint32_t outer = loops_.loops[loop].parent;
    uint32_t around = UINT32_MAX;
    for (uint32_t l = outer; l != UINT32_MAX && around == UINT32_MAX; l = loops_.loops[l].parent) {
      if (plan_.divergent_loop[l]) around = l;
    }
    if (around != UINT32_MAX && latch_of(around) > i) after.insert(latch_of(around));
    step.next = {follow(after)};
  }

  /// A step has the lanes of its dominator where all of them come to it in the same iteration.
  void assign_masks() {
    Meeting meeting(graph_, loops_);
    for (uint32_t i = 0; i < plan_.steps.size(); ++i) {
      Step& step = plan_.steps[i];
      step.mask_step = i;
      if (i == 0) {
        step.mask = Step::Mask::entry;
        step.mask_accumulates = false;
        if (is_divergent_header(0)) step.mask = Step::Mask::variable;
        continue;
      }
      uint32_t above = dominators_.parent(i);
      while (above != kNoNode && is_left(above, i)) {
        above = dominators_.parent(loops_.loops[loops_.innermost[above]].header);
      }
      if (!is_divergent_header(i) && above != kNoNode && meeting.always_reaches(above, i)) {
        take_mask(step, above);
        continue;
      }
      if (const uint32_t source = undivided_source(i); source != kEndOfRegion) {
        take_mask(step, source);
        continue;
      }
      step.mask_accumulates = accumulates(i);
    }
  }

  void take_mask(Step& step, uint32_t source) {
    step.mask = Step::Mask::same;
    step.mask_block = plan_.steps[source].block;
    step.mask_step = plan_.steps[source].mask_step;
  }

  /// Where control comes only straight from steps with one and the same mask, by branches that do
  /// not part lanes, that mask is the step's own: the step it belongs to. kEndOfRegion: elsewhere.
  uint32_t undivided_source(uint32_t i) const {
    uint32_t source = kEndOfRegion;
    size_t ways = 0;
    for (uint32_t j = 0; j < plan_.steps.size(); ++j) {
      const Step& from = plan_.steps[j];
      for (size_t slot = 0; slot < from.next.size(); ++slot) {
        if (from.next[slot] != i) continue;
        const bool straight =
            j < i && !from.linear && slot < graph_.succs[j].size() && graph_.succs[j][slot] == i;
        if (!straight || (source != kEndOfRegion && from.mask_step != source)) return kEndOfRegion;
        source = from.mask_step;
        ++ways;
      }
    }
    if (ways != graph_.preds[i].size() || source == kEndOfRegion) return kEndOfRegion;
    // Not where lanes may leave for good in between: control then comes past the step that they
    // would have come to next, here or to those that have this step's mask.
    for (uint32_t j = source + 1; j < i; ++j) {
      const bool passes = !pending_[j].empty() && *pending_[j].begin() >= i;
      if (passes && plan_.steps[j].mask_step != source) return kEndOfRegion;
    }
    return is_left(source, i) ? kEndOfRegion : source;
  }

  /// `from` lies in a loop that ends before `i`: its mask is that of the last iteration.
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

  bool is_trivial(uint32_t i) const {
    const Block& block = block_of(i);
    if (block.insts.size() > kSpeculationLimit || plan_.steps[i].repeat != kEndOfRegion) {
      return false;
    }
    if (block.end == End::barrier || loops_.innermost[i] != loops_.innermost[dominator(i)]) {
      return false;
    }
    if (block.end != End::jump && !plan_.steps[i].linear && block.end != End::exit) return false;
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

  /// Control arrives at a step from the body of another or, where that was not run, from its test.
  struct Arrival {
    uint32_t from;
    bool is_skip;
    bool is_direct;  // by an edge of the graph that carries all lanes
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

  /// Where control goes on when no lane comes to a step; past all steps that have its mask.
  uint32_t skip_of(uint32_t i) const {
    const uint32_t source = plan_.steps[i].mask_step;
    uint32_t skip = i;
    do {
      if (plan_.steps[skip].repeat != kEndOfRegion) {  // nobody wants to go on: leave the loop
        skip = plan_.steps[skip].next[0];
      } else {
        skip = pending_[skip].empty() ? kEndOfRegion : *pending_[skip].begin();
      }
    } while (skip != kEndOfRegion && plan_.steps[skip].mask_step == source &&
             !is_left(source, skip));
    return skip;
  }

  /// The nearest of the tests and bodies of steps that control has come through for certain. They
  /// have numbers: twice the step's, one more for the body.
  static uint32_t common_way(const std::vector<uint32_t>& way_to, uint32_t a, uint32_t b) {
    while (a != b) {
      uint32_t& later = a > b ? a : b;
      later = later % 2 != 0 ? later - 1 : way_to[later / 2];
    }
    return a;
  }

  /// A step whose mask may be empty tests it, unless it may run under an empty mask. Lanes are
  /// known to be there (filled) when every way leads here by a uniform edge from a filled step, or
  /// when the mask is that of a filled step whose body every way leads through.
  void assign_guards() {
    std::vector<std::vector<Arrival>> arrivals = forward_arrivals();
    std::vector<uint8_t> filled(plan_.steps.size());
    std::vector<uint32_t> way_to(plan_.steps.size());  // each step's test
    filled[0] = 1;
    for (uint32_t i = 1; i < plan_.steps.size(); ++i) {
      Step& step = plan_.steps[i];
      bool all = !arrivals[i].empty();
      uint32_t way = kNone;
      for (const Arrival& arrival : arrivals[i]) {
        all = all && arrival.is_direct && filled[arrival.from];
        const uint32_t from = 2 * arrival.from + (arrival.is_skip ? 0 : 1);
        way = way == kNone ? from : common_way(way_to, way, from);
      }
      way_to[i] = way == kNone ? 0 : way;
      filled[i] = all || has_mask_of_filled(i, filled, way_to);
      if (filled[i] || (is_trivial(i) && !leads_to_work(i))) continue;
      step.guard = true;
      filled[i] = 1;
      step.skip = skip_of(i);
      if (step.skip != kEndOfRegion) arrivals[step.skip].push_back({i, true, false});
    }
  }

  /// Whether long code comes after a step for the same lanes: a test here saves those further in.
  bool leads_to_work(uint32_t i) const {
    constexpr size_t kMuch = 32;
    const uint32_t end = std::min<uint32_t>(skip_of(i), plan_.steps.size());
    size_t instructions = 0;
    bool has_tests = false;
    for (uint32_t j = i; j < end; ++j) {
      instructions += block_of(j).insts.size();
      has_tests = has_tests || !is_trivial(j);
      if (has_tests && instructions >= kMuch) return true;
    }
    return false;
  }

  bool has_mask_of_filled(uint32_t i, const std::vector<uint8_t>& filled,
                          const std::vector<uint32_t>& way_to) const {
    if (plan_.steps[i].mask != Step::Mask::same) return false;
    const uint32_t source = plan_.step_of[plan_.steps[i].mask_block], body = 2 * source + 1;
    return filled[source] && common_way(way_to, way_to[i], body) == body;
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
  const bool split_;  // a barrier ends the region
  std::vector<BlockId> blocks_;
  Graph graph_;
  DominatorTree dominators_;
  LoopForest loops_;
  std::vector<uint32_t> rpo_position_;
  std::vector<NodeId> order_;
  std::vector<Pending> pending_;
  std::vector<Pending> loop_exits_;
  LinearPlan plan_;
};

}  // namespace

LinearPlan order_blocks(const Kernel& kernel, const Shapes& shapes, const Region& region) {
  return Linearizer(kernel, shapes, region, false).order();
}

LinearPlan linearize(const Kernel& kernel, const Shapes& shapes, const Region& region, bool split) {
  return Linearizer(kernel, shapes, region, split).run();
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
