#include "backends/cpu/library/staged_task.h"

#include <algorithm>

#include "base/arch/processor.h"
#include "base/assert.h"

namespace km::cpu {

StagedTask::StagedTask(const std::vector<uint64_t>& pieces) : begins_{0} {
  for (const uint64_t each : pieces) {
    KM_ASSERT(each != 0, "a stage has pieces");
    begins_.push_back(begins_.back() + each);
  }
  KM_ASSERT(begins_.size() > 1, "a task has stages");
}

/// Waits until so many pieces have ended, or one was abandoned.
void StagedTask::wait_for(uint64_t pieces) const {
  constexpr int kSpins = 1000;
  for (int spin = 0;; ++spin) {
    const uint64_t ended = ended_.load(std::memory_order_acquire);
    if (ended >= pieces || is_abandoned_.load(std::memory_order_acquire)) return;
    if (spin < kSpins) {
      arch::spin_hint();
    } else {
      ended_.wait(ended, std::memory_order_acquire);
    }
  }
}

Status StagedTask::run(uint64_t) const {
  const uint64_t taken = taken_.fetch_add(1, std::memory_order_relaxed);
  KM_ASSERT(taken < pieces(), "a run has as many pieces as the task");
  const auto after = std::upper_bound(begins_.begin(), begins_.end(), taken);
  const auto stage = static_cast<uint32_t>(after - begins_.begin() - 1);
  wait_for(begins_[stage]);
  if (is_abandoned_.load(std::memory_order_acquire)) return {};
  Status done = run_stage(stage, taken - begins_[stage]);
  if (!done) {
    abandon();
    return done;
  }
  const uint64_t ended = ended_.fetch_add(1, std::memory_order_acq_rel) + 1;
  if (ended == pieces()) {  // for the next run
    taken_.store(0, std::memory_order_relaxed);
    ended_.store(0, std::memory_order_relaxed);
  } else if (ended == *after) {
    ended_.notify_all();
  }
  return {};
}

void StagedTask::abandon() const {
  is_abandoned_.store(true, std::memory_order_release);
  ended_.fetch_add(1, std::memory_order_acq_rel);  // so that those who sleep see it
  ended_.notify_all();
}

}  // namespace km::cpu
