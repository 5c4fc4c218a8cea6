#include "core/launch/tune_plan.h"

#include <algorithm>

#include "base/assert.h"

namespace km {
namespace {

constexpr size_t kLeastSamples = 5, kMostSamples = 1000;
/// A candidate is dropped if the fastest of kTrials launches takes more than kHopeless times as
/// long as the fastest of all candidates. One slow launch does not drop it: the machine may have
/// been busy.
constexpr size_t kTrials = 3;
constexpr uint64_t kHopeless = 4;

}  // namespace

bool TunePlan::is_due(const Candidate& candidate) const {
  const size_t launches = candidate.launches_ns.size();
  if (!candidate.works || launches == 0 || launches >= cold_count_ + kMostSamples) return false;
  const uint64_t expected_ns = candidate.fastest_ns;
  if (launches >= kTrials && expected_ns / kHopeless > fastest_ns_) return false;
  const bool fits = spent_ns_ < budget_ns_ && expected_ns <= budget_ns_ - spent_ns_;
  if (fits) return true;
  // Other candidates may have spent the whole budget; a cheap one still gets the least number of
  // samples.
  const size_t least = cold_count_ + kLeastSamples;
  return launches < least && expected_ns <= share_ns() / least;
}

std::optional<uint32_t> TunePlan::next() const {
  std::optional<uint32_t> chosen;
  for (uint32_t i = 0; i < candidates_.size(); ++i) {
    if (!is_due(candidates_[i])) continue;
    const size_t launches = candidates_[i].launches_ns.size();
    if (!chosen || launches < candidates_[*chosen].launches_ns.size()) chosen = i;
  }
  return chosen;
}

void TunePlan::add(uint32_t candidate, uint64_t elapsed_ns, uint64_t spent_ns) {
  KM_ASSERT(candidate < candidates_.size(), "a plan is asked about its own candidates");
  Candidate& each = candidates_[candidate];
  // The first launch does not count against the budget: every candidate needs it to show that it
  // works.
  if (!each.launches_ns.empty()) spent_ns_ += std::min(spent_ns, UINT64_MAX - spent_ns_);
  each.launches_ns.push_back(elapsed_ns);
  each.fastest_ns = std::min(each.fastest_ns, elapsed_ns);
  fastest_ns_ = std::min(fastest_ns_, elapsed_ns);
}

void TunePlan::leave_out(uint32_t candidate) {
  KM_ASSERT(candidate < candidates_.size(), "a plan is asked about its own candidates");
  candidates_[candidate].works = false;
  fastest_ns_ = UINT64_MAX;
  for (const Candidate& each : candidates_) {
    if (each.works) fastest_ns_ = std::min(fastest_ns_, each.fastest_ns);
  }
}

TunePlan::Summary TunePlan::summary(uint32_t candidate) const {
  KM_ASSERT(candidate < candidates_.size(), "a plan is asked about its own candidates");
  const std::vector<uint64_t>& launches = candidates_[candidate].launches_ns;
  if (launches.empty()) return {};
  // If there are only cold launches, the latest one counts.
  const size_t cold = std::min<size_t>(cold_count_, launches.size() - 1);
  std::vector<uint64_t> samples(launches.begin() + static_cast<ptrdiff_t>(cold), launches.end());
  std::sort(samples.begin(), samples.end());
  return {samples[samples.size() / 2], samples.front(), static_cast<uint32_t>(samples.size())};
}

std::optional<uint32_t> TunePlan::best() const {
  std::optional<uint32_t> found;
  uint64_t least_ns = 0;
  for (uint32_t i = 0; i < candidates_.size(); ++i) {
    if (!candidates_[i].works || candidates_[i].launches_ns.empty()) continue;
    const uint64_t median_ns = summary(i).median_ns;
    if (found && median_ns >= least_ns) continue;
    found = i;
    least_ns = median_ns;
  }
  return found;
}

}  // namespace km
