#include "simt/plan/code/idle_packets.h"

#include <algorithm>

namespace km::simt {

using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;

namespace {

enum class Order : uint8_t { less, other_than_less, zero, other_than_zero, unknown };

/// The order that a comparison tests, with the thread's index on the left.
Order order_of(const ptx::Instruction& compare, const Operand& right) {
  const auto has = [&](Modifier a, Modifier b) { return compare.has(a) || compare.has(b); };
  const bool with_zero = right.kind == Operand::Kind::immediate && right.bits == 0;
  if (has(Modifier::lt, Modifier::lo) || has(Modifier::le, Modifier::ls)) return Order::less;
  if (has(Modifier::ge, Modifier::hs) || has(Modifier::gt, Modifier::hi)) {
    return Order::other_than_less;
  }
  if (with_zero && compare.has(Modifier::eq)) return Order::zero;
  if (with_zero && compare.has(Modifier::ne)) return Order::other_than_zero;
  return Order::unknown;
}

}  // namespace

void IdlePackets::begin(uint32_t region) {
  region_ = region;
  leaves_values_.reset();
  active_before_.clear();
  workers_ = find_workers();
}

/// True for the thread's index, if the block is a single row.
bool IdlePackets::is_thread_number(const Inst& inst, const Operand& operand) const {
  const auto& block = plan_.variant.block;
  if (operand.kind != Operand::Kind::reg || operand.negated || block[0] == 0 ||
      uint64_t{block[1]} * block[2] != 1) {
    return false;
  }
  constexpr unsigned kMaxConversions = 8;
  ValueId value = inst.read(operand.reg);
  for (unsigned i = 0; i < kMaxConversions; ++i) {
    const Inst* const source = plan_.kernel->instruction_of(value);
    if (source == nullptr || source->guard != kNone) return false;
    const Operand& from = source->ptx->operands[1];
    if (is_word_conversion(*source->ptx) && from.kind == Operand::Kind::reg && !from.negated) {
      value = source->read(from.reg);
      continue;
    }
    return source->ptx->opcode == Opcode::mov && from.kind == Operand::Kind::special &&
           from.special == ptx::SpecialRegister::tid && from.component == 0;
  }
  return false;
}

/// The threads for which the branch at the end of `block` takes successor `slot`, if these are the
/// threads below a number that is uniform for the block.
std::optional<IdlePackets::LowThreads> IdlePackets::low_threads(const BasicBlock& block,
                                                                size_t slot) const {
  if (block.terminator != Terminator::branch || block.succs[0] == block.succs[1])
    return std::nullopt;
  const auto& condition = plan_.kernel->values[block.condition];
  if (condition.block == kNone || condition.instruction == kNone) return std::nullopt;
  const Inst& compare = plan_.kernel->blocks[condition.block].insts[condition.instruction];
  const auto& ptx = *compare.ptx;
  if (ptx.opcode != Opcode::setp || compare.guard != kNone || ptx.operand_count != 3 ||
      ptx.operands[0].kind != Operand::Kind::reg || !ptx::is_integer(ptx.types[0]) ||
      ptx::size_bits(ptx.types[0]) != 32 || !is_thread_number(compare, ptx.operands[1])) {
    return std::nullopt;
  }
  const Operand& right = ptx.operands[2];
  bool is_same = right.kind == Operand::Kind::immediate;
  if (right.kind == Operand::Kind::reg && !right.negated) {
    const Shape shape = plan_.shapes->at(*plan_.kernel, compare.read(right.reg), condition.block);
    is_same = shape.is_uniform() && shape.block_uniform;
  }
  if (!is_same) return std::nullopt;
  const bool where_true = (slot == 0) != block.condition_negated;
  const Order order = order_of(ptx, right);
  const bool are_low = where_true
                           ? order == Order::less || order == Order::zero
                           : order == Order::other_than_less || order == Order::other_than_zero;
  if (!are_low) return std::nullopt;
  if (order == Order::zero || order == Order::other_than_zero) return LowThreads{1};
  const auto bound = plan_.shapes->constant(compare, right);
  if (!bound) return LowThreads{};
  const bool or_equal = ptx.has(Modifier::le) || ptx.has(Modifier::ls) || ptx.has(Modifier::gt) ||
                        ptx.has(Modifier::hi);
  const int64_t wide =
      ptx::is_signed(ptx.types[0]) ? static_cast<int32_t>(*bound) : static_cast<uint32_t>(*bound);
  return LowThreads{static_cast<uint64_t>(std::max<int64_t>(wide + (or_equal ? 1 : 0), 0))};
}

/// The end of the steps [first, end) that control reaches only through `first`.
uint32_t IdlePackets::end_of_run(uint32_t first) const {
  const LinearPlan& plan = plan_.linear[region_];
  uint32_t end = first + 1;
  const auto is_inside = [&](BlockId pred) {
    const uint32_t from = plan.step_of[pred];
    return from == kEndOfRegion || plan_.kernel->blocks[pred].terminator == Terminator::barrier ||
           from >= first;
  };
  for (; end < plan.steps.size(); ++end) {
    const auto& preds = plan_.kernel->blocks[plan.steps[end].block].preds;
    if (!std::all_of(preds.begin(), preds.end(), is_inside)) break;
  }
  return end;
}

/// True if the block has no effect except to let the packet continue as all others do.
bool IdlePackets::is_passive(BlockId b, bool may_part) const {
  const BasicBlock& block = plan_.kernel->blocks[b];
  if (!may_part && (plan_.shapes->divergent_branch[b] || plan_.shapes->warp_branch[b])) {
    return false;
  }
  return std::all_of(block.insts.begin(), block.insts.end(), [&](const Inst& inst) {
    const bool at_end = block.terminator == Terminator::barrier && &inst == &block.insts.back();
    if (at_end) return inst.writes.empty();
    return !has_effects(*inst.ptx) || plan_.kernel->loads_parameter(inst);
  });
}

/// True if a packet must write its own slots at a barrier that ends the region.
bool IdlePackets::find_left_values() const {
  const Region& region = plan_.regions.list[region_];
  for (BlockId b : region.blocks) {
    if (plan_.kernel->blocks[b].terminator != Terminator::barrier) continue;
    for (const SpillKey& key : spills_.saves(region_, b)) {
      if (!spills_.slot(key).block_uniform) return true;
    }
  }
  return false;
}

bool IdlePackets::leaves_values() {
  if (!leaves_values_) leaves_values_ = find_left_values();
  return *leaves_values_;
}

/// The number of steps in [first, end) that have an effect or a divergent branch.
uint32_t IdlePackets::active_steps(uint32_t first, uint32_t end) {
  const auto& steps = plan_.linear[region_].steps;
  if (active_before_.empty()) {
    active_before_.push_back(0);
    for (const Step& step : steps) {
      active_before_.push_back(active_before_.back() + (is_passive(step.block, false) ? 0 : 1));
    }
  }
  return active_before_[end] - active_before_[first];
}

bool IdlePackets::is_rest_idle(uint32_t step) {
  const bool may = plan_.splits_at_barriers && plan_.packets > 1 && step != kEndOfRegion &&
                   !masks_.is_masked(region_) && !masks_.leads_to_masked(region_);
  const bool counts = (plan_.variant.tools & check_tool::kCounters) != 0;  // idle packets, too
  if (!may || counts) return false;
  const LinearPlan& plan = plan_.linear[region_];
  const auto& preds = plan_.kernel->blocks[plan.steps[step].block].preds;
  if (preds.size() != 1) return false;
  const BasicBlock& from = plan_.kernel->blocks[preds[0]];
  const size_t slot = from.succs[0] == plan.steps[step].block ? 0 : 1;
  const uint32_t branch = plan.step_of[preds[0]];
  const bool is_once = branch < step && plan.loops.innermost[branch] == UINT32_MAX;
  if (!is_once || !low_threads(from, slot)) return false;
  // Everything else must be passive, except that lanes diverge at the branch itself.
  const uint32_t end = end_of_run(step), count = static_cast<uint32_t>(plan.steps.size());
  const uint32_t others =
      active_steps(0, branch) + active_steps(branch + 1, step) + active_steps(end, count);
  return others == 0 && is_passive(preds[0], true) && !leaves_values();
}

std::optional<Workers> IdlePackets::find_workers() {
  const LinearPlan& plan = plan_.linear[region_];
  for (uint32_t i = 0; i < plan.steps.size(); ++i) {
    if (!is_rest_idle(i)) continue;
    const BlockId to = plan.steps[i].block;
    const BlockId branch = plan_.kernel->blocks[to].preds[0];
    const size_t slot = plan_.kernel->blocks[branch].succs[0] == to ? 0 : 1;
    const auto low = low_threads(plan_.kernel->blocks[branch], slot);
    if (!low->count || *low->count == 0) continue;
    const uint64_t all = uint64_t{plan_.packets} * plan_.lanes;
    return Workers{branch, slot, static_cast<uint32_t>(std::min(*low->count, all))};
  }
  return std::nullopt;
}

}  // namespace km::simt
