// Addresses of a kernel's parameters of which only the lower 32 bits are known: LLVM gives the
// space .param 32 bits.
#pragma once

#include <llvm/IR/IRBuilder.h>

namespace km::simt {

/// The address in the launch's parameters of which `address`, one or all lanes', has the lower 32
/// bits.
llvm::Value* whole_parameter_address(llvm::IRBuilder<>& b, llvm::Value* params,
                                     llvm::Value* address);

}  // namespace km::simt
