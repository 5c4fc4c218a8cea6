// Accesses at an address of every lane's own.
#pragma once

#include <vector>

#include "simt/codegen/lower/lanes/lane_helpers.h"
#include "simt/codegen/lower/memory/row_transpose.h"

namespace km::simt {

/// Makes a gather or scatter for each element of an access, or moves whole rows.
class GatherScatter : public Room {
 public:
  GatherScatter(CodeBuilder& builder, const CodePlan& plan, LaunchFrame& frame,
                Addresses& addresses, LaneHelpers& lane_helpers, RowTranspose& rows)
      : Room(builder, plan),
        frame_(frame),
        addresses_(addresses),
        lane_helpers_(lane_helpers),
        rows_(rows) {}

  /// Loads from the lanes' addresses, or from their places by an index.
  std::vector<Value*> load(const LaneIndex& index, const Access& access, Value* lanes);
  /// Loads from an address of any form.
  std::vector<Value*> load_at(const Address& address, const Access& access);
  /// Stores to the lanes' addresses, or to their places by an index.
  void store(const LaneIndex& index, const Access& access, const std::vector<Value*>& values,
             Value* lanes);
  /// Stores to an address of any form.
  void store_at(const Address& address, const Access& access, const std::vector<Value*>& values);

 private:
  LaunchFrame& frame_;
  Addresses& addresses_;
  LaneHelpers& lane_helpers_;
  RowTranspose& rows_;
};

}  // namespace km::simt
