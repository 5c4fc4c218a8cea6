// Copies and fills in the architecture's assembly that may touch inaccessible memory. The fault
// handler recognises them by their address range.
#pragma once

#include <cstdint>

extern "C" {
extern const char km_cpu_guarded_begin[], km_cpu_guarded_end[];
/// Implements strnlen().
uint64_t km_cpu_guarded_length(const char* text, uint64_t limit);
}

namespace km::cpu {

using GuardedMove = void(void* destination, const void* source, uint64_t size_bytes);

/// The fastest variants that this machine runs.
struct GuardedCopies {
  GuardedMove* copy;       // ascending addresses
  GuardedMove* copy_any;   // like copy, for small sizes: without vectors that take time to power up
  GuardedMove* copy_down;  // descending addresses, for an overlapping destination above the source
  GuardedMove* stream;     // bypasses the caches; the destination is aligned to 32 bytes
  GuardedMove* fill;       // repeats the first 32 bytes of the source
  GuardedMove* fill_large;  // repeats the first 8 bytes of the source
};
const GuardedCopies& guarded_copies();

}  // namespace km::cpu
