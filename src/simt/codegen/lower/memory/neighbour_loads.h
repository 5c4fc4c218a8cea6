// Loads of single elements that lie side by side in each lane, at addresses of every lane's own.
#pragma once

#include <map>
#include <vector>

#include "simt/codegen/lower/memory/row_transpose.h"

namespace km::simt {

/// Makes one access of such loads of a block, and keeps the elements for the loads that follow.
class NeighbourLoads : public Room {
 public:
  NeighbourLoads(CodeBuilder& builder, const CodePlan& plan, RowTranspose& rows)
      : Room(builder, plan), rows_(rows) {}

  /// Forgets the elements that code before loaded.
  void begin_block() { loaded_.clear(); }
  /// Loads the element of `inst`, and those that others read beside it; null: it has no neighbours.
  Value* load(const Inst& inst, const Address& address, const Access& access);

 private:
  std::vector<const Inst*> row_of_loads(const Inst& first) const;

  RowTranspose& rows_;
  std::map<const Inst*, Value*> loaded_;  // by loads further down in the block
};

}  // namespace km::simt
