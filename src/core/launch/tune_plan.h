// Decides which candidate of a tuning is launched next and which is the best, from times that
// callers measure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace km {

/// Candidates take turns of one launch, so that a temporary load of the machine slows all of them
/// equally.
class TunePlan {
 public:
  /// The first `cold_count` launches of a candidate count only if it has no others.
  TunePlan(uint32_t count, uint64_t budget_ns, uint32_t cold_count)
      : candidates_(count), budget_ns_(budget_ns), cold_count_(cold_count) {}

  /// The candidate with the fewest launches among those that work and are still measured; empty
  /// when measuring is over.
  std::optional<uint32_t> next() const;
  /// Records a launch: its time on the device's clock, and the time to subtract from the budget
  /// unless it is the candidate's first.
  void add(uint32_t candidate, uint64_t elapsed_ns, uint64_t spent_ns);
  /// Excludes a candidate that does not work.
  void leave_out(uint32_t candidate);

  struct Summary {
    uint64_t median_ns = 0, min_ns = 0;
    uint32_t sample_count = 0;
  };
  /// Median, fastest and number of the launches that count.
  Summary summary(uint32_t candidate) const;
  /// The candidate with the lowest median, the first of equal ones; empty if none works.
  std::optional<uint32_t> best() const;

 private:
  struct Candidate {
    std::vector<uint64_t> launches_ns;
    uint64_t fastest_ns = UINT64_MAX;
    bool works = true;
  };

  bool is_due(const Candidate& candidate) const;
  uint64_t share_ns() const { return candidates_.empty() ? 0 : budget_ns_ / candidates_.size(); }

  std::vector<Candidate> candidates_;
  const uint64_t budget_ns_;
  const uint32_t cold_count_;
  uint64_t spent_ns_ = 0;
  uint64_t fastest_ns_ = UINT64_MAX;  // of all candidates that work
};

}  // namespace km
