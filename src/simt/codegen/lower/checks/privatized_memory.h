// The memory of privatized additions (plan/memory/privatized_atomics.h), which a thread has for
// itself, and the tests of other accesses against it.
#pragma once

#include "simt/analysis/memory/memory_access.h"
#include "simt/codegen/addresses.h"

namespace km::simt {

/// Finds the places of privatized additions in the memory that the runtime keeps for them.
class PrivatizedMemory : public Room {
 public:
  /// The places of all lanes.
  struct Places {
    Value* are_privatized = nullptr;  // i1: all active lanes have a place there
    Value* offsets = nullptr;         // i32 of every lane, from its beginning
  };

  PrivatizedMemory(CodeBuilder& builder, const CodePlan& plan, LaunchFrame& frame,
                   Addresses& addresses)
      : Room(builder, plan), frame_(frame), addresses_(addresses) {}

  /// Flushes privatized additions if another access may go to where they belong.
  void flush_if_overlapping(const MemoryAccess& access, const Inst& inst, const Address& address);
  /// True if additions at an address are privatized.
  Value* is_privatized(Value* at);
  /// The place of such an address.
  Value* copy_of(Value* at);
  /// Counts an addition to memory; after some of them the runtime is asked to privatize
  /// those.
  void count_down(Value* at, llvm::Type* element);
  /// Finds the places of the lanes' additions.
  Places places_of(const Address& address);
  /// A field of the BlockState that says what is privatized.
  Value* field(uint64_t offset);

 private:
  Places indexed_places(const LaneIndex& index);

  LaunchFrame& frame_;
  Addresses& addresses_;
};

}  // namespace km::simt
