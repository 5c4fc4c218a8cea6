// Divergence of lanes and of warps: a fixpoint over shapes of values, divergent branches, joins at
// which diverged lanes meet, and loops that lanes leave in different iterations.
#include <algorithm>
#include <bit>
#include <memory>
#include <span>

#include "simt/analysis/memory/pointers.h"
#include "simt/analysis/shape.h"

namespace km::simt {

namespace {

/// Finds joins, the blocks where paths from different successors of one branch meet, by propagating
/// the successors as labels in topological order. Back edges stop the propagation; labels that
/// reach the header over them show that lanes diverge between iterations, which is the case of
/// divergent loops.
class JoinFinder {
 public:
  explicit JoinFinder(const Kernel& kernel)
      : kernel_(kernel), label_(kernel.blocks.size(), kNone), open_(kernel.blocks.size()) {}

  /// Blocks are numbered in reverse postorder, so forward edges lead to higher numbers. Calls
  /// `join` for every block at which paths join and `touch` for every block between branch and
  /// reconvergence, except those that are marked in `passed`, whose successors were touched before.
  /// If the branches of a kernel are nested too deeply, all blocks count as both.
  template <class Join, class Touch>
  void find(BlockId branch, std::vector<uint8_t>& passed, Join join, Touch touch) {
    if (steps_ > kMostSteps) return give_up(passed, join, touch);
    const auto& succs = kernel_.blocks[branch].succs;
    const bool leaves_by_back_edge =
        std::any_of(succs.begin(), succs.end(), [&](BlockId s) { return s <= branch; });
    auto block = static_cast<BlockId>(kernel_.blocks.size());
    // Labels of sides differ from block numbers: a successor that is the join itself must not count
    // as joined.
    BlockId side = block;
    for (BlockId succ : succs) {
      if (succ > branch) reach(side, succ, join);
      if (succ > branch) block = std::min(block, succ);
      ++side;
    }
    for (; block < kernel_.blocks.size() && open_count_ > 0 && steps_ <= kMostSteps; ++block) {
      ++steps_;
      if (!open_[block]) continue;
      open_[block] = 0;
      if (--open_count_ == 0) {  // all further blocks have one label
        if (leaves_by_back_edge || branch_side_open(branch, block)) pass(block, passed, touch);
        break;
      }
      touch(block);
      for (BlockId succ : kernel_.blocks[block].succs) {
        if (succ > block) reach(label_[block], succ, join);
      }
    }
    if (steps_ > kMostSteps) give_up(passed, join, touch);
    for (BlockId each : labelled_) label_[each] = kNone, open_[each] = 0;
    labelled_.clear();
    open_count_ = 0;
  }

 private:
  /// The limit of visited blocks, about half a second.
  static constexpr uint64_t kMostSteps = 100'000'000;
  // The mark in `passed` at the entry, which is no successor.
  static constexpr uint8_t kGivenUp = 2;

  template <class Join>
  void reach(BlockId from_label, BlockId to, Join join) {
    if (label_[to] == kNone) {
      label_[to] = from_label;
      labelled_.push_back(to);
      open_[to] = 1;
      ++open_count_;
    } else if (label_[to] != from_label && label_[to] != to) {
      label_[to] = to;
      join(to);
    }
  }

  /// Touches all blocks that a block leads to by forward edges.
  template <class Touch>
  void pass(BlockId from, std::vector<uint8_t>& passed, Touch touch) {
    std::vector<BlockId> stack{from};
    while (!stack.empty()) {
      const BlockId block = stack.back();
      stack.pop_back();
      if (passed[block]) continue;
      passed[block] = 1;
      touch(block);
      for (BlockId succ : kernel_.blocks[block].succs) {
        if (succ > block) stack.push_back(succ);
      }
    }
  }

  template <class Join, class Touch>
  void give_up(std::vector<uint8_t>& passed, Join join, Touch touch) {
    if (passed[0] == kGivenUp) return;
    passed[0] = kGivenUp;
    for (BlockId each = 0; each < kernel_.blocks.size(); ++each) join(each), touch(each);
  }

  /// The last open block is the reconvergence point only if it joins more than one side.
  bool branch_side_open(BlockId branch, BlockId block) const {
    const auto& succs = kernel_.blocks[branch].succs;
    const auto sides =
        std::count_if(succs.begin(), succs.end(), [&](BlockId succ) { return succ > branch; });
    return sides > 1 && label_[block] >= kernel_.blocks.size() && label_[block] != kNone;
  }

