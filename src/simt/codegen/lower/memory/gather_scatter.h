// GatherScatter, for accesses whose lanes have arbitrary addresses.
#pragma once

#include <vector>

#include "simt/codegen/lower/memory/row_transpose.h"

namespace km::simt {

/// Generates a gather or scatter for each element of an access, or transposes rows, which is faster
/// for several elements per lane. Gathers are instructions if the machine has them, otherwise
/// helpers.
class GatherScatter : private EmitterBase {
 public:
  GatherScatter(CodeBuilder& builder, const CodePlan& plan, LaunchFrame& frame,
                Addresses& addresses, RowTranspose& rows)
      : EmitterBase(builder, plan), frame_(frame), addresses_(addresses), rows_(rows) {}

  /// Loads from `index` if it has lanes, otherwise from the addresses `lanes`.
  std::vector<Value*> load(const LaneIndex& index, const Access& access, Value* lanes);
  /// Loads from an address of any form.
  std::vector<Value*> load_at(const Address& address, const Access& access);
  /// Stores to `index` if it has lanes, otherwise to the addresses `lanes`.
  void store(const LaneIndex& index, const Access& access, const std::vector<Value*>& values,
             Value* lanes);
  /// Stores to an address of any form.
  void store_at(const Address& address, const Access& access, const std::vector<Value*>& values);

 private:
  LaunchFrame& frame_;
  Addresses& addresses_;
  RowTranspose& rows_;
};

}  // namespace km::simt
