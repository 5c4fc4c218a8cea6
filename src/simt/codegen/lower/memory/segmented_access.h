// SegmentedAccess, for lanes in runs. If, for example, several threads share a row of a matrix,
// each run of lanes has its own row address, and its lanes are contiguous. The form of the code
// suggests runs, which may be wrong, so a test at run time confirms them. An access then takes one
// vector per run in place of a gather.
#pragma once

#include <functional>
#include <vector>

#include "simt/codegen/lower/memory/gather_scatter.h"
#include "simt/plan/memory/lane_runs.h"

namespace km::simt {

/// Loads from varying addresses, by runs of lanes if they are likely.
class SegmentedAccess : private EmitterBase {
 public:
  SegmentedAccess(CodeBuilder& builder, const CodePlan& plan, Addresses& addresses,
                  ColumnMemory& columns, GatherScatter& gathers)
      : EmitterBase(builder, plan),
        addresses_(addresses),
        columns_(columns),
        gathers_(gathers),
        runs_(plan.base) {}

  /// Loads the elements at a varying address.
  std::vector<Value*> load(const Address& address, const Access& access);

 private:
  using Places = std::vector<Value*>;  // the address of the first lane of each run

  uint32_t run_lanes(const Address& address, const Access& access);
  Value* are_runs(Value* lanes, uint32_t run, uint64_t size_bytes);
  Value* mask_of_run(uint32_t first, uint32_t run);
  Places places_of(const Address& address, uint32_t run);
  std::vector<Value*> load_all(const Places& places,
                               const std::function<Value*(uint32_t run, Value* from)>& load_one);
  std::vector<Value*> load_plain(const Places& places, const Access& access, uint32_t run);
  std::vector<Value*> load_masked(const Places& places, const Access& access, uint32_t run);
  Value* may_all_read(Places& places, uint32_t run, uint64_t size_bytes);
  std::vector<Value*> load_runs(const Address& address, const Access& access, uint32_t run);

  Addresses& addresses_;
  ColumnMemory& columns_;
  GatherScatter& gathers_;
  LaneRuns runs_;
};

}  // namespace km::simt