  const Kernel& kernel_;
  std::vector<BlockId> label_;
  std::vector<uint8_t> open_;
  std::vector<BlockId> labelled_;
  size_t open_count_ = 0;
  uint64_t steps_ = 0;
};

/// The worklist of blocks, processed in ascending order, repeatedly.
class BlockQueue {
 public:
  explicit BlockQueue(size_t blocks) : words_((blocks + 63) / 64) {}

  void add(BlockId block) { words_[block / 64] |= uint64_t{1} << (block % 64); }
  /// Takes the first block from `block` on; kNone if there is none.
  BlockId take_from(BlockId block) {
    for (size_t w = block / 64; w < words_.size(); ++w) {
      uint64_t bits = words_[w];
      if (w == block / 64) bits &= UINT64_MAX << (block % 64);
      if (bits == 0) continue;
      const auto bit = static_cast<BlockId>(std::countr_zero(bits));
      words_[w] &= ~(uint64_t{1} << bit);
      return static_cast<BlockId>(w * 64) + bit;
    }
    return kNone;
  }

 private:
  std::vector<uint64_t> words_;
};

/// The blocks that read each value: in instructions, at their ends and in phis.
class Users {
 public:
  struct User {
    BlockId block;
    bool is_phi;
  };

  explicit Users(const Kernel& kernel) : first_(kernel.values.size() + 2) {
    visit(kernel, [&](ValueId value, User) { ++first_[value + 2]; });
    for (size_t v = 2; v < first_.size(); ++v) first_[v] += first_[v - 1];
    list_.resize(first_.back());
    visit(kernel, [&](ValueId value, User user) { list_[first_[value + 1]++] = user; });
  }

  std::span<const User> of(ValueId value) const {
    return {list_.data() + first_[value], first_[value + 1] - first_[value]};
  }

 private:
  template <class Visit>
  static void visit(const Kernel& kernel, Visit visit_user) {
    for (BlockId b = 0; b < kernel.blocks.size(); ++b) {
      const BasicBlock& block = kernel.blocks[b];
      auto use = [&](ValueId value, bool is_phi) {
        if (value != kNone) visit_user(value, {b, is_phi});
      };
      for (const Phi& phi : block.phis) {
        for (ValueId input : phi.inputs) use(input, true);
      }
      for (const Inst& inst : block.insts) {
        for (const auto& read : inst.reads) use(read.second, false);
        for (ValueId old : inst.old_values) use(old, false);
        use(inst.guard, false);
      }
      use(block.condition, false);
    }
  }

  std::vector<uint32_t> first_;  // by value: index of its first user, with an end marker
  std::vector<User> list_;
};

class Analysis {
 public:
  Analysis(const Kernel& kernel, const ShapeOptions& options)
      : kernel_(kernel),
        graph_(kernel.graph()),
        users_(kernel),
        queue_(kernel.blocks.size()),
        finder_(kernel) {
    shapes_.options = options;
    shapes_.dominators = DominatorTree(graph_, 0);
    shapes_.loops = find_loops(graph_, shapes_.dominators);
    reconvergence_ = std::make_unique<Reconvergence>(graph_, shapes_.loops);
    shapes_.values.resize(kernel.values.size());
    if (options.assume_no_wrap && !options.independent_threads) {
      shapes_.wanted_alignments = wanted_alignments(kernel);
    }
    shapes_.hoistable = hoistable_bounds(kernel);
    for (size_t v = 0; v < kernel.values.size(); ++v) {
      if (kernel.values[v].block == kNone) shapes_.values[v] = Shape::of_constant(0);
    }
    const size_t blocks = kernel.blocks.size();
    shapes_.sides.assign(blocks, Shapes::Side::both);
    taken_.assign(blocks, options.decide_branches ? 0 : kAllSides);
    reached_.assign(blocks, options.decide_branches ? 0 : 1);
    reached_[0] = 1;
    shapes_.divergent_branch.resize(blocks);
    shapes_.warp_branch.resize(blocks);
    shapes_.divergent_join.resize(blocks);
    shapes_.warp_join.resize(blocks);
    shapes_.divergent_loop.resize(shapes_.loops.loops.size());
    shapes_.warp_loop.resize(shapes_.loops.loops.size());
    for (Divergence* divergence : {&lanes_, &warps_}) {
      divergence->region.resize(blocks);
      divergence->passed.resize(blocks);
      divergence->left_loop.resize(blocks);
    }
    phi_updates_.resize(kernel.values.size());
    ending_loops_.resize(blocks);
    for (uint32_t l = 0; l < shapes_.loops.loops.size(); ++l) {
      auto& nodes = shapes_.loops.loops[l].nodes;
      std::sort(nodes.begin() + 1, nodes.end());  // the header stays first, as in the order
      ending_loops_[nodes.back()].push_back(l);
    }
    for (BlockId b = 0; b < blocks; ++b) queue_.add(b);
  }

