#include "backends/cpu/stream/counter_record.h"

#include "backends/cpu/execution/diagnose.h"

namespace km::cpu {

CounterRecord::CounterRecord(const LaunchCounters& counters, const CodeUnit& unit) {
  counters_.reserve(counters.places().size());
  for (const auto& [place, counts] : counters.places()) {
    const char* const position = position_of_line(unit, place.line).c_str();
    counters_.push_back({position, place.kind, 0, counts});
  }
}

}  // namespace km::cpu
