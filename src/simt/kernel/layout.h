// The layout of a kernel's variables in shared and local memory.
#pragma once

#include <map>
#include <utility>

#include "base/integers.h"
#include "simt/kernel/kernel.h"

namespace km::simt {

struct MemoryLayout {
  /// Offsets, indexed by (is local symbol, symbol id).
  std::map<std::pair<bool, ptx::SymbolId>, uint64_t> shared, local;
  uint64_t shared_static_bytes = 0;  // dynamic shared memory starts at dynamic_offset()
  uint64_t local_bytes = 0;          // per thread
  uint64_t local_align_bytes = 16;   // of each thread's local memory
  /// The size of the elements of local memory that lanes have side by side, as a GPU does: what all
  /// lanes access at one index is contiguous. 0: the memory of each lane is contiguous. An address
  /// is base + distance of the lane + offset either way; side by side, the element lies at base +
  /// distance of the lane + offset * lanes (Addresses::side_by_side()).
  uint64_t local_element_bytes = 0;

  uint64_t dynamic_offset() const { return (shared_static_bytes + 15) / 16 * 16; }
  /// True if the lanes' elements of local memory lie side by side.
  bool is_side_by_side() const { return local_element_bytes != 0; }
  /// The distance between the addresses of adjacent lanes' local memories. Where each has memory of
  /// its own it is an odd multiple of the alignment: a power of two would map the lanes to one
  /// cache set.
  uint64_t local_stride_bytes() const {
    if (is_side_by_side()) return local_element_bytes;
    const uint64_t units = (local_bytes + local_align_bytes - 1) / local_align_bytes;
    if (units == 0) return 0;
    return (units | 1) * local_align_bytes;
  }
  /// The size of the local memory of a packet.
  uint64_t local_packet_bytes(uint64_t lanes) const {
    return (is_side_by_side() ? round_up(local_bytes, local_align_bytes) : local_stride_bytes()) *
           lanes;
  }
};

MemoryLayout lay_out(const ptx::Module& module, const ptx::Function& function);

}  // namespace km::simt
