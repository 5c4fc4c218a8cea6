// LaneHelpers, out-of-line functions for accesses whose lanes have arbitrary addresses.
#pragma once

#include "simt/codegen/addresses.h"

namespace km::simt {

/// Creates the functions that gather, scatter and test alignment. `scale` is the element size if
/// lanes are passed as indices from a base, or 0 if they are passed as addresses.
class LaneHelpers : public Room {
 public:
  LaneHelpers(CodeBuilder& builder, const CodePlan& plan) : Room(builder, plan) {}

  /// A function that loads the elements of active lanes and gives zero for others. If all lanes are
  /// active, it inserts each loaded element into a register: storing elements and reloading the
  /// vector would stall on the store buffer.
  llvm::Function* gather_helper(llvm::Type* element, bool is_volatile, uint32_t scale);
  /// A function that stores the elements of active lanes, lowest lane first, so that the highest
  /// lane wins if addresses are equal.
  llvm::Function* scatter_helper(llvm::Type* element, bool is_volatile, uint32_t scale);
  /// A function that ends the launch if a lane of `bits` is not aligned to the access's size. Its
  /// arguments are the addresses, `bits`, the AccessSite, the RuntimeTable and the BlockState.
  llvm::Function* alignment_helper(uint32_t scale);
};

}  // namespace km::simt
