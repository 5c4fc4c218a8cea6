// Copies and fills that the fault handler knows by their address range, in assembly of the
// architecture's folder. What they touch may not be there.
#pragma once

#include <cstdint>

extern "C" {
extern const char km_cpu_guarded_begin[], km_cpu_guarded_end[];
/// strnlen().
uint64_t km_cpu_guarded_length(const char* text, uint64_t limit);
}

namespace km::cpu {

using GuardedMove = void(void* destination, const void* source, uint64_t size_bytes);

/// The quickest that this machine runs.
struct GuardedCopies {
  GuardedMove* copy;        // upwards
  GuardedMove* copy_any;    // the same for any machine, without a start-up cost
  GuardedMove* copy_down;   // downwards, for a destination above the source that overlaps it
  GuardedMove* stream;      // past the caches, to a destination that is aligned to 32 bytes
  GuardedMove* fill;        // repeats the first 32 bytes of the source
  GuardedMove* fill_large;  // repeats its first 8 bytes
};
const GuardedCopies& guarded_copies();

}  // namespace km::cpu
