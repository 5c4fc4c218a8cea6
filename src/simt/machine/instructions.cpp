#include "simt/machine/instructions.h"

#include <llvm/IR/InlineAsm.h>

namespace km::simt::instructions {

void add_mark(llvm::IRBuilderBase& b) {
  auto* type = llvm::FunctionType::get(b.getVoidTy(), false);
  auto* call = b.CreateCall(llvm::InlineAsm::get(type, "", "", /*hasSideEffects=*/true));
  call->setDoesNotAccessMemory();
  call->setDoesNotThrow();
}

}  // namespace km::simt::instructions
