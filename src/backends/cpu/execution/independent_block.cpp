#include "backends/cpu/execution/independent_block.h"

#include <algorithm>
#include <bit>

#include "base/assert.h"
#include "simt/runtime/independent_warp.h"
#include "simt/runtime/schedule.h"

namespace km::cpu {

using simt::IndependentStatus;
using simt::IndependentWarp;
using simt::kWarpLanes;

void IndependentBlock::start() {
  KM_ASSERT(state_.scratch != nullptr && state_.warp_count <= kMaxWarps,
            "a block has no memory for its warps, or too many of them");
  exited_ = 0;
  barriers_ = {};
  unfinished_ = 0;
  for (uint32_t w = 0; w < state_.warp_count; ++w) {
    const uint32_t lanes = std::min(thread_count_ - w * kWarpLanes, kWarpLanes);
    independent_begin(&warp(w), lanes == kWarpLanes ? UINT32_MAX : (uint32_t{1} << lanes) - 1);
    warp(w).schedule = schedule_;
    unfinished_ |= uint32_t{1} << w;
  }
}

IndependentWarp& IndependentBlock::warp(uint32_t index) const {
  return *reinterpret_cast<IndependentWarp*>(state_.scratch + index * scratch_bytes_);
}

/// The warp that runs next of those of a turn.
uint32_t IndependentBlock::take_warp(uint32_t* left) {
  uint32_t rest = *left;
  uint32_t skipped = 0;
  if (schedule_ != nullptr) skipped = schedule_->pick(static_cast<uint32_t>(std::popcount(rest)));
  for (; skipped != 0; --skipped) rest &= rest - 1;
  const auto taken = static_cast<uint32_t>(std::countr_zero(rest));
  *left &= ~(uint32_t{1} << taken);
  return taken;
}

ResidentBlock::Turn IndependentBlock::run(const simt::LaunchRecord* record, const CodeUnit& unit) {
  bool progress = false, waiting = false, spun = false;
  released_ = false;
  if (has_synced_cluster()) release(barriers_[simt::kClusterBarrier]);
  for (uint32_t left = unfinished_; left != 0;) {
    const uint32_t w = take_warp(&left);
    if (schedule_ != nullptr && schedule_->passes(w)) {
      progress = true;
      continue;
    }
    const uint32_t live = warp(w).live, clock = warp(w).clock;
    state_.first_thread = w * kWarpLanes;
    const IndependentStatus status = unit.independent_entry(record, &state_, w);
    const auto gone = static_cast<uint32_t>(std::popcount(live & ~warp(w).live));
    exited_ += gone;
    KM_ASSERT(exited_ <= thread_count_, "more threads end than the block has");
    progress = progress || gone != 0 || status == IndependentStatus::interrupted;
    waiting = waiting || status == IndependentStatus::waiting;
    spun = spun || warp(w).clock != clock;
    if (status == IndependentStatus::finished) unfinished_ &= ~(uint32_t{1} << w);
    if (gone != 0) release_complete(false);
  }
  KM_ASSERT(unfinished_ != 0 || exited_ == thread_count_, "a block ends before all of its threads");
  if (unfinished_ == 0) return Turn::finished;
  // A released barrier is not progress if threads of the block spin in a loop that contains
  // barriers.
  if (progress || (released_ && !spun)) return Turn::progress;
  if (waiting || spun || waits_for_cluster()) return Turn::waiting;
  return release_complete(true) ? Turn::progress : Turn::deadlock;
}

const IndependentBlock::Barrier* IndependentBlock::barrier_of(uint32_t warp) const {
  for (const Barrier& barrier : barriers_) {
    if (barrier.waiting[warp] != 0) return &barrier;
  }
  return nullptr;
}

/// A spinning warp is a better place to report than one at a barrier, which waits for it.
ResidentBlock::Place IndependentBlock::place() const {
  Place at_barrier;
  for (uint32_t left = unfinished_; left != 0; left &= left - 1) {
    const auto index = static_cast<uint32_t>(std::countr_zero(left));
    const Barrier* const barrier = barrier_of(index);
    const uint32_t line = warp(index).line, first = index * kWarpLanes;
    if (barrier == nullptr && line != 0) return {0, line, first};
    if (barrier != nullptr && at_barrier.pc == 0) at_barrier = {barrier->pc, 0, first};
  }
  return at_barrier;
}

bool IndependentBlock::is_complete(const Barrier& barrier, uint32_t exited) const {
  if (barrier.expected == 0) return barrier.arrived + exited_ >= thread_count_;
  return barrier.arrived + barrier.missing + exited >= barrier.expected;
}

void IndependentBlock::release(Barrier& barrier) {
  for (uint32_t w = 0; w < state_.warp_count; ++w) {
    for (uint32_t left = barrier.waiting[w]; left != 0; left &= left - 1) {
      warp(w).participants[std::countr_zero(left)] = barrier.predicates;
    }
    KM_ASSERT((barrier.waiting[w] & ~warp(w).blocked) == 0,
              "threads that wait at a barrier are not blocked in their warp");
    warp(w).blocked &= ~barrier.waiting[w];
  }
  note_opening(static_cast<uint32_t>(&barrier - barriers_.data()), barrier.expected);
  barrier = {};
  released_ = true;
}

/// Called when all threads of the block have arrived. Returns false if other blocks of the cluster
/// have not.
bool IndependentBlock::complete(Barrier& barrier) {
  if (&barrier == &barriers_[simt::kClusterBarrier] && !sync_cluster()) return false;
  release(barrier);
  return true;
}

/// Releases complete barriers. `count_exited` is set if no thread can continue: exited threads then
/// count as arrived at barriers with a thread count too.
bool IndependentBlock::release_complete(bool count_exited) {
  bool any = false;
  for (Barrier& barrier : barriers_) {
    const bool used = std::any_of(barrier.waiting.begin(), barrier.waiting.end(),
                                  [](uint32_t lanes) { return lanes != 0; });
    if (!used || !is_complete(barrier, count_exited ? exited_ : 0)) continue;
    any = complete(barrier) || any;
  }
  return any;
}

void IndependentBlock::arrive(IndependentWarp* warp, uint32_t lanes, uint32_t id,
                              uint32_t thread_count, uint32_t predicates, bool waits,
                              uint32_t state, uint64_t pc) {
  KM_ASSERT(lanes != 0 && (lanes & ~warp->live) == 0,
            "threads that have exited arrive at a barrier");
  Barrier& barrier = barriers_[id % kMaxBarriers];
  barrier.arrived += static_cast<uint32_t>(std::popcount(lanes));
  barrier.expected = thread_count;
  const uint32_t first = state_.first_thread;
  note_arrival(id % kMaxBarriers, first / kWarpLanes, waits);
  if (first + kWarpLanes > thread_count_) barrier.missing = first + kWarpLanes - thread_count_;
  barrier.predicates += static_cast<uint32_t>(std::popcount(predicates));
  if (waits) {
    barrier.waiting[first / kWarpLanes] |= lanes;
    warp->blocked |= lanes;
    barrier.pc = pc;
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
      warp->state[std::countr_zero(left)] = state;
    }
  }
  if (is_complete(barrier, 0)) complete(barrier);
}

}  // namespace km::cpu
