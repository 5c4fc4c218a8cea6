// ColumnMemory, the buffer in which columns are passed to and from functions.
#pragma once

#include <vector>

#include "simt/codegen/lower/memory/access.h"

namespace km::simt {

/// Stores columns contiguously: column i holds element i of every lane's row. Functions that move
/// rows or lanes access the same memory as their callers, since so many vectors do not fit into
/// registers.
class ColumnMemory : public Room {
 public:
  ColumnMemory(CodeBuilder& builder, const CodePlan& plan) : Room(builder, plan) {}

  /// The buffer, one for the whole kernel.
  Value* memory();
  /// Loads all columns of an access.
  std::vector<Value*> load(Value* memory, const Access& access);
  /// Stores all columns of an access.
  void store(Value* memory, const Access& access, const std::vector<Value*>& columns);

 private:
  Value* place_of(Value* memory, const Access& access, unsigned index);
  llvm::Align align(const Access& access) const;

  llvm::AllocaInst* memory_ = nullptr;
};

}  // namespace km::simt