  Shapes run() {
    ShapeTransfer transfer(kernel_, shapes_);
    do {
      while (values_pass(transfer)) {
      }
    } while (control_pass());
    note_sides();
    auto& list = shapes_.assumptions;
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    return std::move(shapes_);
  }

 private:
  bool update(ValueId value, Shape fresh) {
    Shape& shape = shapes_.values[value];
    if (shape.kind == Shape::Kind::varying || fresh == shape) return false;
    if (fresh.kind < shape.kind || (fresh.kind == shape.kind && fresh.offsets != shape.offsets)) {
      fresh = Shape::varying();  // only downwards in the lattice
    }
    if (fresh == shape) return false;
    if (++phi_updates_[value] > 6) {  // bounds in a loop may grow forever
      fresh.bounded = false;
      fresh.low = fresh.high = 0;
      if (fresh.align > 0 && phi_updates_[value] > 12) fresh.align = 0;
      if (phi_updates_[value] > 40) fresh = Shape::varying();
      if (fresh == shape) return false;
    }
    shape = fresh;
    return true;
  }

  /// The branches, joins and loops at which lanes, or warps, diverge.
  struct Divergence {
    std::vector<uint8_t>&branch, &join, &loop;  // arrays of the result
    std::vector<uint8_t> region, passed;        // by block, see JoinFinder
    // Indexed by block: reached from a loop that lanes leave in different iterations.
    std::vector<uint8_t> left_loop;
  };

  void mark_users(ValueId value, BlockId now) {
    for (const auto& user : users_.of(value)) {
      if (user.block != now || user.is_phi) queue_.add(user.block);
    }
  }

  /// Recomputes each block whose dependencies have changed, once and in order. Returns false if
  /// there was none.
  bool values_pass(ShapeTransfer& transfer) {
    bool any = false;
    for (BlockId b = queue_.take_from(0); b != kNone; b = queue_.take_from(b + 1)) {
      if (!reached_[b]) continue;
      any = true;
      for (const Phi& phi : kernel_.blocks[b].phis) {
        if (update(phi.result, meet(transfer, b, phi))) mark_users(phi.result, b);
      }
      for (const Inst& inst : kernel_.blocks[b].insts) {
        for (const auto& [reg, value] : inst.writes) {
          if (update(value, lasting(transfer.result(inst, b, reg), inst))) mark_users(value, b);
        }
      }
      reach_successors(b);
      if (!shapes_.options.independent_threads) note_control(b);
    }
    return any;
  }

  /// Records the divergence of this branch, as far as it is known, so that its successors need not
  /// be visited twice.
  void note_control(BlockId b) {
    if (ends_in_branch(b)) diverge_at(b, false);
    for (uint32_t l : ending_loops_[b]) {
      for (Divergence* divergence : {&lanes_, &warps_}) note_loop(*divergence, l);
    }
  }

  static constexpr uint8_t kFirstSide = 1, kSecondSide = 2, kAllSides = 3;

  /// The sides of a block's branch that some thread may take, as far as is known.
  uint8_t ways_out(BlockId b) const {
    const BasicBlock& block = kernel_.blocks[b];
    if (block.terminator != Terminator::branch) return kAllSides;
    const Shape condition = shapes_.at(kernel_, block.condition, b);
    const auto constant = condition.constant();
    if (!constant) return kAllSides;
    return (*constant != 0) != block.condition_negated ? kFirstSide : kSecondSide;
  }

  void reach_successors(BlockId b) {
    if (taken_[b] == kAllSides) return;
    const uint8_t ways = taken_[b] | ways_out(b);
    if (ways == taken_[b]) return;
    taken_[b] = ways;
    const auto& succs = kernel_.blocks[b].succs;
    for (size_t side = 0; side < succs.size(); ++side) {
      if (!takes(b, side)) continue;
      reached_[succs[side]] = 1;
      queue_.add(succs[side]);
    }
  }

  bool takes(BlockId b, size_t side) const {
    return kernel_.blocks[b].terminator == Terminator::branch ? (taken_[b] >> side & 1) != 0
                                                              : taken_[b] != 0;
  }

