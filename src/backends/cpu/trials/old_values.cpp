#include "backends/cpu/trials/old_values.h"

#include <algorithm>

#include "backends/cpu/fault/guarded_memory.h"
#include "base/assert.h"
#include "simt/abi.h"

namespace km::cpu {
namespace {

uint64_t place_of(uint64_t address) { return address / OldValues::kMostBytes; }

}  // namespace

void OldValues::note_write(const Access& access, const BlockClock& clock) {
  KM_ASSERT(access.size_bytes <= kMostBytes, "an access is kept that is too wide");
  if (places_.size() >= kMostPlaces && !places_.contains(place_of(access.address))) return;
  Store store;
  const auto* const memory = reinterpret_cast<const void*>(access.address);
  // An access to what is not there will fault.
  if (!guarded_copy(store.before.data(), memory, access.size_bytes, false, nullptr)) return;
  store.time = ++now_;
  store.address = access.address;
  store.size_bytes = access.size_bytes;
  store.is_own = access.is_own;
  store.by.block = clock.block();
  store.by.tick = clock.now();
  store.by.thread = access.thread;
  store.by.kind = static_cast<uint64_t>(simt::AccessKind::write);
  std::vector<Store>& stores = places_[place_of(access.address)].stores;
  if (stores.size() == kMostStores) stores.erase(stores.begin());
  stores.push_back(store);
}

void OldValues::sync(uint32_t block, uint32_t thread) {
  make_room();
  synced_[{block, thread}] = now_;
}

void OldValues::forget() {
  places_.clear();
  synced_.clear();
  blocks_.clear();
  seen_count_ = 0;
}

/// Without stores nothing needs to be known of threads.
void OldValues::make_room() {
  if (entries() >= kMostEntries) forget();
}

void OldValues::follow(const BlockClock& clock) {
  make_room();
  BlockTime& last = blocks_[clock.block()];
  if (last.tick == clock.now()) return;
  last = {clock.now(), now_};
}

/// The time of the thread's last fence or acquire, after which it has seen all earlier stores.
uint64_t OldValues::synced_at(const Access& access, const BlockClock& clock) const {
  const auto synced = synced_.find({clock.block(), access.thread});
  return synced != synced_.end() ? synced->second : 0;
}

/// The first of the words that the access touches in its place, and the one after the last.
std::pair<size_t, size_t> OldValues::words_of(const Access& access) {
  const uint64_t begin = access.address % kMostBytes;
  // A misaligned access may end in the next place; it is about to fault.
  return {begin / 4, (std::min<uint64_t>(begin + access.size_bytes, kMostBytes) + 3) / 4};
}

/// The stores, the latest first, whose earlier content the thread may see. In step, a warp's lanes
/// see what others of it have stored.
std::vector<const OldValues::Store*> OldValues::candidates(const Access& access,
                                                           const BlockClock& clock,
                                                           bool in_step) const {
  std::vector<const Store*> found;
  const auto place = places_.find(place_of(access.address));
  if (place == places_.end()) return found;
  uint64_t since = synced_at(access, clock);
  const auto seen = place->second.seen.find({clock.block(), access.thread});
  if (seen != place->second.seen.end()) {
    const auto [first, end] = words_of(access);
    since = std::max(since, *std::max_element(&seen->second[first], &seen->second[0] + end));
  }
  const auto block = blocks_.find(clock.block());
  const uint64_t block_since = block != blocks_.end() ? block->second.time : 0;
  const std::vector<Store>& stores = place->second.stores;
  for (auto at = stores.rbegin(); at != stores.rend(); ++at) {
    const bool is_same_block = at->by.block == clock.block();
    if (at->time <= since || at->is_own != access.is_own) break;
    if (!is_same_block && (access.is_own || at->time <= block_since)) break;
    if (is_same_block && clock.is_ordered(at->by, access.thread)) break;
    const bool is_of_warp =
        is_same_block && at->by.thread / simt::kWarpLanes == access.thread / simt::kWarpLanes;
    if (in_step && is_of_warp) break;
    if (content(*at, access)) found.push_back(&*at);
  }
  return found;
}

void OldValues::see(const Access& access, const BlockClock& clock) {
  auto place = places_.find(place_of(access.address));
  if (place == places_.end()) return;
  KM_ASSERT(!place->second.stores.empty(), "a place is kept without a store");
  if (place->second.stores.back().time <= synced_at(access, clock)) return;
  if (entries() >= kMostEntries) return forget();
  const auto [seen, is_new] = place->second.seen.try_emplace({clock.block(), access.thread});
  const auto [first, end] = words_of(access);
  std::fill(&seen->second[first], &seen->second[0] + end, now_);
  seen_count_ += is_new ? 1 : 0;
}

/// The part of the store's earlier content that the access loads; nothing if it loads more.
std::optional<OldValues::Bytes> OldValues::content(const Store& store, const Access& access) {
  const uint64_t offset = access.address - store.address;
  if (offset >= store.size_bytes || access.size_bytes > store.size_bytes - offset) return {};
  Bytes bytes{};
  std::copy_n(store.before.begin() + static_cast<ptrdiff_t>(offset), access.size_bytes,
              bytes.begin());
  return bytes;
}

}  // namespace km::cpu
