#include "simt/analysis/memory/polls.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "ptx/forms.h"
#include "simt/analysis/control_dependence.h"
#include "simt/analysis/memory/memory_ref.h"

namespace km::simt {

namespace {

using ptx::Instruction;
using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::Space;

constexpr unsigned kMostDepth = 8;     // maximum depth of expressions
constexpr unsigned kMostValues = 256;  // limit for a branch's slice, which is examined as a whole

bool is_private_or_constant(Space space) {
  return space == Space::local || space == Space::param || space == Space::constant;
}

/// True for instructions that order memory between threads: a fence, a barrier of some threads, a
/// release or an acquire.
bool orders_memory(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::membar:
    case Opcode::fence:
      return !instruction.has(Modifier::proxy);
    case Opcode::bar:
    case Opcode::barrier:
      return !is_block_barrier(instruction);
    case Opcode::nanosleep:
      return true;
    default:
      return instruction.has(Modifier::acquire) || instruction.has(Modifier::release) ||
             instruction.has(Modifier::acq_rel);
  }
}

bool loads_weakly(const Instruction& instruction) {
  if (reads_constants(instruction) || is_strong_load(instruction)) return false;
  switch (instruction.opcode) {
    case Opcode::ld:
    case Opcode::ldmatrix:
      return true;
    case Opcode::wgmma:
      return instruction.has(Modifier::mma_async);
    case Opcode::wmma:
      return instruction.has(Modifier::load);
    default:
      return false;
  }
}

bool stores(const Instruction& instruction) {
  return changes_memory(instruction) && !is_barrier(instruction);
}

}  // namespace

bool is_strong_load(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::atom:
      return true;
    case Opcode::mbarrier:
      return instruction.has(Modifier::try_wait) || instruction.has(Modifier::test_wait);
    case Opcode::ld: {
      const bool is_strong =
          instruction.has(Modifier::volatile_) || instruction.has(Modifier::relaxed) ||
          instruction.has(Modifier::acquire) || instruction.has(Modifier::mmio) ||
          instruction.has(Modifier::cv) || instruction.has(Modifier::cg);
      return is_strong && !is_private_or_constant(ptx::space_of(instruction));
    }
    default:
      return false;
  }
}

ValueUses::ValueUses(const Kernel& kernel) : uses_(kernel.values.size()) {
  for (BlockId b = 0; b < kernel.blocks.size(); ++b) {
    const BasicBlock& block = kernel.blocks[b];
    for (const Phi& phi : block.phis) {
      for (ValueId input : phi.inputs) uses_[input].push_back({b, nullptr, phi.result});
    }
    for (const Inst& inst : block.insts) {
      for (const auto& read : inst.reads) uses_[read.second].push_back({b, &inst, kNone});
      for (ValueId old : inst.old_values) uses_[old].push_back({b, &inst, kNone});
      if (inst.guard != kNone) uses_[inst.guard].push_back({b, &inst, kNone});
    }
    if (block.condition != kNone) uses_[block.condition].push_back({b, nullptr, kNone});
  }
}

/// The propagation of polls through the values of a loop.
class LoopPolls::Flow {
 public:
  Flow(const Kernel& kernel, const Graph& graph, const Shapes& shapes, const ValueUses& uses,
       uint32_t loop)
      : kernel_(kernel), graph_(graph), shapes_(shapes), uses_(uses), loop_(loop) {
    collect();
    for (const Inst* poll : strong_) mark_results(*poll, {poll, true});
    spread();
    if (!fenced_ && !has_block_barrier_) return;
    for (const Load& load : loads_) {
      if (is_weak_poll(load)) mark_results(*load.inst, {load.inst, false});
    }
    spread();
  }

