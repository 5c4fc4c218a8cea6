#include "simt/plan/plan.h"

#include <algorithm>

namespace km::simt {

bool Plan::has_spin_loop() const {
  return std::find(spin_loop->begin(), spin_loop->end(), 1) != spin_loop->end();
}

bool Plan::is_in_spin_loop(BlockId block) const {
  const LoopForest& loops = shapes->loops;
  for (uint32_t l = loops.innermost[block]; l != UINT32_MAX; l = loops.loops[l].parent) {
    if ((*spin_loop)[l] != 0) return true;
  }
  return false;
}

bool Plan::is_waiting_edge(uint32_t region, BlockId from, BlockId to) const {
  const auto& step_of = linear[region].step_of;
  if (step_of[to] > step_of[from]) return false;
  if (kernel->irreducible != nullptr) return true;
  const LoopForest& loops = shapes->loops;
  for (uint32_t l = loops.innermost[from]; l != UINT32_MAX; l = loops.loops[l].parent) {
    if (loops.loops[l].header == to) return (*spin_loop)[l] != 0;
  }
  return false;
}

}  // namespace km::simt
