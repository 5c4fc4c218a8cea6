#include "backends/cpu/counters/launch_counters.h"

#include <bit>

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
kmb_counter_kind kind_of(const simt::CountedAccess& access, kmb_counter_kind first) {
  if (access.kind == AccessKind::read) return first;
  return first + (access.kind == AccessKind::write ? 1 : 2);
}

uint32_t count_of(uint32_t lanes) { return static_cast<uint32_t>(std::popcount(lanes)); }

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

kmb_counts& WarpCounters::counts_at(uint64_t key, Place place) {
  if (2 * used_ >= entries_.size()) grow();
  size_t slot = slot_of(key, entries_.size());
  while (entries_[slot].key != key) {
    if (entries_[slot].key == 0) {
      ++used_;
      entries_[slot] = {key, place, {}};
      break;
    }
    slot = (slot + 1) & (entries_.size() - 1);
  }
  return entries_[slot].counts;
}

void WarpCounters::count_global(const simt::CountedAccess& access, const WarpRequest& request) {
  const RequestCost cost = sectors_of(request);
  kmb_counts& counts =
      counts_at(key_of(&access, 0), {access.line, kind_of(access, KMB_COUNTER_GLOBAL_LOAD)});
  ++counts.requests;
  counts.threads += count_of(request.lanes);
  counts.taken += cost.taken;
  counts.ideal += cost.ideal;
}

void WarpCounters::count_shared(const simt::CountedAccess& access, const WarpRequest& request) {
  const RequestCost cost = wavefronts_of(request, access.kind == AccessKind::atomic);
  kmb_counts& counts =
      counts_at(key_of(&access, 1), {access.line, kind_of(access, KMB_COUNTER_SHARED_LOAD)});
  ++counts.requests;
  counts.threads += count_of(request.lanes);
  counts.taken += cost.taken;
  counts.ideal += cost.ideal;
}

void WarpCounters::count_block(const simt::CountedBlock& block, uint32_t lanes, uint32_t way) {
  kmb_counts& all = counts_at(key_of(&block, 0), {block.line, KMB_COUNTER_INSTRUCTION});
  all.requests += block.instructions;
  all.threads += uint64_t{block.instructions} * count_of(lanes);
  if (block.is_branch == 0) return;
  kmb_counts& branch = counts_at(key_of(&block, 1), {block.line, KMB_COUNTER_BRANCH});
  ++branch.requests;
  branch.threads += count_of(lanes);
  branch.taken += way != lanes ? 1 : 0;
}

void LaunchCounters::add(const WarpCounters& of_thread) {
  const std::lock_guard lock(mutex_);
  for (const WarpCounters::Entry& entry : of_thread.entries()) {
    if (entry.key == 0) continue;
    kmb_counts& counts = places_[entry.place];
    counts.requests += entry.counts.requests;
    counts.threads += entry.counts.threads;
    counts.taken += entry.counts.taken;
    counts.ideal += entry.counts.ideal;
  }
}

}  // namespace km::cpu
