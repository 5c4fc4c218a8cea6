// Memory for the columns of rows on their way to or from a function.
#pragma once

#include <vector>

#include "simt/codegen/lower/memory/access.h"

namespace km::simt {

/// Stores the elements of all lanes by their place in a row, each place's side by side, in memory
/// that a function which moves rows, or lanes side by side, shares with its callers.
class ColumnMemory : public Room {
 public:
  ColumnMemory(CodeBuilder& builder, const CodePlan& plan) : Room(builder, plan) {}

  /// That memory; one for the whole kernel.
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
