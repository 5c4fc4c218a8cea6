#include "simt/transform/exact_reads.h"

#include <set>

namespace km::simt {

std::vector<ValueId> exact_reads(const Kernel& kernel, const Shapes& shapes, ValueId value) {
  std::vector<ValueId> result, pending{value};
  std::set<ValueId> seen{value};
  while (!pending.empty()) {
    const ValueId at = pending.back();
    pending.pop_back();
    if (!shapes.values[at].speculative) {
      if (at != value) result.push_back(at);
      continue;
    }
    const Value& made = kernel.values[at];
    for (const auto& read : kernel.blocks[made.block].insts[made.instruction].reads) {
      if (seen.insert(read.second).second) pending.push_back(read.second);
    }
  }
  return result;
}

void keep_exact_reads(const Kernel& kernel, const Shapes& shapes, Regions& regions) {
  for (std::vector<ValueId>& live_in : regions.live_in) {
    std::set<ValueId> kept(live_in.begin(), live_in.end());
    for (ValueId value : live_in) {
      for (ValueId read : exact_reads(kernel, shapes, value)) {
        if (!is_rematerialised(kernel, read)) kept.insert(read);
      }
    }
    live_in.assign(kept.begin(), kept.end());
  }
}

}  // namespace km::simt
