#include "spirv/kernel/access_groups.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "ptx/forms.h"
#include "simt/analysis/memory/memory_access.h"

namespace km::spirv {
namespace {

/// The bits of the word that says which places of a group are allocated.
constexpr uint32_t kMostPlaces = 32;
/// Fewer accesses are no more code one by one.
constexpr size_t kFewestAccesses = 3;

bool is_plain(const ptx::Instruction& instruction) {
  const ptx::Family family = ptx::family_of(instruction);
  return (family == ptx::Family::load || family == ptx::Family::store) &&
         !instruction.has(ptx::Modifier::bulk) && !instruction.has(ptx::Modifier::async);
}

}  // namespace

AccessGroups::AccessGroups(const simt::Kernel& kernel, bool takes_generic) {
  for (const simt::BasicBlock& block : kernel.blocks) group_block(kernel, block, takes_generic);
}

const AccessGroups::Member* AccessGroups::find(const simt::Inst& inst) const {
  const auto found = members_.find(&inst);
  return found == members_.end() ? nullptr : &found->second;
}

void AccessGroups::group_block(const simt::Kernel& kernel, const simt::BasicBlock& block,
                               bool takes_generic) {
  std::map<std::tuple<simt::ValueId, ptx::Space, uint64_t>, std::vector<Access>> by_address;
  for (const simt::Inst& inst : block.insts) {
    if (!is_plain(*inst.ptx)) continue;
    const auto access = simt::memory_access(kernel, inst);
    if (!access || access->place->symbol != ptx::kNone || access->place->reg == ptx::kNone) {
      continue;
    }
    const bool is_global = access->space == ptx::Space::global ||
                           (takes_generic && access->space == ptx::Space::generic);
    if (!is_global) continue;
    const simt::ValueId base = inst.read(access->place->reg);
    by_address[{base, access->space, access->size_bytes}].push_back({&inst, access->place->offset});
  }
  for (auto& [key, accesses] : by_address) {
    group(accesses, static_cast<uint32_t>(std::get<uint64_t>(key)));
  }
}

/// Cuts accesses from one address into groups whose places a word has bits for.
void AccessGroups::group(std::vector<Access>& accesses, uint32_t size_bytes) {
  std::sort(accesses.begin(), accesses.end(),
            [](const Access& x, const Access& y) { return x.offset < y.offset; });
  std::vector<Access> current;
  uint64_t stride_bytes = 0;
  for (const Access& access : accesses) {
    const uint64_t span_bytes =
        current.empty() ? 0 : static_cast<uint64_t>(access.offset - current[0].offset);
    const uint64_t stride = std::gcd(stride_bytes, span_bytes);
    const bool fits = stride == 0 || (span_bytes / stride < kMostPlaces && stride <= UINT32_MAX);
    if (!fits) {
      add_group(current, size_bytes);
      current.clear();
    }
    stride_bytes = fits ? stride : 0;
    current.push_back(access);
  }
  add_group(current, size_bytes);
}

void AccessGroups::add_group(const std::vector<Access>& accesses, uint32_t size_bytes) {
  if (accesses.size() < kFewestAccesses) return;
  AccessGroup made{accesses[0].offset, 1, 1, size_bytes};
  uint64_t stride_bytes = 0;
  for (const Access& access : accesses) {
    stride_bytes = std::gcd(stride_bytes, static_cast<uint64_t>(access.offset - made.first_offset));
  }
  made.stride_bytes = static_cast<uint32_t>(std::max<uint64_t>(stride_bytes, 1));
  for (const Access& access : accesses) {
    const auto index =
        static_cast<uint32_t>((access.offset - made.first_offset) / made.stride_bytes);
    members_[access.inst] = {static_cast<uint32_t>(groups_.size()), index};
    made.count = std::max(made.count, index + 1);
  }
  groups_.push_back(made);
}

}  // namespace km::spirv
