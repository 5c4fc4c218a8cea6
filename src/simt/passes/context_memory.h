// Memory that the engine keeps for packets: variables, and what lies between barriers.
#pragma once

#include <llvm/IR/Instruction.h>
#include <llvm/IR/LLVMContext.h>

namespace km::simt {

/// True if the access is to memory that the engine keeps for packets: CodeBuilder::in_context().
inline bool is_in_context(const llvm::Instruction& access) {
  return access.getMetadata(llvm::LLVMContext::MD_alias_scope) != nullptr;
}

}  // namespace km::simt
