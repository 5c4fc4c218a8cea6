// Lanes in runs: several threads share a row of a matrix, say, each run of lanes has its row at an
// address of its own, and the lanes of a run lie side by side.
#pragma once

#include <cstdint>
#include <map>

#include "simt/plan/plan.h"

namespace km::simt {

/// How a value differs between neighbours in runs of lanes that start at multiples of the length;
/// one lane: in no known way.
struct LaneRun {
  uint32_t lanes = 1;
  int64_t step = 0;  // from a lane to the next
};

/// The runs of known offsets.
LaneRun run_of(const Offsets& offsets, uint32_t lane_count);

/// Guesses the runs of values from the code's form: a loop's first value stands for all.
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
