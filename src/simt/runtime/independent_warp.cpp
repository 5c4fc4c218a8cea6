#include "simt/runtime/independent_warp.h"

#include <bit>

#include "base/assert.h"
#include "simt/runtime/schedule.h"

namespace km::simt {
namespace {

uint32_t lowest(uint32_t lanes) { return static_cast<uint32_t>(std::countr_zero(lanes)); }

uint64_t group(uint32_t lanes, uint32_t state) { return uint64_t{state} << 32 | lanes; }

uint64_t leave(IndependentStatus status) { return group(0, static_cast<uint32_t>(status)); }

uint32_t lanes_in_state(const IndependentWarp& warp, uint32_t lanes, uint32_t state) {
  uint32_t here = 0;
  for (uint32_t lane = 0; lane < kWarpLanes; ++lane) {
    here |= static_cast<uint32_t>(warp.state[lane] == state) << lane;
  }
  return here & lanes;
}

/// The lanes that wait in the same operation with the same members as `lane`.
uint32_t companions(const IndependentWarp& warp, uint32_t lane) {
  uint32_t result = 0;
  for (uint32_t left = warp.waiting; left != 0; left &= left - 1) {
    const uint32_t other = lowest(left);
    const bool same =
        warp.operation[other] == warp.operation[lane] && warp.members[other] == warp.members[lane];
    result |= static_cast<uint32_t>(same) << other;
  }
  return result;
}

void complete(IndependentWarp* warp, uint32_t participants) {
  for (uint32_t left = participants; left != 0; left &= left - 1) {
    const uint32_t lane = lowest(left);
    warp->received[lane] = warp->sent[lane];
    warp->participants[lane] = participants;
  }
  warp->waiting &= ~participants;
  warp->ready |= participants;
}

/// Completes operations whose members have all arrived or exited. Lanes that their own mask does
/// not name take part together with its members, as in a warp that runs in lockstep.
void look_at_waiting(IndependentWarp* warp, uint32_t lanes) {
  for (uint32_t left = lanes & warp->waiting; left != 0;) {
    const uint32_t lane = lowest(left);
    const uint32_t there = companions(*warp, lane);
    const uint32_t needed = warp->members[lane] & warp->live;
    if ((needed & ~there) == 0) complete(warp, there);
    left &= ~(there | (uint32_t{1} << lane));
  }
}

/// The lane that runs next: the one that has waited longest, then the first in code order.
uint32_t first_of(const IndependentWarp& warp, uint32_t lanes) {
  uint32_t best = lowest(lanes);
  for (uint32_t left = lanes & (lanes - 1); left != 0; left &= left - 1) {
    const uint32_t lane = lowest(left);
    const uint64_t key = uint64_t{warp.stamp[lane]} << 32 | warp.state[lane];
    if (key < (uint64_t{warp.stamp[best]} << 32 | warp.state[best])) best = lane;
  }
  return best;
}

/// Lanes whose operation is complete.
uint64_t take_ready(IndependentWarp* warp) {
  const uint32_t lane = lowest(warp->ready);
  const uint32_t lanes =
      lanes_in_state(*warp, warp->ready & warp->participants[lane], warp->state[lane]);
  warp->ready &= ~lanes;
  return group(lanes, warp->state[lane]);
}

/// Exited lanes are not waited for any more.
void note_exits(IndependentWarp* warp) {
  if (warp->live == warp->checked_live) return;
  warp->checked_live = warp->live;
  look_at_waiting(warp, warp->waiting);
}

uint64_t leave_for_memory(IndependentWarp* warp) {
  if (warp->clock > UINT32_MAX / 2) {  // renumbers before the clock wraps
    for (uint32_t& stamp : warp->stamp) stamp = 0;
    warp->clock = 0;
  }
  warp->entry_clock = warp->clock;
  return leave(IndependentStatus::waiting);
}

uint64_t leave_without_lanes(const IndependentWarp& warp) {
  return leave(warp.live == 0 ? IndependentStatus::finished : IndependentStatus::blocked);
}

}  // namespace

void independent_begin(IndependentWarp* warp, uint32_t live) {
  *warp = {};
  warp->live = live;
  warp->checked_live = live;
}

uint64_t independent_next(IndependentWarp* warp) {
  note_exits(warp);
  if (warp->ready != 0) return take_ready(warp);
  const uint32_t able = warp->live & ~(warp->waiting | warp->blocked);
  if (able == 0) return leave_without_lanes(*warp);
  const uint32_t first = first_of(*warp, able);
  if (warp->stamp[first] > warp->entry_clock) return leave_for_memory(warp);
  return group(lanes_in_state(*warp, able, warp->state[first]), warp->state[first]);
}

uint64_t scheduled_next(IndependentWarp* warp) {
  KM_ASSERT(warp->schedule != nullptr, "a warp without a schedule asks it for lanes");
  Schedule& schedule = *warp->schedule;
  schedule.count_step();
  if (schedule.is_over()) return leave(IndependentStatus::interrupted);
  if (!schedule.has_seed()) return independent_next(warp);
  note_exits(warp);
  if (warp->ready != 0) return take_ready(warp);
  const uint32_t able = warp->live & ~(warp->waiting | warp->blocked);
  if (able == 0) return leave_without_lanes(*warp);
  uint32_t fresh = 0;  // have not waited for memory since the warp was entered
  for (uint32_t left = able; left != 0; left &= left - 1) {
    const uint32_t lane = lowest(left);
    fresh |= static_cast<uint32_t>(warp->stamp[lane] <= warp->entry_clock) << lane;
  }
  if (fresh == 0) return leave_for_memory(warp);
  if (schedule.interrupts()) return leave(IndependentStatus::interrupted);
  const uint32_t picked = schedule.pick_lane(fresh);
  const uint32_t lane = picked < kWarpLanes ? picked : first_of(*warp, fresh);
  const uint32_t here = lanes_in_state(*warp, fresh, warp->state[lane]);
  return group(schedule.pick_group(lane, here), warp->state[lane]);
}

void independent_sync(IndependentWarp* warp, uint32_t lanes, uint32_t operation, uint32_t state) {
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const uint32_t lane = lowest(left);
    warp->operation[lane] = operation;
    warp->state[lane] = state;
  }
  warp->waiting |= lanes;
  look_at_waiting(warp, lanes);
}

}  // namespace km::simt
