// Accesses to global memory at known distances from one address, whose checks share one piece of
// code: drivers inline each search of the table of allocations, and take minutes for hundreds.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "simt/kernel/kernel.h"

namespace km::spirv {

/// An AccessGroup has the same number of bytes at `count` places, `stride_bytes` apart, after one
/// address.
struct AccessGroup {
  int64_t first_offset = 0;
  uint32_t stride_bytes = 1, count = 0, size_bytes = 0;
};

/// AccessGroups knows the groups of a kernel's loads and stores in one basic block.
class AccessGroups {
 public:
  /// A Member is the place of an access in its group.
  struct Member {
    uint32_t group = 0, index = 0;
  };

  /// The constructor groups what is not in generic space, or everything if `takes_generic`.
  AccessGroups(const simt::Kernel& kernel, bool takes_generic);

  /// find() gives null for an access that is checked alone.
  const Member* find(const simt::Inst& inst) const;
  const AccessGroup& operator[](uint32_t group) const { return groups_[group]; }

 private:
  struct Access {
    const simt::Inst* inst;
    int64_t offset;
  };

  void group_block(const simt::Kernel& kernel, const simt::BasicBlock& block, bool takes_generic);
  void group(std::vector<Access>& accesses, uint32_t size_bytes);
  void add_group(const std::vector<Access>& accesses, uint32_t size_bytes);

  std::vector<AccessGroup> groups_;
  std::map<const simt::Inst*, Member> members_;
};

}  // namespace km::spirv