  bool reaches(BlockId from, BlockId to) const {
    if (kernel_.blocks[from].terminator != Terminator::branch) return taken_[from] != 0;
    const auto& succs = kernel_.blocks[from].succs;
    for (size_t side = 0; side < succs.size(); ++side) {
      if (succs[side] == to && takes(from, side)) return true;
    }
    return false;
  }

  void note_sides() {
    for (BlockId b = 0; b < kernel_.blocks.size(); ++b) {
      if (kernel_.blocks[b].terminator != Terminator::branch) continue;
      if (taken_[b] == kFirstSide) shapes_.sides[b] = Shapes::Side::first;
      if (taken_[b] == kSecondSide) shapes_.sides[b] = Shapes::Side::second;
    }
  }

  /// In mode c a uniform value must be the same at every execution of its instruction.
  Shape lasting(const Shape& shape, const Inst& inst) const {
    if (!shapes_.options.independent_threads || shape.kind == Shape::Kind::unknown) return shape;
    using ptx::Opcode;
    const Opcode opcode = inst.ptx->opcode;
    const bool pure = !has_effects(*inst.ptx) || opcode == Opcode::ld || opcode == Opcode::ldu ||
                      opcode == Opcode::div || opcode == Opcode::rem;
    const bool lasts = pure && (shape.is_offset() || (shape.is_uniform() && shape.block_uniform));
    return lasts ? shape : Shape::varying();
  }

  Shape meet(ShapeTransfer& transfer, BlockId block, const Phi& phi) {
    const auto& preds = kernel_.blocks[block].preds;
    bool same = std::all_of(phi.inputs.begin(), phi.inputs.end(),
                            [&](ValueId input) { return input == phi.inputs[0]; });
    Shape result;
    for (size_t i = 0; i < preds.size(); ++i) {
      if (!reaches(preds[i], block)) continue;
      result = transfer.join(result, shapes_.at(kernel_, phi.inputs[i], preds[i]));
    }
    if (result.kind == Shape::Kind::unknown) return result;
    // Each lane has the value of its own iteration.
    if (same) return shapes_.at(kernel_, phi.inputs[0], block);
    if (shapes_.options.independent_threads) return Shape::varying();
    if (shapes_.divergent_join[block] || lanes_.left_loop[block]) return Shape::varying();
    if (shapes_.warp_join[block] && result.is_uniform()) result.block_uniform = false;
    return result;
  }

  bool ends_in_branch(BlockId b) const {
    const Terminator terminator = kernel_.blocks[b].terminator;
    return terminator == Terminator::branch || terminator == Terminator::table;
  }

  /// Updates the divergence once the values are stable, including blocks without known values.
  bool control_pass() {
    if (shapes_.options.independent_threads) return false;
    bool changed = false;
    for (BlockId b = 0; b < kernel_.blocks.size(); ++b) {
      if (ends_in_branch(b)) changed |= diverge_at(b, true);
    }
    for (Divergence* divergence : {&lanes_, &warps_}) {
      for (uint32_t l = 0; l < shapes_.loops.loops.size(); ++l)
        changed |= note_loop(*divergence, l);
    }
    return changed;
  }

  bool diverge_at(BlockId b, bool also_unknown) {
    const Shape shape = shapes_.at(kernel_, kernel_.blocks[b].condition, b);
    const bool is_known = shape.kind != Shape::Kind::unknown;
    bool changed = false;
    if (is_known && !shape.is_uniform()) changed |= diverge(lanes_, b);
    if ((is_known || also_unknown) && (!shape.is_uniform() || !shape.block_uniform)) {
      changed |= diverge(warps_, b);
    }
    return changed;
  }

  bool diverge(Divergence& divergence, BlockId branch) {
    if (divergence.branch[branch]) return false;
    divergence.branch[branch] = 1;
    finder_.find(
        branch, divergence.passed,
        [&](BlockId join) {
          if (!divergence.join[join]) queue_.add(join);
          divergence.join[join] = 1;
        },
        [&](BlockId at) { divergence.region[at] = 1; });
    return true;
  }

