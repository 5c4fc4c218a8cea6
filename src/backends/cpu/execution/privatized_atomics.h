// Privatized atomics: a thread's own partial sums. Additions to integers in global memory whose old
// values are not used may be delayed: a thread adds to a private copy and flushes it to the
// kernel's memory when its part of the launch ends. simt/plan/memory/privatized_atomics.h decides
// which kernels may do so.
#pragma once

#include "backends/cpu/memory/address_space.h"
#include "backends/cpu/memory/allocations.h"
#include "simt/abi.h"

namespace km::cpu {

class PrivatizedAtomics {
 public:
  /// Called at the beginning of a launch, without partial sums.
  void begin(simt::BlockState& state);
  /// Starts to accumulate additions to this memory if that pays.
  void keep(simt::BlockState& state, AddressRange memory, uint32_t element_bytes);
  /// Adds the partial sums to memory as if generated code did, so that a fault belongs to the
  /// kernel. Stops accumulating for the rest of the launch.
  void flush(simt::BlockState& state);
  /// Drops the partial sums of a launch that failed.
  void drop(simt::BlockState& state);

 private:
  GuardedRange memory_;  // all zero while there are no partial sums
  uint32_t element_bytes_ = 0;
};

}  // namespace km::cpu
