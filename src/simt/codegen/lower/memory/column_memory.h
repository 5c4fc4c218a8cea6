// ColumnMemory, the buffer in which columns are passed to and from functions.
#pragma once

#include <vector>

#include "simt/codegen/lower/memory/access.h"

namespace km::simt {

/// Stores columns contiguously: column i holds element i of every lane's row. Functions that move
/// rows or lanes access the same memory as their callers, since so many vectors do not fit into
/// registers.
class ColumnMemory {
 public:
  explicit ColumnMemory(CodeBuilder& builder) : builder_(builder), b_(builder.ir()) {}

  /// The buffer, one for the whole kernel.
  llvm::Value* memory();
  /// Loads all columns of an access.
  std::vector<llvm::Value*> load(llvm::Value* memory, const Access& access);
  /// Stores all columns of an access.
  void store(llvm::Value* memory, const Access& access, const std::vector<llvm::Value*>& columns);

 private:
  llvm::Value* place_of(llvm::Value* memory, const Access& access, unsigned index);
  llvm::Align align(const Access& access) const;

  CodeBuilder& builder_;
  llvm::IRBuilder<>& b_;
  llvm::AllocaInst* memory_ = nullptr;
};

}  // namespace km::simt
