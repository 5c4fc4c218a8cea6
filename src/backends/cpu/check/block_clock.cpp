#include "backends/cpu/check/block_clock.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/assert.h"

namespace km::cpu {

using simt::kWarpLanes;
using simt::MemoryScope;
namespace copy_groups = simt::copy_groups;

void BlockClock::begin(uint32_t block, uint32_t thread_count) {
  KM_ASSERT(thread_count != 0 && thread_count <= kWarps * kWarpLanes,
            "a block has no threads, or more than it may have");
  block_ = block;
  thread_count_ = thread_count;
  tick_ = 1;
  barrier_tick_ = 0;
  warp_ticks_ = {};
  for (auto& lanes : lane_ticks_) lanes.reset();
  if (has_partial_barriers_) warps_met_ = {};
  has_partial_barriers_ = false;
  arrivals_ = {};
  copies_.begin();
  known_.reset();
  threads_.clear();
}

BlockClock::Thread& BlockClock::thread(uint32_t index) {
  KM_ASSERT(index < thread_count_, "a thread that the block does not have synchronises");
  if (threads_.empty()) threads_.resize(thread_count_);
  return threads_[index];
}

bool BlockClock::knows_in_block(const AccessRecord& access, uint32_t thread) const {
  if (access.tick < barrier_tick_) return true;
  const auto readers = access.who();
  const uint32_t warp = thread / kWarpLanes;
  const auto its_thread = static_cast<uint32_t>(access.thread);
  const uint32_t its_warp = its_thread / kWarpLanes;
  // Which lanes or warps have read is no longer known, so one that has met any of them is believed.
  if (readers == Readers::block) {
    const auto& met = warps_met_[warp];
    return has_partial_barriers_ && access.tick < *std::max_element(met.begin(), met.end());
  }
  if (warp == its_warp) {
    if (access.tick < warp_ticks_[warp]) return true;
    if (!lane_ticks_[warp]) return false;
    const auto& met = (*lane_ticks_[warp])[thread % kWarpLanes];
    if (readers == Readers::warp) return access.tick < *std::max_element(met.begin(), met.end());
    return access.tick < met[its_thread % kWarpLanes];
  }
  return has_partial_barriers_ && access.tick < warps_met_[warp][its_warp];
}

void BlockClock::end_copies(uint32_t first_thread, uint32_t lanes, simt::CopyKind kind,
                            uint32_t pending) {
  const bool ends_group = pending == copy_groups::kCommit;
  if (ends_group || pending == copy_groups::kWaitAll) ++tick_;  // later copies are not part of it
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const uint32_t thread = first_thread + static_cast<uint32_t>(std::countr_zero(left));
    if (ends_group) {
      copies_.commit(thread, kind, tick_);
    } else if (pending == copy_groups::kWaitAll) {
      copies_.wait_all(thread, kind, tick_);
    } else {
      copies_.wait(thread, kind, pending, tick_);
    }
  }
}

/// A copy is ordered for its own thread too only if that has waited: from then on it is like an
/// access that the thread made when it waited.
bool BlockClock::is_copy_ordered(const AccessRecord& copy, uint32_t thread) const {
  const AccessRecord access = without_waited_copy(copy);
  if (!access.is_of_copy()) return is_ordered(access, thread);
  if (static_cast<simt::CopyKind>(copy.copy) != simt::CopyKind::barrier) return false;
  const auto knows_copy = [&](const SharedKnowledge& known) {
    return known && known->covers_copy(copy.block, static_cast<uint32_t>(copy.thread), copy.tick);
  };
  return knows_copy(known_) || (!threads_.empty() && knows_copy(threads_[thread].acquired));
}

AccessRecord BlockClock::without_waited_copy(const AccessRecord& access) const {
  const auto kind = static_cast<simt::CopyKind>(access.copy);
  if (kind == simt::CopyKind::none) return access;
  AccessRecord plain = access;
  plain.copy = 0;
  // Other blocks see no copies of this one but by what they know of the block.
  if (access.block != block_ || access.who() != Readers::one) return plain;
  if (kind == simt::CopyKind::barrier) return access;
  const auto thread = static_cast<uint32_t>(access.thread);
  const std::optional<uint32_t> waited = copies_.completed(thread, kind, access.tick);
  if (!waited) return access;
  plain.tick = *waited;
  return plain;
}

bool BlockClock::is_ordered(const AccessRecord& access, uint32_t thread) const {
  if (access.is_of_copy()) return is_copy_ordered(access, thread);
  const auto readers = access.who();
  if (access.block == block_ && readers != Readers::several_blocks) {
    if (readers == Readers::one && access.thread == thread) return true;
    if (knows_in_block(access, thread)) return true;
  }
  const SharedKnowledge none;
  const SharedKnowledge& own = threads_.empty() ? none : threads_[thread].acquired;
  return knows(known_.get(), access) || knows(own.get(), access);
}

