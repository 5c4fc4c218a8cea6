// Out-of-line functions for accesses at an address of every lane's own.
#pragma once

#include "simt/codegen/addresses.h"

namespace km::simt {

/// Makes the functions that gather, scatter and test alignment. `scale`: lanes have an index into
/// an array of elements of that size; 0: an address each.
class LaneHelpers : public Room {
 public:
  LaneHelpers(CodeBuilder& builder, const CodePlan& plan) : Room(builder, plan) {}

  /// Loads elements at the active lanes' places, zero elsewhere. All lanes active: straight loads
  /// into registers (never through the stack, which stalls on the store buffer).
  llvm::Function* gather_helper(llvm::Type* element, bool is_volatile, uint32_t scale);
  /// Stores the active lanes' elements, lowest lane first.
  llvm::Function* scatter_helper(llvm::Type* element, bool is_volatile, uint32_t scale);
  /// Ends the launch if a lane of `bits` has a place that is no multiple of `size_bytes`. Takes the
  /// places, `bits`, the AccessSite, the runtime's functions and the block's state.
  llvm::Function* alignment_helper(uint32_t scale);
};

}  // namespace km::simt