  const Inst* at(BlockId b) const {
    const BasicBlock& block = kernel_.blocks[b];
    if (block.condition == kNone) return nullptr;
    const auto known = sources_.find(block.condition);
    if (known == sources_.end()) return leaves(b) ? poll_that_decides(block.condition) : nullptr;
    const Source& source = known->second;
    return !source.is_strong && is_counted(block.condition) ? nullptr : source.poll;
  }

 private:
  struct Source {
    const Inst* poll = nullptr;
    bool is_strong = false;  // a strong load whose value is used through registers
  };
  struct Load {
    const Inst* inst = nullptr;
    MemoryRef ref;
    bool is_reached = false;  // a store of a value that depends on a poll may reach it
  };

  // ---- Memory accesses of the loop.

  void collect() {
    for (BlockId b : nodes()) {
      for (const Inst& inst : kernel_.blocks[b].insts) collect(inst);
    }
  }

  void collect(const Inst& inst) {
    const Instruction& ptx = *inst.ptx;
    fenced_ = fenced_ || orders_memory(ptx);
    has_block_barrier_ = has_block_barrier_ || is_block_barrier(ptx);
    if (is_strong_load(ptx) && !retries(inst)) strong_.push_back(&inst);
    if (loads_weakly(ptx)) {
      Load load{&inst, ref_of(inst)};
      if (load.ref.space != Space::param && load.ref.space != Space::constant) {
        loads_.push_back(load);
      }
    }
    if (stores(ptx)) stores_.emplace(&inst, ref_of(inst));
  }

  MemoryRef ref_of(const Inst& inst) const {
    const MemoryPlace place = memory_place(*inst.ptx);
    if (place.operand == nullptr) return {};
    return memory_ref(kernel_, inst, *place.operand, place.size_bytes);
  }

  /// True for a compare-and-swap that expects exactly the value last seen in its location: some
  /// thread always succeeds, so the loop retries instead of waiting.
  bool retries(const Inst& inst) const {
    if (inst.ptx->opcode != Opcode::atom || !inst.ptx->has(Modifier::cas)) return false;
    const Operand& expected = inst.ptx->operands[2];
    if (expected.kind != Operand::Kind::reg) return false;
    std::unordered_set<ValueId> seen;
    return comes_from_location(inst.read(expected.reg), ref_of(inst), seen);
  }

  /// True if the value is a copy of one that was loaded from `place`, on any path.
  bool comes_from_location(ValueId value, const MemoryRef& place,
                           std::unordered_set<ValueId>& seen) const {
    if (!seen.insert(value).second) return true;
    if (const Phi* phi = kernel_.phi_of(value)) {
      return std::all_of(phi->inputs.begin(), phi->inputs.end(),
                         [&](ValueId input) { return comes_from_location(input, place, seen); });
    }
    const Inst* const inst = kernel_.instruction_of(value);
    if (inst == nullptr || inst->guard != kNone) return false;
    switch (inst->ptx->opcode) {
      case Opcode::mov:
      case Opcode::cvt:
      case Opcode::prmt:
        break;
      case Opcode::ld:
      case Opcode::atom:
        return is_location(*inst, place);
      default:
        return false;
    }
    return !inst->reads.empty() &&
           std::all_of(inst->reads.begin(), inst->reads.end(), [&](const auto& read) {
             return comes_from_location(read.second, place, seen);
           });
  }

  bool is_location(const Inst& load, const MemoryRef& place) const {
    MemoryRef ref = ref_of(load);
    ref.size_bytes = place.size_bytes;
    return surely_overlap(ref, place);
  }

  bool is_weak_poll(const Load& load) const {
    if (load.ref.space == Space::local) return false;
    if (fenced_) return true;
    return load.ref.space != Space::shared && is_one_place(load);
  }

  /// True if the address is the same in all iterations.
  bool is_one_place(const Load& load) const {
    return std::all_of(load.inst->reads.begin(), load.inst->reads.end(),
                       [&](const auto& read) { return is_invariant(read.second); });
  }

