// PrivatizedMemory, a thread's own memory for privatised additions
// (plan/memory/privatized_atomics.h), and the tests of other accesses against it.
#pragma once

#include "simt/analysis/memory/memory_access.h"
#include "simt/codegen/addresses.h"

namespace km::simt {

/// Maps addresses of privatised additions to the private memory that holds the sums.
class PrivatizedMemory : private EmitterBase {
 public:
  /// The private places of all lanes.
  struct Places {
    Value* are_privatized = nullptr;  // i1: all active lanes are privatised
    Value* offsets = nullptr;         // i32 for each lane, from the start of the private memory
  };

  PrivatizedMemory(CodeBuilder& builder, const CodePlan& plan, LaunchFrame& frame,
                   Addresses& addresses)
      : EmitterBase(builder, plan), frame_(frame), addresses_(addresses) {}

  /// Adds the private sums to memory before an access that may overlap them, because a thread must
  /// see its own additions.
  void flush_if_overlapping(const MemoryAccess& access, const Inst& inst, const Address& address);
  /// True if additions at an address are privatised.
  Value* is_privatized(Value* at);
  /// The private place of a privatised address.
  Value* copy_of(Value* at);
  /// Counts an addition that is not privatised. When the countdown ends, the runtime is asked to
  /// privatise the allocation, since a rarely used one would not repay it.
  void count_down(Value* at, llvm::Type* element);
  /// The private places of the active lanes' additions.
  Places places_of(const Address& address);
  /// A field of the BlockState that describes the private memory.
  Value* field(uint64_t offset);

 private:
  Places indexed_places(const LaneIndex& index);

  LaunchFrame& frame_;
  Addresses& addresses_;
};

}  // namespace km::simt
