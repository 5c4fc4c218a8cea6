// Operations of other instructions on an mbarrier object.
#pragma once

#include <llvm/IR/IRBuilder.h>

namespace km::simt {

/// The bytes have arrived, which may end the phase.
void complete_bytes(llvm::IRBuilder<>& builder, llvm::Value* address, llvm::Value* size_bytes);

}  // namespace km::simt
