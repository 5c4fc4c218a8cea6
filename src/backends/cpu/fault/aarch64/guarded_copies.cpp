#include "backends/cpu/fault/guarded_copies.h"

extern "C" {
km::cpu::GuardedMove km_cpu_copy, km_cpu_stream, km_cpu_copy_down, km_cpu_fill, km_cpu_fill_large;
}

namespace km::cpu {

const GuardedCopies& guarded_copies() {
  static constexpr GuardedCopies kCopies = {km_cpu_copy,   km_cpu_copy, km_cpu_copy_down,
                                            km_cpu_stream, km_cpu_fill, km_cpu_fill_large};
  return kCopies;
}

}  // namespace km::cpu
