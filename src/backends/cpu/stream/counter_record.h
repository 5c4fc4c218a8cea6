// CounterRecord, the counters of a launch in the form in which a profile takes them.
#pragma once

#include <vector>

#include "backends/cpu/counters/launch_counters.h"
#include "backends/cpu/execution/code_unit.h"

namespace km::cpu {

/// Holds what a profile's record points to.
class CounterRecord {
 public:
  /// The launch of this code must be over.
  CounterRecord(const LaunchCounters& counters, const CodeUnit& unit);
  const std::vector<kmb_counter>& counters() const { return counters_; }

 private:
  std::vector<kmb_counter> counters_;
};

}  // namespace km::cpu