  bool is_invariant(ValueId value, unsigned depth = 0) const {
    const Value& v = kernel_.values[value];
    if (v.block == kNone || !shapes_.loops.contains(loop_, v.block)) return true;
    const Inst* const inst = kernel_.instruction_of(value);
    if (inst == nullptr || depth == kMostDepth) return false;
    if (has_effects(*inst->ptx) && !kernel_.loads_parameter(*inst)) return false;
    const bool reads = std::all_of(inst->reads.begin(), inst->reads.end(), [&](const auto& read) {
      return is_invariant(read.second, depth + 1);
    });
    return reads && inst->guard == kNone;
  }

  // ---- How polls spread.

  void mark(ValueId value, const Source& source) {
    const Value& v = kernel_.values[value];
    if (v.block == kNone || !shapes_.loops.contains(loop_, v.block)) return;
    const auto [known, is_new] = sources_.emplace(value, source);
    if (!is_new && (known->second.is_strong || !source.is_strong)) return;
    known->second = source;
    open_.push_back(value);
  }

  void mark_results(const Inst& inst, const Source& source) {
    for (const auto& write : inst.writes) mark(write.second, source);
  }

  void spread() {
    while (!open_.empty()) {
      const ValueId value = open_.back();
      open_.pop_back();
      const Source source = sources_.at(value);
      for (const ValueUses::Use& use : uses_.of(value)) {
        if (!shapes_.loops.contains(loop_, use.block)) continue;
        if (use.inst != nullptr) {
          mark_results(*use.inst, source);
          spread_store(*use.inst, source);
        } else if (use.phi != kNone) {
          mark(use.phi, source);
        } else {
          spread_branch(use.block, source);
        }
      }
    }
  }

  /// Loads of the loop from the store's location depend on the stored value and on the condition of
  /// the store.
  void spread_store(const Inst& inst, const Source& source) {
    const auto store = stores_.find(&inst);
    if (store == stores_.end()) return;
    for (Load& load : loads_) {
      if (load.is_reached || !may_overlap(load.ref, store->second, is_stable(load.ref))) continue;
      load.is_reached = true;
      mark_results(*load.inst, {source.poll, false});
    }
  }

  bool is_stable(const MemoryRef& ref) const {
    return ref.root == MemoryRef::Root::value && is_invariant(ref.id);
  }

  /// A branch within the loop selects the blocks that store and the inputs of phis. A branch that
  /// leaves the loop has been found already.
  void spread_branch(BlockId branch, const Source& source) {
    if (leaves(branch)) return;
    std::vector<BlockId> open{branch};
    std::unordered_set<BlockId> seen{branch};
    while (!open.empty()) {
      const BlockId b = open.back();
      open.pop_back();
      spread_choice(b, branch, source);
      for (BlockId dependent : dependents_of(b)) {
        if (!seen.insert(dependent).second) continue;
        open.push_back(dependent);
        for (const Inst& inst : kernel_.blocks[dependent].insts) spread_store(inst, source);
      }
    }
  }

  /// Spreads to the phis at which paths from `branch` meet, one of which ends in `b`.
  void spread_choice(BlockId b, BlockId branch, const Source& source) {
    for (BlockId succ : kernel_.blocks[b].succs) {
      if (succ == header() || !shapes_.loops.contains(loop_, succ)) continue;
      if (!shapes_.dominators.dominates(shapes_.dominators.parent(succ), branch)) continue;
      for (const Phi& phi : kernel_.blocks[succ].phis) {
        if (keeps_a_value(phi)) mark(phi.result, source);
      }
    }
  }

  /// True if an input is not computed in this iteration: a constant, or the previous value. If all
  /// are computed, the loop makes progress whichever is selected.
  bool keeps_a_value(const Phi& phi) const {
    return std::any_of(phi.inputs.begin(), phi.inputs.end(), [&](ValueId input) {
      const Value& v = kernel_.values[input];
      if (v.block == kNone || !shapes_.loops.contains(loop_, v.block)) return true;
      const Inst* const inst = kernel_.instruction_of(input);
      return inst == nullptr || (inst->reads.empty() && inst->ptx->opcode == Opcode::mov);
    });
  }

