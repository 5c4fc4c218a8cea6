// NeighbourLoads, for loads of single elements that are contiguous in each lane although the lanes'
// addresses are arbitrary.
#pragma once

#include <map>
#include <vector>

#include "simt/codegen/lower/memory/row_transpose.h"

namespace km::simt {

/// Makes one access of such loads of a block, and keeps the elements for the loads that follow.
class NeighbourLoads {
 public:
  NeighbourLoads(CodeBuilder& builder, const Plan& plan, RowTranspose& rows)
      : builder_(builder), plan_(plan), rows_(rows) {}

  /// Starts a basic block, for which no elements have been loaded.
  void begin_block() { loaded_.clear(); }
  /// Loads the element of `inst`, and those that others read beside it; null: it has no neighbours.
  llvm::Value* load(const Inst& inst, const Address& address, const Access& access);

 private:
  std::vector<const Inst*> row_of_loads(const Inst& first) const;

  CodeBuilder& builder_;
  const Plan& plan_;
  RowTranspose& rows_;
  std::map<const Inst*, llvm::Value*> loaded_;  // by loads further down in the block
};

}  // namespace km::simt
