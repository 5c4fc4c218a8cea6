// Divergence of lanes and of warps: the fixpoint over shapes of values, branches that part lanes,
// joins where parted lanes meet, and loops that lanes leave at different times.
#include <algorithm>
#include <memory>

#include "simt/analysis/pointers.h"
#include "simt/analysis/shape.h"

namespace km::simt {

namespace {

/// Blocks where paths from different successors of one branch meet (joins), by spreading the
/// successors as labels in topological order. Back edges end the spreading, except that labels
/// which reach the header over them show that lanes part between iterations; that is the business
/// of divergent loops.
class JoinFinder {
 public:
  explicit JoinFinder(const Kernel& kernel) : kernel_(kernel), label_(kernel.blocks.size()) {}

  /// Blocks are numbered in reverse postorder, so a forward edge goes to a higher number. Calls
  /// `join` for every meeting block and `touch` for every block between branch and reconvergence.
  template <class Join, class Touch>
  void find(BlockId branch, Join join, Touch touch) {
    std::fill(label_.begin(), label_.end(), kNone);
    std::vector<uint8_t> open(kernel_.blocks.size());
    size_t open_count = 0;
    BlockId low = kNone;
    auto reach = [&](BlockId from_label, BlockId to) {
      if (label_[to] == kNone) {
        label_[to] = from_label;
        open[to] = 1;
        ++open_count;
        low = std::min(low, to);
      } else if (label_[to] != from_label && label_[to] != to) {
        label_[to] = to;
        join(to);
      }
    };
    // Sides are no block's number: a successor that is the join itself must not pass for joined.
    BlockId side = static_cast<BlockId>(kernel_.blocks.size());
    for (BlockId succ : kernel_.blocks[branch].succs) {
      if (succ > branch) reach(side, succ);
      ++side;
    }
    const bool leaves_by_back_edge =
        std::any_of(kernel_.blocks[branch].succs.begin(), kernel_.blocks[branch].succs.end(),
                    [&](BlockId s) { return s <= branch; });
    for (BlockId block = low; block < kernel_.blocks.size() && open_count > 0; ++block) {
      if (!open[block]) continue;
      open[block] = 0;
      --open_count;
      if (open_count == 0 && !leaves_by_back_edge && !branch_side_open(branch, block)) break;
      touch(block);
      for (BlockId succ : kernel_.blocks[block].succs) {
        if (succ > block) reach(label_[block], succ);
      }
    }
  }

 private:
  /// The last open block is the reconvergence point only if it joins more than one side.
  bool branch_side_open(BlockId branch, BlockId block) const {
    const auto& succs = kernel_.blocks[branch].succs;
    const auto sides =
        std::count_if(succs.begin(), succs.end(), [&](BlockId succ) { return succ > branch; });
    return sides > 1 && label_[block] >= kernel_.blocks.size() && label_[block] != kNone;
  }

  const Kernel& kernel_;
  std::vector<BlockId> label_;
};

class Analysis {
 public:
  Analysis(const Kernel& kernel, const ShapeOptions& options)
      : kernel_(kernel), graph_(kernel.graph()) {
    shapes_.options = options;
    shapes_.dominators = DominatorTree(graph_, 0);
    shapes_.loops = find_loops(graph_, shapes_.dominators);
    meeting_ = std::make_unique<Meeting>(graph_, shapes_.loops);
    shapes_.values.resize(kernel.values.size());
    if (options.assume_no_wrap && !options.parted) {
      shapes_.wanted_alignments = wanted_alignments(kernel);
    }
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
    divergent_region_.resize(blocks);
    warp_region_.resize(blocks);
    phi_updates_.resize(kernel.values.size());
  }

  Shapes run() {
    ShapeTransfer transfer(kernel_, shapes_);
    for (bool changed = true; changed;) {
      while (values_pass(transfer)) {
      }
      changed = control_pass();
    }
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
    if (++phi_updates_[value] > 6) {  // bounds in a loop may grow for ever
      fresh.bounded = false;
      fresh.low = fresh.high = 0;
      if (fresh.align > 0 && phi_updates_[value] > 12) fresh.align = 0;
      if (phi_updates_[value] > 40) fresh = Shape::varying();
      if (fresh == shape) return false;
    }
    shape = fresh;
    return true;
  }

