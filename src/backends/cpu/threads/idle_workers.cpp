#include "backends/cpu/threads/idle_workers.h"

#include <sched.h>

#include <bit>

#include "backends/cpu/threads/futex.h"
#include "base/assert.h"

namespace km::cpu {
namespace {

constexpr uint32_t kBits = 64;
constexpr int kNowhere = -1;  // no processor has this number

uint64_t bit_of(uint32_t worker) { return uint64_t{1} << (worker % kBits); }

}  // namespace

IdleWorkers::IdleWorkers(uint32_t workers)
    : words_((workers + kBits - 1) / kBits),
      places_(new Place[workers]),
      asleep_(new std::atomic<uint64_t>[words_]) {
  for (uint32_t i = 0; i < words_; ++i) asleep_[i].store(0);
}

bool IdleWorkers::any() const {
  for (uint32_t i = 0; i < words_; ++i) {
    if (asleep_[i].load() != 0) return true;
  }
  return false;
}

void IdleWorkers::park(uint32_t worker) {
  KM_ASSERT(worker / kBits < words_, "a worker that has no place is parked");
  Place& place = places_[worker];
  KM_ASSERT((asleep_[worker / kBits].load() & bit_of(worker)) == 0, "a worker is parked twice");
  place.woken.store(0);
  place.cpu.store(sched_getcpu());
  asleep_[worker / kBits].fetch_or(bit_of(worker));
}

/// Claims a parked worker. Of several concurrent callers one gets true, and wakes the worker.
bool IdleWorkers::take(uint32_t worker) {
  return (asleep_[worker / kBits].fetch_and(~bit_of(worker)) & bit_of(worker)) != 0;
}

void IdleWorkers::sleep(uint32_t worker, bool stays_up) {
  if (stays_up && take(worker)) return;
  Place& place = places_[worker];
  while (place.woken.load() == 0) futex_wait(place.woken, 0);
  KM_ASSERT((asleep_[worker / kBits].load() & bit_of(worker)) == 0,
            "a worker that was woken counts as asleep");
  [[maybe_unused]] const uint32_t coming = coming_.fetch_sub(1);
  KM_ASSERT(coming != 0, "more workers wake up than were woken");
}

void IdleWorkers::wake(uint32_t count) {
  const uint32_t woken = wake_some(count, sched_getcpu());
  if (woken < count) wake_some(count - woken, kNowhere);
}

uint32_t IdleWorkers::wake_some(uint32_t count, int cpu_to_avoid) {
  uint32_t woken = 0;
  for (uint32_t word = 0; word < words_; ++word) {
    for (uint64_t left = asleep_[word].load(); left != 0 && woken < count; left &= left - 1) {
      const uint32_t worker = word * kBits + static_cast<uint32_t>(std::countr_zero(left));
      Place& place = places_[worker];
      if (cpu_to_avoid != kNowhere && place.cpu.load() == cpu_to_avoid) continue;
      if (!take(worker)) continue;
      coming_.fetch_add(1);
      place.woken.store(1);
      futex_wake(place.woken, 1);
      ++woken;
    }
  }
  return woken;
}

}  // namespace km::cpu
