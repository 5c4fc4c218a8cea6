// The engine's own function passes, by name.
#pragma once

#include <llvm/ADT/StringRef.h>
#include <llvm/IR/PassManager.h>

#include <span>

namespace km::simt {

/// One pass, which has a file of the same name.
struct OwnPass {
  const char* name;
  void (*add)(llvm::FunctionPassManager& passes);
};

/// All passes, in alphabetical order.
std::span<const OwnPass> own_passes();

/// Adds the pass of that name; returns false if there is none.
bool add_own_pass(llvm::FunctionPassManager& passes, llvm::StringRef name);

}  // namespace km::simt
