#include "simt/codegen/lower/checks/joint_accesses.h"

#include <algorithm>
#include <functional>

namespace km::simt {

using ptx::Opcode;

bool JointAccesses::are_side_by_side(const MemoryAccess& access) const {
  return access.space == ptx::Space::local && plan_.layout->is_side_by_side();
}

/// True if the instruction is one of the current basic block, and not one that was made up for it.
bool JointAccesses::is_here(const Inst& inst) const {
  const auto& insts = kernel_.blocks[position_.block].insts;
  const std::less<const Inst*> before;
  return !before(&inst, insts.data()) && before(&inst, insts.data() + insts.size());
}

size_t JointAccesses::index_of(const Inst& inst) const {
  return static_cast<size_t>(&inst - kernel_.blocks[position_.block].insts.data());
}

/// The first instruction from `index` on that may end the code before the rest.
size_t JointAccesses::stop_after(size_t index) const {
  const auto stop = std::upper_bound(block_.stops.begin(), block_.stops.end(), index);
  return stop != block_.stops.end() ? *stop : kernel_.blocks[position_.block].insts.size();
}

/// Collects the accesses of the current basic block. The first access of a basic block does this
/// for all of them.
void JointAccesses::note_block_accesses() {
  if (block_.block == position_.block) return;
  block_ = {position_.block, {}, {}};
  const auto& insts = kernel_.blocks[position_.block].insts;
  for (size_t i = 0; i < insts.size(); ++i) {
    const Opcode opcode = insts[i].ptx->opcode;
    if (opcode == Opcode::call || opcode == Opcode::trap) block_.stops.push_back(i);
    const auto access = memory_access(kernel_, insts[i]);
    if (!access || access->place->reg == ptx::kNone) continue;
    const ValueId base = insts[i].read(access->place->reg);
    block_.places[{base, access->space}].emplace_back(i, *access);
  }
}

std::vector<MemoryAccess> JointAccesses::list_from(const Inst& inst, const MemoryAccess& access) {
  std::vector<MemoryAccess> list{access};
  if (access.place->reg == ptx::kNone || !is_here(inst)) return list;
  note_block_accesses();
  const size_t at = index_of(inst), stop = stop_after(at);
  for (const auto& [place, each] : block_.places[{inst.read(access.place->reg), access.space}]) {
    if (place > at && place < stop) list.push_back(each);
  }
  return list;
}

JointAccesses::Group* JointAccesses::group_of(const Inst& inst, const MemoryAccess& access) {
  const bool is_alone = access.place->reg == ptx::kNone || are_side_by_side(access);
  if (is_alone || !is_here(inst)) return nullptr;
  const size_t at = index_of(inst);
  Group& group = groups_[{inst.read(access.place->reg), access.space}];
  if (at >= group.end) {
    const std::vector<MemoryAccess> list = list_from(inst, access);
    group = {.first = &inst, .end = stop_after(at), .count = list.size()};
    for (const MemoryAccess& each : list) {
      const int64_t offset = each.place->offset - access.place->offset;
      group.low_bytes = std::min(group.low_bytes, offset);
      group.high_bytes = std::max(group.high_bytes, offset + static_cast<int64_t>(each.size_bytes));
    }
  }
  return group.count > 1 ? &group : nullptr;
}

}  // namespace km::simt
