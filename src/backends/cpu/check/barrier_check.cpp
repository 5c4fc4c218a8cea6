#include "backends/cpu/check/barrier_check.h"

#include <bit>

#include "simt/abi.h"

namespace km::cpu {

void BarrierCheck::begin(LaunchChecks* launch, uint32_t block, uint32_t thread_count) {
  launch_ = launch;
  block_ = block;
  thread_count_ = thread_count;
  rounds_ = {};
}

void BarrierCheck::note(Misuse::Kind kind, const Arrival& at, const Arrival& other,
                        uint32_t arrived) {
  Misuse misuse;
  misuse.kind = kind;
  misuse.line = at.line;
  misuse.thread = at.first_thread + static_cast<uint32_t>(std::countr_zero(at.lanes | 1U << 31));
  misuse.other_line = other.line;
  misuse.other_thread =
      other.first_thread + static_cast<uint32_t>(std::countr_zero(other.lanes | 1U << 31));
  misuse.block = block_;
  misuse.arrived = arrived;
  misuse.expected = at.expected == 0 ? thread_count_ : at.expected;
  launch_->note(misuse);
}

void BarrierCheck::arrive(const Arrival& arrival) {
  Round& round = rounds_[arrival.barrier % kBarriers];
  if (arrival.expected % simt::kWarpLanes != 0) note(Misuse::part_of_warp, arrival, {}, 0);
  if (round.arrived == 0) round.first = arrival;
  round.arrived += static_cast<uint32_t>(std::popcount(arrival.lanes));
  if (round.first.expected != arrival.expected) {
    note(Misuse::other_count, arrival, round.first, round.arrived);
  }
  if (round.first.line != arrival.line && round.other.line == 0) round.other = arrival;
}

/// Barrier 0 is __syncthreads(), which all threads of the block must come to at one place.
void BarrierCheck::open(uint32_t barrier) {
  Round& round = rounds_[barrier % kBarriers];
  const bool is_of_block = barrier == 0 && round.first.expected == 0 && round.arrived != 0;
  if (is_of_block && round.other.line != 0) {
    note(Misuse::other_place, round.other, round.first, round.arrived);
  }
  if (is_of_block && round.arrived < thread_count_) {
    note(Misuse::ended_threads, round.first, {}, round.arrived);
  }
  round = {};
}

void BarrierCheck::note_stranger(uint32_t thread, uint32_t line) {
  note(Misuse::stranger, {0, 0, line, thread, 1}, {}, 0);
}

}  // namespace km::cpu
