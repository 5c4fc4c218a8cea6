// Lanes in runs: several threads share a row of a matrix, say, each run of lanes has its row at an
// address of its own, and the lanes of a run lie side by side. The code's form suggests it (which
// need not be right), a test at run time shows it, and then an access takes one vector per run
// instead of a gather or scatter.
#pragma once

#include <vector>

#include "simt/codegen/lower/memory/gather_scatter.h"
#include "simt/plan/memory/lane_runs.h"

namespace km::simt {

/// Loads at addresses of every lane's own, by runs of lanes if they are likely.
class SegmentedAccess : public Room {
 public:
  SegmentedAccess(CodeBuilder& builder, const CodePlan& plan, Addresses& addresses,
                  ColumnMemory& columns, GatherScatter& gathers)
      : Room(builder, plan),
        addresses_(addresses),
        columns_(columns),
        gathers_(gathers),
        runs_(plan.base) {}

  /// Loads the elements of an address that varies.
  std::vector<Value*> load(const Address& address, const Access& access);

 private:
  uint32_t run_lanes(const Address& address, const Access& access);
  Value* are_runs(Value* lanes, uint32_t run, uint64_t size_bytes);
  Value* mask_of_run(uint32_t first, uint32_t run);
  std::vector<Value*> load_runs(const Address& address, const Access& access, uint32_t run);

  Addresses& addresses_;
  ColumnMemory& columns_;
  GatherScatter& gathers_;
  LaneRuns runs_;
};

}  // namespace km::simt
