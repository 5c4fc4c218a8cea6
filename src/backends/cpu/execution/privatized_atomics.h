// Sums that a thread keeps for itself. Additions to integers in global memory whose old values
// nobody reads may come late: a thread adds to memory of its own as long as it can, and to the
// kernel's when its part of the launch is over.
// simt/plan/memory/privatized_atomics.h decides which kernels may do so.
#pragma once

#include "backends/cpu/memory/address_space.h"
#include "backends/cpu/memory/allocations.h"
#include "simt/abi.h"

namespace km::cpu {

class PrivatizedAtomics {
 public:
  /// At the beginning of a launch: nothing is kept.
  void begin(simt::BlockState& state);
  /// Keeps what is added to this memory from now on, where that pays.
  void keep(simt::BlockState& state, AddressRange memory, uint32_t element_bytes);
  /// Adds what is kept, in generated code's place: a fault is one of the kernel. Keeps none for the
  /// rest of the launch.
  void flush(simt::BlockState& state);
  /// The launch has failed: drops what is kept.
  void drop(simt::BlockState& state);

 private:
  GuardedRange memory_;  // all zero while nothing is kept
  uint32_t element_bytes_ = 0;
};

}  // namespace km::cpu
