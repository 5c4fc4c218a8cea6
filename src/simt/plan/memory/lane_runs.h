// Runs of lanes: if several threads share a row of a matrix, for example, each run of lanes has its
// own row address, and the lanes of a run are contiguous.
#pragma once

#include <cstdint>
#include <map>

#include "simt/plan/plan.h"

namespace km::simt {

/// The difference of a value between adjacent lanes in runs that start at multiples of the length;
/// length 1: no known difference.
struct LaneRun {
  uint32_t lanes = 1;
  int64_t step = 0;  // difference from one lane to the next
};

/// The runs of constant offsets.
LaneRun run_of(const Offsets& offsets, uint32_t lane_count);

/// Estimates the runs of values from the code's form; a loop's initial value is taken for all
/// iterations.
class LaneRuns {
 public:
  explicit LaneRuns(const Plan& plan) : plan_(plan) {}

  LaneRun of(ValueId value) { return of(value, kDepth); }

 private:
  static constexpr unsigned kDepth = 24;

  LaneRun of(ValueId value, unsigned depth);
  LaneRun of(const Inst& inst, const ptx::Operand& operand, unsigned depth);
  LaneRun of(const Inst& inst, unsigned depth);

  const Plan& plan_;
  std::map<ValueId, LaneRun> runs_;
};

}  // namespace km::simt
