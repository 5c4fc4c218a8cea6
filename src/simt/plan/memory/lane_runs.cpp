#include "simt/plan/memory/lane_runs.h"

#include <algorithm>

#include "base/assert.h"

namespace km::simt {

using ptx::Opcode;
using ptx::Operand;

LaneRun run_of(const Offsets& offsets, uint32_t lane_count) {
  const int64_t step = added(offsets[1], scaled(offsets[0], -1));
  uint32_t lanes = 1;
  while (lanes < lane_count && offsets[lanes] == added(offsets[0], scaled(step, lanes))) ++lanes;
  while ((lanes & (lanes - 1)) != 0) lanes &= lanes - 1;
  KM_ASSERT(lanes != 0 && lane_count % lanes == 0, "runs divide a packet evenly");
  for (uint32_t l = 0; l < lane_count; ++l) {
    const int64_t first = offsets[l & ~(lanes - 1)];
    if (offsets[l] != added(first, scaled(step, l & (lanes - 1)))) return {};
  }
  return {lanes, step};
}

LaneRun LaneRuns::of(ValueId value, unsigned depth) {
  const Shape& shape = plan_.shapes->values[value];
  if (shape.is_uniform()) return {plan_.lanes, 0};
  if (shape.is_offset()) return run_of(plan_.shapes->offsets[shape.offsets], plan_.lanes);
  if (const auto known = runs_.find(value); known != runs_.end()) return known->second;
  if (depth == 0) return {};
  const auto& info = plan_.kernel->values[value];
  if (info.block == kNone) return {};
  runs_[value] = {};  // ends the recursion of a value that depends on itself
  LaneRun run;
  if (const Phi* const phi = plan_.kernel->phi_of(value)) {
    run = of(phi->inputs[0], depth - 1);
  } else {
    run = of(plan_.kernel->blocks[info.block].insts[info.instruction], depth - 1);
  }
  return runs_[value] = run;
}

LaneRun LaneRuns::of(const Inst& inst, const Operand& operand, unsigned depth) {
  if (operand.kind == Operand::Kind::reg) return of(inst.read(operand.reg), depth);
  if (operand.kind == Operand::Kind::immediate) return {plan_.lanes, 0};
  return {};
}

LaneRun LaneRuns::of(const Inst& inst, unsigned depth) {
  const auto& ptx = *inst.ptx;
  const auto source = [&](unsigned i) { return of(inst, ptx.operands[i], depth); };
  const auto sum = [](const LaneRun& a, const LaneRun& b, int64_t sign) -> LaneRun {
    return {std::min(a.lanes, b.lanes), added(a.step, scaled(b.step, sign))};
  };
  const auto product = [&](unsigned i, unsigned k) -> LaneRun {
    const LaneRun a = source(i);
    if (const auto factor = plan_.shapes->constant(inst, ptx.operands[k]))
      return {a.lanes, scaled(a.step, *factor)};
    const LaneRun b = source(k);
    if (a.step != 0 || b.step != 0) return {};
    return sum(a, b, 1);
  };
  switch (ptx.opcode) {
    case Opcode::mov:
    case Opcode::cvt:
    case Opcode::cvta:
      return ptx.operand_count == 2 ? source(1) : LaneRun{};
    case Opcode::add:
      return sum(source(1), source(2), 1);
    case Opcode::sub:
      return sum(source(1), source(2), -1);
    case Opcode::mul:
      return product(1, 2);
    case Opcode::mad:
      return sum(product(1, 2), source(3), 1);
    case Opcode::shl: {
      const LaneRun a = source(1);
      const auto bits = plan_.shapes->constant(inst, ptx.operands[2]);
      if (!bits || *bits < 0 || *bits > 30) return {};
      return {a.lanes, scaled(a.step, int64_t{1} << *bits)};
    }
    case Opcode::ld: {
      const Operand& address = ptx.operands[1];
      if (address.reg == ptx::kNone || ptx.operands[0].kind != Operand::Kind::reg) return {};
      const LaneRun run = of(inst.read(address.reg), depth);
      return run.step == 0 ? run : LaneRun{};
    }
    default:
      return {};
  }
}

}  // namespace km::simt
