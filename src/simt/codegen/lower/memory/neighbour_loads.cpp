#include "simt/codegen/lower/memory/neighbour_loads.h"

#include <algorithm>
#include <functional>

namespace km::simt {

using ptx::Opcode;
using ptx::Operand;

namespace {

constexpr size_t kMostLooked = 512;  // instructions searched for neighbours of a load

/// True for a load of one element that may be executed earlier, because no other thread can observe
/// when it happens.
bool is_plain_load(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  return ptx.opcode == Opcode::ld && inst.guard == kNone &&
         ptx.operands[0].kind == Operand::Kind::reg && ptx.operands[1].symbol == ptx::kNone &&
         ptx.operands[1].reg != ptx::kNone && !is_strong_access(ptx);
}

}  // namespace

/// The loads that form a row with `first`: two or four contiguous elements from the same base
/// register, in ascending order of addresses. Only loads before the next side effect qualify. Empty
/// if there is no row.
std::vector<const Inst*> NeighbourLoads::row_of_loads(const Inst& first) const {
  if (!is_plain_load(first) || plan_.variant.checked) return {};
  const auto& insts = plan_.kernel->blocks[builder_.position().block].insts;
  const std::less<const Inst*> before;
  if (before(&first, insts.data()) || !before(&first, insts.data() + insts.size())) return {};
  const auto& ptx = *first.ptx;
  const ValueId base = first.read(ptx.operands[1].reg);
  const auto size = static_cast<int64_t>(ptx::size_bytes(ptx.types[ptx.type_count - 1]));
  std::map<int64_t, const Inst*> by_offset;
  const auto begin = static_cast<size_t>(&first - insts.data());
  const size_t end = std::min(insts.size(), begin + kMostLooked);
  for (auto inst = insts.begin() + begin; inst != insts.begin() + end; ++inst) {
    const bool loads = is_plain_load(*inst);
    if (!loads && has_effects(*inst->ptx)) break;
    const bool same = loads && inst->ptx->modifiers == ptx.modifiers &&
                      inst->ptx->types == ptx.types &&
                      inst->read(inst->ptx->operands[1].reg) == base;
    if (same) by_offset.emplace(inst->ptx->operands[1].offset, &*inst);
  }
  const int64_t own = ptx.operands[1].offset;
  int64_t low = own, high = own;
  while (by_offset.count(low - size) != 0) low -= size;
  while (by_offset.count(high + size) != 0) high += size;
  for (const int64_t row : {16 / size, 8 / size}) {
    if (row < 2) continue;
    const int64_t start = low + (own - low) / (row * size) * row * size;
    if (start + (row - 1) * size > high) continue;
    std::vector<const Inst*> members;
    for (int64_t i = 0; i < row; ++i) members.push_back(by_offset[start + i * size]);
    return members;
  }
  return {};
}

llvm::Value* NeighbourLoads::load(const Inst& inst, const Address& address, const Access& access) {
  if (const auto known = loaded_.find(&inst); known != loaded_.end()) {
    llvm::Value* content = known->second;
    loaded_.erase(known);
    return content;
  }
  if (address.lanes == nullptr || access.count != 1 || access.is_volatile) return nullptr;
  const std::vector<const Inst*> members = row_of_loads(inst);
  if (members.empty()) return nullptr;
  Access row = access;
  row.count = static_cast<unsigned>(members.size());
  const int64_t back = members[0]->ptx->operands[1].offset - inst.ptx->operands[1].offset;
  llvm::Value* lanes = builder_.ir().CreateAdd(
      address.lanes, builder_.splat(builder_.i64(static_cast<uint64_t>(back))));
  const std::vector<llvm::Value*> contents = rows_.load(row, lanes);
  llvm::Value* own = nullptr;
  for (size_t i = 0; i < members.size(); ++i) {
    if (members[i] == &inst) {
      own = contents[i];
    } else {
      loaded_[members[i]] = contents[i];
    }
  }
  return own;
}

}  // namespace km::simt