  bool note_loop(Divergence& divergence, uint32_t loop) {
    if (divergence.loop[loop] || !leaves_apart(divergence, loop)) return false;
    divergence.loop[loop] = 1;
    // Lanes leave the loop in different iterations, so its values vary at every exit from now on.
    for (BlockId b : shapes_.loops.loops[loop].nodes) {
      for (BlockId succ : kernel_.blocks[b].succs) {
        if (shapes_.loops.contains(loop, succ)) continue;
        divergence.left_loop[succ] = 1;
        queue_.add(succ);
      }
      for (const Phi& phi : kernel_.blocks[b].phis) mark_users_outside(loop, phi.result);
      for (const Inst& inst : kernel_.blocks[b].insts) {
        for (const auto& write : inst.writes) mark_users_outside(loop, write.second);
      }
    }
    return true;
  }

  void mark_users_outside(uint32_t loop, ValueId value) {
    for (const auto& user : users_.of(value)) {
      if (!shapes_.loops.contains(loop, user.block) || user.is_phi) queue_.add(user.block);
    }
  }

  bool is_exit(uint32_t loop, BlockId b) const {
    const auto& succs = kernel_.blocks[b].succs;
    return std::any_of(succs.begin(), succs.end(),
                       [&](BlockId succ) { return !shapes_.loops.contains(loop, succ); });
  }

  /// Lanes leave a loop in different iterations if an exit is at a divergent branch, or between
  /// such a branch and its reconvergence point inside the loop.
  bool leaves_apart(const Divergence& divergence, uint32_t loop) {
    const auto& nodes = shapes_.loops.loops[loop].nodes;
    std::vector<BlockId> diverged;  // divergent branches so far
    // The number of these branches that dominate a node, indexed by node.
    std::vector<uint32_t> above(nodes.size());
    for (size_t i = 0; i < nodes.size(); ++i) {
      const BlockId b = nodes[i];
      if (i != 0) {
        const BlockId parent = shapes_.dominators.parent(b);
        const auto at = std::lower_bound(nodes.begin(), nodes.end(), parent) - nodes.begin();
        above[i] = above[static_cast<size_t>(at)] + (divergence.branch[parent] ? 1 : 0);
      }
      if ((divergence.branch[b] || divergence.region[b]) && is_exit(loop, b)) {
        if (divergence.branch[b] || above[i] != diverged.size()) return true;
        if (!reached_by_all(diverged, loop, b)) return true;
      }
      if (divergence.branch[b]) diverged.push_back(b);
    }
    return false;
  }

  /// True if lanes that diverge at one of these branches, which dominate the block, all reach it
  /// before the iteration ends. It suffices to check the first branch in each loop around the
  /// block.
  bool reached_by_all(const std::vector<BlockId>& diverged, uint32_t loop, BlockId block) {
    BlockId end = block;  // end of the part of the loop that is still to be checked
    for (uint32_t l = shapes_.loops.innermost[block];; l = shapes_.loops.loops[l].parent) {
      const BlockId header = shapes_.loops.loops[l].header;
      const auto first = std::lower_bound(diverged.begin(), diverged.end(), header);
      const bool is_inside = first != diverged.end() && *first < end;
      if (is_inside && !reconvergence_->always_reaches(*first, block)) return false;
      if (l == loop) return true;
      end = header;
    }
  }

