// The engine's own passes over functions, by name.
#pragma once

#include <llvm/ADT/StringRef.h>
#include <llvm/IR/PassManager.h>

#include <span>

namespace km::simt {

/// One pass. Each lies in a file of its own with that name.
struct OwnPass {
  const char* name;
  void (*add)(llvm::FunctionPassManager& passes);
};

/// All of them, in alphabetical order.
std::span<const OwnPass> own_passes();

/// Adds the pass of that name; false: there is none.
bool add_own_pass(llvm::FunctionPassManager& passes, llvm::StringRef name);

}  // namespace km::simt
