// The memory that the engine itself uses for packets: variables, and values kept across barriers.
#pragma once

#include <llvm/IR/Instruction.h>
#include <llvm/IR/LLVMContext.h>

namespace km::simt {

/// True if the access is to such memory, by the metadata of CodeBuilder::in_context().
inline bool is_in_context(const llvm::Instruction& access) {
  return access.getMetadata(llvm::LLVMContext::MD_alias_scope) != nullptr;
}

}  // namespace km::simt
