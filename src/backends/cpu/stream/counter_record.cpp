#include "backends/cpu/stream/counter_record.h"

#include <string>

namespace km::cpu {
namespace {

/// The positions of all lines that were ever counted, since finding one searches its module.
class Positions {
 public:
  static Positions& instance() {
    static auto* const made = new Positions;  // never destroyed: work may end at exit
    return *made;
  }
  const char* of(const CodeUnit& unit, uint32_t line) {
    const std::lock_guard lock(mutex_);
    const auto [found, is_new] = positions_.try_emplace({unit.id, line});
    if (is_new) found->second = unit.position_of(0, line);
    return found->second.c_str();
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<uint64_t, uint32_t>, std::string> positions_;  // by the code's id and line
};

}  // namespace

CounterRecord::CounterRecord(const LaunchCounters& counters, const CodeUnit& unit) {
  counters_.reserve(counters.places().size());
  for (const auto& [place, counts] : counters.places()) {
    const char* const position = Positions::instance().of(unit, place.line);
    counters_.push_back({position, place.kind, 0, counts});
  }
}

}  // namespace km::cpu
