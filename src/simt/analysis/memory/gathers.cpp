#include "simt/analysis/memory/gathers.h"

#include <algorithm>

namespace km::simt {

namespace {

using ptx::Modifier;
using ptx::Opcode;

/// True for an access to memory that is or may be global.
bool is_global_access(const ptx::Instruction& ptx) {
  return !ptx.has(Modifier::shared) && !ptx.has(Modifier::shared_cta) &&
         !ptx.has(Modifier::shared_cluster) && !ptx.has(Modifier::local);
}

bool is_plain(const ptx::Instruction& ptx) {
  switch (ptx.opcode) {
    case Opcode::ld:
    case Opcode::ldu:
    case Opcode::st:
      return is_global_access(ptx) && !is_strong_access(ptx);
    case Opcode::div:
    case Opcode::rem:
    case Opcode::bra:
    case Opcode::ret:
    case Opcode::exit:
    case Opcode::shfl:
      return true;
    default:
      return !has_effects(ptx);
  }
}

struct Counts {
  size_t gathers = 0, others = 0;
};

Counts counts_in(const Kernel& kernel, const Shapes& shapes, BlockId block) {
  Counts counts;
  for (const Inst& inst : kernel.blocks[block].insts) {
    const auto& place = inst.ptx->operands[1];
    const bool loads = inst.ptx->opcode == Opcode::ld && place.reg != ptx::kNone;
    const bool gathers = loads && shapes.at(kernel, inst.read(place.reg), block).is_varying();
    ++(gathers ? counts.gathers : counts.others);
  }
  return counts;
}

}  // namespace

bool is_bound_by_gathers(const Kernel& kernel, const Shapes& shapes) {
  constexpr size_t kMostOthers = 4;  // other instructions per gather
  const auto& loops = shapes.loops;
  if (std::find(shapes.divergent_loop.begin(), shapes.divergent_loop.end(), 1) ==
      shapes.divergent_loop.end()) {
    return false;
  }
  Counts total;
  for (BlockId b = 0; b < kernel.blocks.size(); ++b) {
    for (const Inst& inst : kernel.blocks[b].insts) {
      if (!is_plain(*inst.ptx)) return false;
    }
    const uint32_t loop = loops.innermost[b];
    if (loop == UINT32_MAX) continue;
    if (shapes.divergent_loop[loop] == 0) return false;
    const Counts own = counts_in(kernel, shapes, b);
    total.gathers += own.gathers;
    total.others += own.others;
  }
  return total.gathers != 0 && total.others <= kMostOthers * total.gathers;
}

bool all_values_are_uniform(const Shapes& shapes) {
  return std::all_of(shapes.values.begin(), shapes.values.end(),
                     [](const Shape& shape) { return shape.is_uniform(); });
}

}  // namespace km::simt
