#include "backends/cpu/counters/launch_counters.h"

#include <bit>

#include "backend/counts.h"
#include "base/assert.h"
#include "base/memory/host_allocator.h"

namespace km::cpu {

using simt::AccessKind;

namespace {

constexpr size_t kFirstEntries = 64;

/// The notes of places are aligned, so that the low bits of a note's address can tell its places
/// apart.
uint64_t key_of(const void* note, uint64_t part) {
  const auto address = reinterpret_cast<uint64_t>(note);
  KM_ASSERT((address & 3) == 0 && part < 4, "notes of counters are aligned");
  return address | part;
}

size_t slot_of(uint64_t key, size_t size) {
  constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;
  return static_cast<size_t>((key * kGolden) >> 32) & (size - 1);
}

/// The kind of an access, `first` being that of loads of its memory.
km_counter_kind kind_of(const simt::CountedAccess& access, km_counter_kind first) {
  if (access.kind == AccessKind::read) return first;
  return first + (access.kind == AccessKind::write ? 1 : 2);
}

uint32_t count_of(uint32_t lanes) { return static_cast<uint32_t>(std::popcount(lanes)); }

void add_request(const WarpRequest& request, const RequestCost& cost, kmb_counts& sum) {
  ++sum.requests;
  sum.threads += count_of(request.lanes);
  sum.taken += cost.taken;
  sum.ideal += cost.ideal;
}

}  // namespace

void WarpCounters::clear() {
  entries_.clear();
  used_ = 0;
}

/// Doubles the table. The running kernel cannot go on without memory for it.
void WarpCounters::grow() {
  const HostMemoryNeeded needed;
  std::vector<Entry> old(entries_.empty() ? kFirstEntries : 2 * entries_.size());
  old.swap(entries_);
  for (const Entry& entry : old) {
    if (entry.key == 0) continue;
    size_t slot = slot_of(entry.key, entries_.size());
    while (entries_[slot].key != 0) slot = (slot + 1) & (entries_.size() - 1);
    entries_[slot] = entry;
  }
}

/// The entry of a place, which is empty at first.
WarpCounters::Entry& WarpCounters::entry_at(uint64_t key) {
  if (2 * used_ >= entries_.size()) grow();
  size_t slot = slot_of(key, entries_.size());
  while (entries_[slot].key != key) {
    if (entries_[slot].key == 0) {
      ++used_;
      entries_[slot].key = key;
      break;
    }
    slot = (slot + 1) & (entries_.size() - 1);
  }
  return entries_[slot];
}

/// The counts of an access, `first` being the kind of loads of its memory.
kmb_counts& WarpCounters::counts_of(const simt::CountedAccess& access, uint64_t part,
                                    km_counter_kind first) {
  Entry& entry = entry_at(key_of(&access, part));
  entry.place = {access.line, kind_of(access, first)};
  return entry.counts;
}

void WarpCounters::count_global(const simt::CountedAccess& access, const WarpRequest& request) {
  add_request(request, sectors_of(request), counts_of(access, 0, KM_COUNTER_KIND_GLOBAL_LOAD));
}

void WarpCounters::count_shared(const simt::CountedAccess& access, const WarpRequest& request) {
  const RequestCost cost = wavefronts_of(request, access.kind == AccessKind::atomic);
  add_request(request, cost, counts_of(access, 1, KM_COUNTER_KIND_SHARED_LOAD));
}

void WarpCounters::count_block(const simt::CountedBlock& block, uint32_t lanes, uint32_t way) {
  Entry& entry = entry_at(key_of(&block, 0));
  entry.block = &block;
  ++entry.counts.requests;
  entry.counts.threads += count_of(lanes);
  entry.counts.taken += way != lanes ? 1 : 0;
}

void LaunchCounters::add_block(const WarpCounters::Entry& entry) {
  const simt::CountedBlock& block = *entry.block;
  kmb_counts& instructions = places_[{block.line, KM_COUNTER_KIND_INSTRUCTION}];
  instructions.requests += block.instructions * entry.counts.requests;
  instructions.threads += block.instructions * entry.counts.threads;
  if (block.is_branch != 0) add_counts(entry.counts, places_[{block.line, KM_COUNTER_KIND_BRANCH}]);
}

void LaunchCounters::add(const WarpCounters& of_thread) {
  const HostMemoryNeeded needed;
  const std::lock_guard lock(mutex_);
  for (const WarpCounters::Entry& entry : of_thread.entries()) {
    if (entry.key == 0) continue;
    if (entry.block != nullptr) {
      add_block(entry);
    } else {
      add_counts(entry.counts, places_[entry.place]);
    }
  }
}

}  // namespace km::cpu
