#include "simt/plan/read_values.h"

#include <algorithm>

namespace km::simt {

ReadValues::ReadValues(const Kernel& kernel) : is_read_(kernel.values.size()) {
  for (const BasicBlock& block : kernel.blocks) {
    if (block.condition != kNone) is_read_[block.condition] = 1;
    for (const Phi& phi : block.phis) {
      for (ValueId input : phi.inputs) is_read_[input] = 1;
    }
    for (const Inst& each : block.insts) {
      for (const auto& [reg, value] : each.reads) is_read_[value] = 1;
      for (ValueId old : each.old_values) is_read_[old] = 1;
      if (each.guard != kNone) is_read_[each.guard] = 1;
    }
  }
}

bool ReadValues::has_readers(const Inst& inst) const {
  return std::any_of(inst.writes.begin(), inst.writes.end(),
                     [&](const auto& write) { return is_read_[write.second] != 0; });
}

}  // namespace km::simt