bool BlockClock::is_ordered_for_warp(const AccessRecord& access, const AccessRecord& now) const {
  const auto thread = static_cast<uint32_t>(now.thread);
  if (access.is_of_copy()) return is_copy_ordered(access, thread);
  if (access.block == block_ && access.who() != Readers::several_blocks) {
    if (knows_in_block(access, thread)) return true;
  }
  return knows(known_.get(), access);
}

/// True if what came from other threads says that the access is over.
bool BlockClock::knows(const Knowledge* known, const AccessRecord& access) const {
  if (known == nullptr) return false;
  const auto readers = access.who();
  // Which threads have read is no longer known, so one that has heard of any of them is believed.
  if (readers != Readers::one) return known->covers_any(access.block, access.tick);
  return known->covers(access.block, static_cast<uint32_t>(access.thread), access.tick);
}

void BlockClock::arrive(uint32_t barrier, uint32_t warp, bool waits) {
  Arrivals& here = arrivals_[barrier % kBarriers];
  here.arrived |= uint32_t{1} << warp;
  here.ticks[warp] = ++tick_;  // what a warp that does not wait does next is not part of it
  if (waits) here.waiting |= uint32_t{1} << warp;
}

/// A fence before a barrier, or a meeting of a warp, covers what threads publish after it, and what
/// a thread has read before it is acquired after it: programs rely on both, and GPUs keep to it.
void BlockClock::carry_fences(uint32_t warp, uint32_t lanes, Thread* met) {
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const uint32_t index = warp * kWarpLanes + static_cast<uint32_t>(std::countr_zero(left));
    if (index >= thread_count_) return;
    Thread& each = threads_[index];
    met->fenced = joined(met->fenced, each.fenced);
    met->block_fenced = joined(met->block_fenced, each.block_fenced);
    met->acquired = joined(joined(met->acquired, each.acquired), each.pending);
  }
}

void BlockClock::take_fences(uint32_t warp, uint32_t lanes, const Thread& met) {
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const uint32_t index = warp * kWarpLanes + static_cast<uint32_t>(std::countr_zero(left));
    if (index >= thread_count_) return;
    threads_[index] = met;
  }
}

/// Threads of the warps that arrived hand what they have fenced and read to those that wait.
void BlockClock::meet(uint32_t arrived, uint32_t waiting) {
  if (threads_.empty()) return;
  Thread met;
  for (uint32_t left = arrived; left != 0; left &= left - 1) {
    carry_fences(static_cast<uint32_t>(std::countr_zero(left)), UINT32_MAX, &met);
  }
  for (uint32_t left = waiting; left != 0; left &= left - 1) {
    take_fences(static_cast<uint32_t>(std::countr_zero(left)), UINT32_MAX, met);
  }
}

void BlockClock::open(uint32_t barrier, bool is_whole_block) {
  Arrivals& here = arrivals_[barrier % kBarriers];
  const uint32_t arrived = here.arrived, waiting = here.waiting;
  const std::array<uint32_t, kWarps> ticks = here.ticks;
  here.arrived = here.waiting = 0;
  ++tick_;
  if (is_whole_block && arrived == waiting) {
    meet(UINT32_MAX, UINT32_MAX);
    barrier_tick_ = tick_;
    return;
  }
  has_partial_barriers_ = true;
  meet(arrived, waiting);
  std::array<uint32_t, kWarps> met{};
  for (uint32_t left = arrived; left != 0; left &= left - 1) {
    const auto warp = static_cast<uint32_t>(std::countr_zero(left));
    for (uint32_t w = 0; w < kWarps; ++w) met[w] = std::max(met[w], warps_met_[warp][w]);
    met[warp] = ticks[warp];
  }
  for (uint32_t left = waiting; left != 0; left &= left - 1) {
    const auto warp = static_cast<uint32_t>(std::countr_zero(left));
    for (uint32_t w = 0; w < kWarps; ++w) {
      warps_met_[warp][w] = std::max(warps_met_[warp][w], met[w]);
    }
    warp_ticks_[warp] = tick_;  // lanes of one warp meet there too
  }
}