  const Kernel& kernel_;
  const Graph graph_;
  Shapes shapes_;
  std::unique_ptr<Reconvergence> reconvergence_;
  Divergence lanes_{
      shapes_.divergent_branch, shapes_.divergent_join, shapes_.divergent_loop, {}, {}, {}};
  Divergence warps_{shapes_.warp_branch, shapes_.warp_join, shapes_.warp_loop, {}, {}, {}};
  std::vector<std::vector<uint32_t>> ending_loops_;  // by block: loops whose last block it is
  const Users users_;
  BlockQueue queue_;
  JoinFinder finder_;
  std::vector<uint16_t> phi_updates_;
  std::vector<uint8_t> reached_, taken_;  // by block; taken_ has a bit for each side of the branch
};

}  // namespace

Shapes analyse_shapes(const Kernel& kernel, const ShapeOptions& options) {
  return Analysis(kernel, options).run();
}

uint32_t Shapes::loop_left(const Kernel& kernel, ValueId value, BlockId block) const {
  const BlockId home = kernel.values[value].block;
  uint32_t outermost = UINT32_MAX;
  if (home == kNone || home == block) return outermost;
  for (uint32_t l = loops.innermost[home]; l != UINT32_MAX; l = loops.loops[l].parent) {
    if (divergent_loop[l] && !loops.contains(l, block)) outermost = l;
  }
  return outermost;
}

std::optional<int64_t> Shapes::constant(const Inst& inst, const ptx::Operand& operand) const {
  using Kind = ptx::Operand::Kind;
  if (operand.kind == Kind::immediate) return static_cast<int64_t>(operand.bits);
  if (operand.kind != Kind::reg) return std::nullopt;
  return values[inst.read(operand.reg)].constant();
}

Shape Shapes::at(const Kernel& kernel, ValueId value, BlockId block) const {
  const Shape& shape = values[value];
  const BlockId home = kernel.values[value].block;
  if (home == kNone || home == block || loops.innermost[home] == UINT32_MAX) return shape;
  if (loops.innermost[home] == loops.innermost[block]) return shape;
  if (shape.kind != Shape::Kind::unknown && loop_left(kernel, value, block) != UINT32_MAX) {
    return Shape::varying();
  }
  if (!shape.is_uniform() || !shape.block_uniform) return shape;
  for (uint32_t l = loops.innermost[home]; l != UINT32_MAX; l = loops.loops[l].parent) {
    if (!warp_loop[l] || loops.contains(l, block)) continue;
    Shape result = shape;
    result.block_uniform = false;
    return result;
  }
  return shape;
}

namespace {

bool is_index_register(const ptx::Operand& operand) {
  using Special = ptx::SpecialRegister;
  return operand.component <= 2 &&
         (operand.special == Special::tid || operand.special == Special::ntid ||
          operand.special == Special::ctaid || operand.special == Special::nctaid);
}

/// True for a 32-bit load of one of the kernel's parameters.
bool loads_word_parameter(const Kernel& kernel, const ptx::Instruction& ptx) {
  const auto& address = ptx.operands[1];
  return ptx.has(ptx::Modifier::param) && address.reg == ptx::kNone && kernel.function->is_entry &&
         ptx.operands[0].kind == ptx::Operand::Kind::reg && ptx::size_bits(ptx.type()) == 32;
}

bool is_index_arithmetic(const ptx::Instruction& ptx) {
  using ptx::Opcode;
  switch (ptx.opcode) {
    case Opcode::mov:
    case Opcode::add:
    case Opcode::sub:
    case Opcode::mul:
    case Opcode::mad:
    case Opcode::shl:
      return ptx::size_bits(ptx.type()) == 32 && ptx::is_integer(ptx.type());
    default:
      return false;
  }
}

constexpr uint8_t kNotHoistable = UINT8_MAX;
constexpr uint8_t kDeepestBounds = 16;

/// The depth of the expression that an instruction computes; kNotHoistable if it is too deep or
/// contains instructions without known bounds. `depths` has those of the values read.
uint8_t depth_of_bounds(const Kernel& kernel, const Inst& inst,
                        const std::vector<uint8_t>& depths) {
  const auto& ptx = *inst.ptx;
  if (inst.guard != kNone || inst.writes.size() != 1) return kNotHoistable;
  for (const auto modifier :
       {ptx::Modifier::sat, ptx::Modifier::cc, ptx::Modifier::hi, ptx::Modifier::wide}) {
    if (ptx.has(modifier)) return kNotHoistable;
  }
  if (ptx.opcode == ptx::Opcode::ld) return loads_word_parameter(kernel, ptx) ? 0 : kNotHoistable;
  if (!is_index_arithmetic(ptx)) return kNotHoistable;
  uint8_t depth = 0;
  for (unsigned i = 1; i < ptx.operand_count; ++i) {
    using Kind = ptx::Operand::Kind;
    const auto& operand = ptx.operands[i];
    if (operand.kind == Kind::immediate) continue;
    if (ptx.opcode == ptx::Opcode::shl && i == 2) return kNotHoistable;
    if (operand.kind == Kind::special && is_index_register(operand)) continue;
    if (operand.kind != Kind::reg) return kNotHoistable;
    const uint8_t below = depths[inst.read(operand.reg)];
    if (below >= kDeepestBounds) return kNotHoistable;
    depth = std::max<uint8_t>(depth, below + 1);
  }
  return depth;
}

}  // namespace

std::vector<uint8_t> hoistable_bounds(const Kernel& kernel) {
  std::vector<uint8_t> depths(kernel.values.size(), kNotHoistable);
  for (const BasicBlock& block : kernel.blocks) {  // definitions precede uses, except for phis
    for (const Inst& inst : block.insts) {
      const uint8_t depth = depth_of_bounds(kernel, inst, depths);
      for (const auto& write : inst.writes) depths[write.second] = depth;
    }
  }
  for (uint8_t& depth : depths) depth = depth != kNotHoistable;
  return depths;
}

}  // namespace km::simt
