// NeighbourLoads, for loads of single elements that are contiguous in each lane although the lanes'
// addresses are arbitrary.
#pragma once

#include <map>
#include <vector>

#include "simt/codegen/lower/memory/row_transpose.h"

namespace km::simt {

/// Combines such loads of a basic block into one load of rows, and keeps the other elements for the
/// later loads.
class NeighbourLoads {
 public:
  NeighbourLoads(CodeBuilder& builder, const Plan& plan, RowTranspose& rows)
      : builder_(builder), plan_(plan), rows_(rows) {}

  /// Starts a basic block, for which no elements have been loaded.
  void begin_block() { loaded_.clear(); }
  /// Loads the element of `inst` together with its neighbours. Null if it has none.
  llvm::Value* load(const Inst& inst, const Address& address, const Access& access);

 private:
  std::vector<const Inst*> row_of_loads(const Inst& first) const;

  CodeBuilder& builder_;
  const Plan& plan_;
  RowTranspose& rows_;
  std::map<const Inst*, llvm::Value*> loaded_;  // by later loads of the basic block
};

}  // namespace km::simt