  const std::vector<NodeId>& dependents_of(BlockId b) {
    if (dependents_.empty()) find_dependents();
    static const std::vector<NodeId> none;
    const auto found = dependents_.find(b);
    return found == dependents_.end() ? none : found->second;
  }

  void find_dependents() {
    const Graph graph = iteration_graph(graph_, shapes_.loops, loop_);
    auto lists = control_dependents(graph, post_dominators(graph));
    for (NodeId n = 0; n < nodes().size(); ++n) {
      auto& list = dependents_[nodes()[n]];
      for (NodeId dependent : lists[n]) {
        if (dependent < nodes().size()) list.push_back(nodes()[dependent]);
      }
    }
  }

  // ---- Branches that no poll found so far decides.

  /// A weak load that decides the branch, if its slice has no state in registers or in memory that
  /// the loop itself changes: without other threads it gives the same in all iterations.
  const Inst* poll_that_decides(ValueId condition) const {
    std::unordered_set<ValueId> seen;
    std::vector<ValueId> open{condition};
    const Inst* poll = nullptr;
    while (!open.empty()) {
      const ValueId value = open.back();
      open.pop_back();
      const Value& v = kernel_.values[value];
      if (v.block == kNone || !shapes_.loops.contains(loop_, v.block)) continue;
      if (!seen.insert(value).second) continue;
      if (seen.size() > kMostValues) return nullptr;
      if (const Phi* phi = kernel_.phi_of(value)) {
        if (is_header(v.block)) return nullptr;
        open.insert(open.end(), phi->inputs.begin(), phi->inputs.end());
        continue;
      }
      const Inst& inst = *kernel_.instruction_of(value);
      if (has_own_state(inst)) return nullptr;
      if (is_shared_load(inst)) poll = &inst;
      for (const auto& read : inst.reads) open.push_back(read.second);
      for (ValueId old : inst.old_values) open.push_back(old);
      if (inst.guard != kNone) open.push_back(inst.guard);
    }
    return poll;
  }

  bool is_header(BlockId b) const {
    const uint32_t loop = shapes_.loops.innermost[b];
    return loop != UINT32_MAX && shapes_.loops.loops[loop].header == b;
  }

  const Load* find_load(const Inst& inst) const {
    const auto found = std::find_if(loads_.begin(), loads_.end(),
                                    [&](const Load& load) { return load.inst == &inst; });
    return found == loads_.end() ? nullptr : &*found;
  }

  bool is_shared_load(const Inst& inst) const {
    const Load* const load = find_load(inst);
    return load != nullptr && load->ref.space != Space::local;
  }

  /// True if the thread itself changes the result from one iteration to the next.
  bool has_own_state(const Inst& inst) const {
    if (inst.ptx->opcode == Opcode::atom || inst.ptx->opcode == Opcode::mbarrier) return true;
    if (reads_clock(*inst.ptx)) return true;
    const Load* const load = find_load(inst);
    if (load == nullptr) return false;
    return std::any_of(stores_.begin(), stores_.end(), [&](const auto& store) {
      if (load->ref.space == Space::local) return may_overlap(load->ref, store.second, false);
      return is_stable_place(load->ref) && surely_overlap(load->ref, store.second);
    });
  }

  bool is_stable_place(const MemoryRef& ref) const {
    return ref.root == MemoryRef::Root::symbol || is_stable(ref);
  }

  static bool reads_clock(const Instruction& instruction) {
    using Special = ptx::SpecialRegister;
    const Operand& source = instruction.operands[1];
    return instruction.opcode == Opcode::mov && source.kind == Operand::Kind::special &&
           (source.special == Special::clock || source.special == Special::clock_hi ||
            source.special == Special::clock64 || source.special == Special::globaltimer ||
            source.special == Special::globaltimer_lo);
  }

