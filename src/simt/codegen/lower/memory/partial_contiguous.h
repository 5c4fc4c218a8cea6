// Lanes side by side: one plain access where all lanes can make it, else a masked one, or a call of
// the runtime where masked accesses are slow or missing. There are many of these in a kernel, so
// that what each takes to compile counts.
#pragma once

#include <vector>

#include "simt/codegen/lower/checks/access_checks.h"
#include "simt/codegen/lower/memory/column_memory.h"
#include "simt/codegen/lower/memory/nontemporal_writer.h"

namespace km::simt {

/// Loads and stores the active lanes of elements that lie side by side, one for each lane.
class PartialContiguous : public Room {
 public:
  PartialContiguous(CodeBuilder& builder, const CodePlan& plan, LaunchFrame& frame,
                    Addresses& addresses, AccessChecks& checks, ColumnMemory& columns,
                    NontemporalWriter& writer)
      : Room(builder, plan),
        frame_(frame),
        addresses_(addresses),
        checks_(checks),
        columns_(columns),
        writer_(writer) {}

  /// The elements; those of inactive lanes are anything.
  std::vector<Value*> load(const Address& address, const Access& access);
  /// Gives nothing, as CodeBuilder::choose() asks for.
  std::vector<Value*> store(const Address& address, const Access& access, Value* content);

 private:
  llvm::CallInst* call_lane_mover(uint64_t entry, const Address& address, uint64_t size_bytes);
  Value* load_some(const Address& address, const Access& access);
  void store_some(const Address& address, const Access& access, Value* content);
  Value* may_all_read(const Address& address, uint64_t size_bytes);
  uint32_t first_lanes();

  LaunchFrame& frame_;
  Addresses& addresses_;
  AccessChecks& checks_;
  ColumnMemory& columns_;
  NontemporalWriter& writer_;
};

}  // namespace km::simt
