// PartialContiguous, for contiguous lanes of which some may be inactive. If all lanes can be
// accessed, it is a plain vector access; otherwise a masked access, or a call of the runtime if the
// machine has no fast masked accesses. Kernels have many of these accesses, so the code of each
// must be quick to compile.
#pragma once

#include <vector>

#include "simt/codegen/lower/checks/access_checks.h"
#include "simt/codegen/lower/memory/column_memory.h"
#include "simt/codegen/lower/memory/nontemporal_writer.h"

namespace km::simt {

/// Loads and stores the active lanes of contiguous elements, one per lane.
class PartialContiguous : private EmitterBase {
 public:
  PartialContiguous(CodeBuilder& builder, const CodePlan& plan, LaunchFrame& frame,
                    Addresses& addresses, AccessChecks& checks, ColumnMemory& columns,
                    NontemporalWriter& writer)
      : EmitterBase(builder, plan),
        frame_(frame),
        addresses_(addresses),
        checks_(checks),
        columns_(columns),
        writer_(writer) {}

  /// Loads the elements; those of inactive lanes are arbitrary.
  std::vector<Value*> load(const Address& address, const Access& access);
  /// Stores the elements. The result is empty, which makes the call usable in
  /// CodeBuilder::choose().
  std::vector<Value*> store(const Address& address, const Access& access, Value* content);

 private:
  llvm::CallInst* call_lane_mover(uint64_t entry, const Address& address, uint64_t size_bytes);
  Value* load_some(const Address& address, const Access& access);
  void store_some(const Address& address, const Access& access, Value* content);
  Value* may_all_read(const Address& address, uint64_t size_bytes);
  Value* starts_in_window(const Address& address);
  uint32_t first_lanes();

  LaunchFrame& frame_;
  Addresses& addresses_;
  AccessChecks& checks_;
  ColumnMemory& columns_;
  NontemporalWriter& writer_;
};

}  // namespace km::simt
