// The layout of a kernel's variables in shared and local memory.
#pragma once

#include <map>
#include <utility>

#include "simt/kernel/kernel.h"

namespace km::simt {

struct MemoryLayout {
  /// Offsets, indexed by (is local symbol, symbol id).
  std::map<std::pair<bool, ptx::SymbolId>, uint64_t> shared, local;
  uint64_t shared_static_bytes = 0;  // dynamic shared memory starts at dynamic_offset()
  uint64_t local_bytes = 0;          // per thread
  uint64_t local_align_bytes = 16;   // of each thread's local memory

  uint64_t dynamic_offset() const { return (shared_static_bytes + 15) / 16 * 16; }
  /// The distance between the local memories of adjacent lanes. It is an odd multiple of the
  /// alignment: a power of two would map the lanes to one cache set.
  uint64_t local_stride_bytes() const {
    const uint64_t units = (local_bytes + local_align_bytes - 1) / local_align_bytes;
    if (units == 0) return 0;
    return (units | 1) * local_align_bytes;
  }
};

MemoryLayout lay_out(const ptx::Module& module, const ptx::Function& function);

}  // namespace km::simt