void BlockClock::sync_warp(uint32_t warp, uint32_t lanes) {
  ++tick_;
  const uint32_t count = std::min(thread_count_ - warp * kWarpLanes, kWarpLanes);
  const uint32_t all = count == kWarpLanes ? UINT32_MAX : (uint32_t{1} << count) - 1;
  if (!threads_.empty()) {
    Thread met;
    carry_fences(warp, lanes & all, &met);
    take_fences(warp, lanes & all, met);
  }
  if ((lanes & all) == all) {
    warp_ticks_[warp] = tick_;
    return;
  }
  auto& ticks = lane_ticks_[warp];
  if (!ticks) ticks = std::make_unique<Lanes>();
  std::array<uint32_t, kWarpLanes> met{};
  for (uint32_t left = lanes & all; left != 0; left &= left - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(left));
    for (uint32_t l = 0; l < kWarpLanes; ++l) met[l] = std::max(met[l], (*ticks)[lane][l]);
    met[lane] = tick_;
  }
  for (uint32_t left = lanes & all; left != 0; left &= left - 1) {
    (*ticks)[static_cast<uint32_t>(std::countr_zero(left))] = met;
  }
}

void BlockClock::exchange(uint32_t warp, uint32_t lanes) {
  if (threads_.empty()) return;
  Thread met;
  carry_fences(warp, lanes, &met);
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const uint32_t index = warp * kWarpLanes + static_cast<uint32_t>(std::countr_zero(left));
    if (index < thread_count_) threads_[index].acquired = met.acquired;
  }
}

/// All that the thread did and knows now, with its copies or without.
SharedKnowledge BlockClock::snapshot(uint32_t thread, bool of_copy) {
  const SharedKnowledge heard =
      threads_.empty() ? known_ : joined(known_, threads_[thread].acquired);
  auto all = heard ? std::make_shared<Knowledge>(*heard) : std::make_shared<Knowledge>();
  Knowledge own;  // apart at first, since each insertion into a long list moves much of it
  own.add_block(block_, barrier_tick_);
  const uint32_t warp = thread / kWarpLanes;
  for (uint32_t t = warp * kWarpLanes; t < std::min((warp + 1) * kWarpLanes, thread_count_); ++t) {
    uint32_t tick = warp_ticks_[warp];
    if (lane_ticks_[warp]) {
      tick = std::max(tick, (*lane_ticks_[warp])[thread % kWarpLanes][t % kWarpLanes]);
    }
    if (t == thread) tick = tick_ + 1;
    if (tick > barrier_tick_) own.add_thread(block_, t, tick);
  }
  for (uint32_t w = 0; has_partial_barriers_ && w * kWarpLanes < thread_count_; ++w) {
    if (w == warp || warps_met_[warp][w] <= barrier_tick_) continue;
    for (uint32_t t = w * kWarpLanes; t < std::min((w + 1) * kWarpLanes, thread_count_); ++t) {
      own.add_thread(block_, t, warps_met_[warp][w]);
    }
  }
  if (of_copy) own.add_copies(block_, thread, tick_ + 1);
  all->add_all(&own);
  all->simplify();
  ++tick_;  // what follows is not part of it
  return all;
}

void BlockClock::fence(uint32_t index, MemoryScope scope) {
  Thread& self = thread(index);
  if (scope != MemoryScope::block && self.pending) {
    self.acquired = joined(self.acquired, std::exchange(self.pending, nullptr));
  }
  self.acquired = joined(self.acquired, std::exchange(self.block_pending, nullptr));
  const SharedKnowledge all = snapshot(index);
  self.block_fenced = all;
  if (scope != MemoryScope::block) self.fenced = all;
}

SharedKnowledge BlockClock::published(uint32_t index, bool releases, MemoryScope scope) {
  if (releases) {
    thread(index);
    return snapshot(index);
  }
  if (threads_.empty()) return nullptr;
  return scope == MemoryScope::block ? threads_[index].block_fenced : threads_[index].fenced;
}

SharedKnowledge BlockClock::published_by_copy(uint32_t index) {
  thread(index);
  return snapshot(index, true);
}

void BlockClock::acquire(uint32_t index, const SharedKnowledge& known, bool acquires) {
  Thread& self = thread(index);
  SharedKnowledge& to = acquires ? self.acquired : self.pending;
  to = joined(to, known);
}

void BlockClock::acquire_in_block(uint32_t index, const SharedKnowledge& known) {
  Thread& self = thread(index);
  self.block_pending = joined(self.block_pending, known);
}

SharedKnowledge BlockClock::all_known() {
  auto all = std::make_shared<Knowledge>();
  all->add_all(known_.get());
  for (const Thread& each : threads_) all->add_all(each.acquired.get());
  all->add_block(block_, tick_ + 1);
  all->simplify();
  ++tick_;
  return all;
}

void BlockClock::learn(const SharedKnowledge& known) { known_ = joined(known_, known); }

}  // namespace km::cpu