  bool values_pass(ShapeTransfer& transfer) {
    bool changed = false;
    for (BlockId b = 0; b < kernel_.blocks.size(); ++b) {
      if (!reached_[b]) continue;
      for (const Phi& phi : kernel_.blocks[b].phis)
        changed |= update(phi.result, meet(transfer, b, phi));
      for (const Inst& inst : kernel_.blocks[b].insts) {
        for (const auto& [reg, value] : inst.writes) {
          changed |= update(value, lasting(transfer.result(inst, b, reg), inst));
        }
      }
      changed |= reach_successors(b);
    }
    return changed;
  }

  static constexpr uint8_t kFirstSide = 1, kSecondSide = 2, kAllSides = 3;

  /// The ways out of a block that some thread may take, as far as is known.
  uint8_t ways_out(BlockId b) const {
    const Block& block = kernel_.blocks[b];
    if (block.end != End::branch) return kAllSides;
    const Shape condition = shapes_.at(kernel_, block.condition, b);
    const auto constant = condition.constant();
    if (!constant) return kAllSides;
    return (*constant != 0) != block.condition_negated ? kFirstSide : kSecondSide;
  }

  bool reach_successors(BlockId b) {
    if (taken_[b] == kAllSides) return false;
    const uint8_t ways = taken_[b] | ways_out(b);
    if (ways == taken_[b]) return false;
    taken_[b] = ways;
    const auto& succs = kernel_.blocks[b].succs;
    for (size_t side = 0; side < succs.size(); ++side) {
      if (takes(b, side)) reached_[succs[side]] = 1;
    }
    return true;
  }

  bool takes(BlockId b, size_t side) const {
    return kernel_.blocks[b].end == End::branch ? (taken_[b] >> side & 1) != 0 : taken_[b] != 0;
  }

  bool reaches(BlockId from, BlockId to) const {
    const auto& succs = kernel_.blocks[from].succs;
    for (size_t side = 0; side < succs.size(); ++side) {
      if (succs[side] == to && takes(from, side)) return true;
    }
    return false;
  }

  void note_sides() {
    for (BlockId b = 0; b < kernel_.blocks.size(); ++b) {
      if (kernel_.blocks[b].end != End::branch) continue;
      if (taken_[b] == kFirstSide) shapes_.sides[b] = Shapes::Side::first;
      if (taken_[b] == kSecondSide) shapes_.sides[b] = Shapes::Side::second;
    }
  }

  /// In mode c a value must be the same whenever its instruction runs.
  Shape lasting(const Shape& shape, const Inst& inst) const {
    if (!shapes_.options.parted || shape.kind == Shape::Kind::unknown) return shape;
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
    if (same) return shapes_.at(kernel_, phi.inputs[0], block);  // of its own round in each lane
    if (shapes_.options.parted) return Shape::varying();
    if (shapes_.divergent_join[block] || follows_divergent_loop(block)) return Shape::varying();
    if (shapes_.warp_join[block] && result.is_uniform()) result.block_uniform = false;
    return result;
  }

  bool follows_divergent_loop(BlockId block) const {
    for (BlockId pred : kernel_.blocks[block].preds) {
      for (uint32_t l = shapes_.loops.innermost[pred]; l != UINT32_MAX;
           l = shapes_.loops.loops[l].parent) {
        if (shapes_.divergent_loop[l] && !shapes_.loops.contains(l, block)) return true;
      }
    }
    return false;
  }

  bool control_pass() {
    if (shapes_.options.parted) return false;
    bool changed = false;
    JoinFinder finder(kernel_);
    for (BlockId b = 0; b < kernel_.blocks.size(); ++b) {
      const Block& block = kernel_.blocks[b];
      if (block.end != End::branch && block.end != End::table) continue;
      const Shape shape = shapes_.at(kernel_, block.condition, b);
      if (!shape.is_uniform() && shape.kind != Shape::Kind::unknown) {
        changed |=
            part(finder, b, shapes_.divergent_branch, shapes_.divergent_join, divergent_region_);
      }
      if (!shape.is_uniform() || !shape.block_uniform) {
        changed |= part(finder, b, shapes_.warp_branch, shapes_.warp_join, warp_region_);
      }
    }
    changed |= loops_pass(shapes_.divergent_branch, divergent_region_, shapes_.divergent_loop);
    changed |= loops_pass(shapes_.warp_branch, warp_region_, shapes_.warp_loop);
    return changed;
  }

