// The sums that a thread keeps for itself (plan/privatized_atomics.h): where they are, and what
// other accesses have to do with them.
#pragma once

#include "simt/analysis/memory_access.h"
#include "simt/codegen/addresses.h"

namespace km::simt {

/// Finds the places of privatized additions in the memory that the runtime keeps for them.
class PrivateSums : public Room {
 public:
  /// The places of all lanes.
  struct SumPlaces {
    Value* are_kept = nullptr;  // i1: sums of all active lanes are kept
    Value* offsets = nullptr;   // i32 of every lane, from where sums are kept
  };

  PrivateSums(CodeBuilder& builder, const CodePlan& plan, LaunchFrame& frame, Addresses& addresses)
      : Room(builder, plan), frame_(frame), addresses_(addresses) {}

  /// Gives the kept sums to memory if another access may go to where they belong.
  void check_kept_sums(const MemoryAccess& access, const Inst& inst, const Address& address);
  /// True if the sum at an address is kept.
  Value* holds_kept_sum(Value* at);
  /// The address at which that sum is kept.
  Value* kept_sum_at(Value* at);
  /// Counts an addition to memory; after some of them it asks the runtime to keep what is added
  /// there.
  void note_sum_outside(Value* at, llvm::Type* element);
  /// Finds the places at which the lanes' sums are kept.
  SumPlaces sum_places(const Address& address);
  /// A field of the BlockState that says where sums are kept.
  Value* sums_field(uint64_t offset);

 private:
  SumPlaces indexed_sum_places(const LaneIndex& index);

  LaunchFrame& frame_;
  Addresses& addresses_;
};

}  // namespace km::simt