  /// True for a comparison with a counter, so that the loop ends by itself.
  bool is_counted(ValueId condition) const {
    const Inst* const inst = kernel_.instruction_of(condition);
    if (inst == nullptr || inst->ptx->opcode != Opcode::setp) return false;
    return std::any_of(inst->reads.begin(), inst->reads.end(),
                       [&](const auto& read) { return is_counter(read.second, 0); });
  }

  /// True if the value advances by the same amount in each iteration.
  bool is_counter(ValueId value, unsigned depth) const {
    if (depth == kMostDepth) return false;
    if (const Phi* phi = kernel_.phi_of(value)) {
      const BlockId b = kernel_.values[value].block;
      return b == header() && advances(*phi, b);
    }
    const Inst* const inst = kernel_.instruction_of(value);
    if (inst == nullptr || inst->guard != kNone || has_effects(*inst->ptx)) return false;
    unsigned counters = 0;
    for (const auto& read : inst->reads) {
      if (is_invariant(read.second)) continue;
      if (!is_counter(read.second, depth + 1)) return false;
      ++counters;
    }
    return counters == 1;
  }

  bool advances(const Phi& phi, BlockId at) const {
    const auto& preds = kernel_.blocks[at].preds;
    for (size_t slot = 0; slot < preds.size(); ++slot) {
      if (!shapes_.loops.contains(loop_, preds[slot])) continue;
      if (!is_advanced(phi.inputs[slot], phi.result, 0)) return false;
    }
    return true;
  }

  /// True if `value` is `start` plus or minus a loop invariant.
  bool is_advanced(ValueId value, ValueId start, unsigned depth) const {
    const Inst* const inst = kernel_.instruction_of(value);
    if (inst == nullptr || inst->guard != kNone || depth == kMostDepth) return false;
    const Opcode opcode = inst->ptx->opcode;
    const bool moves = opcode == Opcode::mov || opcode == Opcode::cvt;
    if (!moves && opcode != Opcode::add && opcode != Opcode::sub) return false;
    unsigned starts = 0;
    for (const auto& read : inst->reads) {
      if (is_invariant(read.second)) continue;
      if (read.second != start && !is_advanced(read.second, start, depth + 1)) return false;
      ++starts;
    }
    return starts == 1;
  }

  bool leaves(BlockId b) const {
    const auto& succs = kernel_.blocks[b].succs;
    return std::any_of(succs.begin(), succs.end(),
                       [&](BlockId succ) { return !shapes_.loops.contains(loop_, succ); });
  }

  const std::vector<NodeId>& nodes() const { return shapes_.loops.loops[loop_].nodes; }
  BlockId header() const { return shapes_.loops.loops[loop_].header; }

  const Kernel& kernel_;
  const Graph& graph_;
  const Shapes& shapes_;
  const ValueUses& uses_;
  const uint32_t loop_;
  std::vector<const Inst*> strong_;
  std::vector<Load> loads_;  // weak loads
  std::unordered_map<const Inst*, MemoryRef> stores_;
  bool fenced_ = false, has_block_barrier_ = false;
  std::unordered_map<ValueId, Source> sources_;  // the poll that each value depends on
  std::vector<ValueId> open_;
  std::unordered_map<BlockId, std::vector<NodeId>> dependents_;
};

LoopPolls::LoopPolls(const Kernel& kernel, const Graph& graph, const Shapes& shapes,
                     const ValueUses& uses, uint32_t loop)
    : flow_(std::make_unique<Flow>(kernel, graph, shapes, uses, loop)) {}

LoopPolls::~LoopPolls() = default;

const Inst* LoopPolls::at(BlockId block) const { return flow_->at(block); }

}  // namespace km::simt