  bool part(JoinFinder& finder, BlockId branch, std::vector<uint8_t>& branches,
            std::vector<uint8_t>& joins, std::vector<uint8_t>& region) {
    if (branches[branch]) return false;
    branches[branch] = 1;
    finder.find(
        branch, [&](BlockId join) { joins[join] = 1; }, [&](BlockId at) { region[at] = 1; });
    return true;
  }

  /// A loop parts its lanes when an exit lies at a branch that parts them, or between such a
  /// branch and its reconvergence inside the loop.
  bool loops_pass(const std::vector<uint8_t>& branches, const std::vector<uint8_t>& region,
                  std::vector<uint8_t>& loops) {
    bool changed = false;
    for (uint32_t l = 0; l < shapes_.loops.loops.size(); ++l) {
      if (loops[l]) continue;
      for (BlockId b : shapes_.loops.loops[l].nodes) {
        bool parts = branches[b] || (region[b] && parted_within(l, b, branches));
        if (!parts) continue;
        for (BlockId succ : kernel_.blocks[b].succs) {
          if (!shapes_.loops.contains(l, succ)) loops[l] = 1;
        }
      }
      changed |= loops[l] != 0;
    }
    return changed;
  }

  bool parted_within(uint32_t loop, BlockId block, const std::vector<uint8_t>& branches) {
    for (BlockId b : shapes_.loops.loops[loop].nodes) {
      if (!branches[b] || b == block) continue;
      // b parts lanes; does one of them reach block before all meet again?
      if (b > block) continue;
      if (!shapes_.dominators.dominates(b, block) || !meeting_->always_reaches(b, block)) {
        return true;
      }
    }
    return false;
  }

  const Kernel& kernel_;
  const Graph graph_;
  Shapes shapes_;
  std::unique_ptr<Meeting> meeting_;
  std::vector<uint8_t> divergent_region_, warp_region_;
  std::vector<uint16_t> phi_updates_;
  std::vector<uint8_t> reached_, taken_;  // by block; the latter bits of sides
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

bool bounds_are_hoistable(const Kernel& kernel, ValueId value, unsigned depth) {
  const Value& v = kernel.values[value];
  if (v.block == kNone || v.instruction == kNone || depth > 16) return false;
  const Inst& inst = kernel.blocks[v.block].insts[v.instruction];
  if (inst.guard != kNone || inst.writes.size() != 1) return false;
  const auto& ptx = *inst.ptx;
  using ptx::Modifier;
  using ptx::Opcode;
  if (ptx.has(Modifier::sat) || ptx.has(Modifier::cc) || ptx.has(Modifier::hi) ||
      ptx.has(Modifier::wide)) {
    return false;
  }
  if (ptx.opcode == Opcode::ld) {
    const auto& address = ptx.operands[1];
    return ptx.has(Modifier::param) && address.reg == ptx::kNone && kernel.function->is_entry &&
           ptx.operands[0].kind == ptx::Operand::Kind::reg && ptx::size_bits(ptx.type()) == 32;
  }
  switch (ptx.opcode) {
    case Opcode::mov:
    case Opcode::add:
    case Opcode::sub:
    case Opcode::mul:
    case Opcode::mad:
    case Opcode::shl:
      break;
    default:
      return false;
  }
  if (ptx::size_bits(ptx.type()) != 32 || !ptx::is_integer(ptx.type())) return false;
  for (unsigned i = 1; i < ptx.operand_count; ++i) {
    using Kind = ptx::Operand::Kind;
    using Special = ptx::SpecialRegister;
    const auto& operand = ptx.operands[i];
    if (operand.kind == Kind::immediate) continue;
    if (ptx.opcode == Opcode::shl && i == 2) return false;
    if (operand.kind == Kind::special) {
      bool index = operand.special == Special::tid || operand.special == Special::ntid ||
                   operand.special == Special::ctaid || operand.special == Special::nctaid;
      if (!index || operand.component > 2) return false;
      continue;
    }
    if (operand.kind != Kind::reg) return false;
    if (!bounds_are_hoistable(kernel, inst.read(operand.reg), depth + 1)) return false;
  }
  return true;
}

}  // namespace km::simt
