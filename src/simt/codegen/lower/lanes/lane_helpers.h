// LaneHelpers, out-of-line functions for accesses whose lanes have arbitrary addresses.
#pragma once

#include "simt/codegen/builder.h"

namespace km::simt {

// In all of them `scale` says how a lane's place is given: as an index into an array of elements of
// that size; 0: as an address.

/// The function that loads elements at the active lanes' places, zero elsewhere. All lanes active:
/// straight loads into registers (never through the stack, which stalls on the store buffer).
llvm::Function* gather_helper(CodeBuilder& codegen, llvm::Type* element, bool is_volatile,
                              uint32_t scale);
/// The function that stores the active lanes' elements, lowest lane first.
llvm::Function* scatter_helper(CodeBuilder& codegen, llvm::Type* element, bool is_volatile,
                               uint32_t scale);
/// The function that ends the launch if a lane of `bits` has a place that is no multiple of
/// `size_bytes`. It takes the places, `bits`, the AccessSite, the runtime's functions and the
/// block's state.
llvm::Function* alignment_helper(CodeBuilder& codegen, uint32_t scale);

}  // namespace km::simt
