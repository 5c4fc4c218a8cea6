#include "backends/cpu/check/launch_checks.h"

#include <atomic>
#include <cstring>

#include "simt/engine.h"

namespace km::cpu {
namespace {

uint32_t next_era() {
  static std::atomic<uint32_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) % kMostEras + 1;
}

}  // namespace

Race::Distance Race::distance() const {
  if (before.block != now.block || before.who() == Readers::several_blocks) return Distance::grid;
  const bool is_one_warp = before.thread / simt::kWarpLanes == now.thread / simt::kWarpLanes;
  return is_one_warp && before.who() != Readers::block ? Distance::warp : Distance::block;
}

LaunchChecks::LaunchChecks(uint16_t tools)
    : tools_(tools),
      era_(next_era()),
      touched_((tools & simt::check_tool::kStreams) != 0 ? std::make_unique<TouchedMemory>()
                                                         : nullptr) {
  if ((tools & simt::check_tool::kRace) != 0) shadow_.emplace();
}

LaunchChecks::Key LaunchChecks::key_of(const Race& race) {
  const auto kinds = static_cast<uint32_t>(race.before.kind * 8 + race.now.kind * 2 +
                                           (race.is_same_value ? 1 : 0));
  return {static_cast<uint32_t>(race.before.line), static_cast<uint32_t>(race.now.line), kinds};
}

bool LaunchChecks::has_differing(const Race& race) const {
  KM_ASSERT(!race.is_same_value, "a race is asked for whose values are equal");
  const std::lock_guard lock(mutex_);
  return races_.contains(key_of(race));
}

void LaunchChecks::add_pending(const PendingStore* store) {
  const std::lock_guard lock(mutex_);
  pending_.push_back(store);
}

void LaunchChecks::remove_pending(const PendingStore* store) {
  const std::lock_guard lock(mutex_);
  std::erase(pending_, store);
}

std::optional<bool> LaunchChecks::pending_writes(const PendingStore& wanted) const {
  const std::lock_guard lock(mutex_);
  for (const PendingStore* const store : pending_) {
    const uint64_t distance_bytes = wanted.address - store->address;
    if (store->block != wanted.block || distance_bytes >= store->size_bytes) continue;
    if (wanted.size_bytes > store->size_bytes - distance_bytes) continue;
    return std::memcmp(store->value + distance_bytes, wanted.value, wanted.size_bytes) == 0;
  }
  return std::nullopt;
}

void LaunchChecks::note(const Race& race) {
  const std::lock_guard lock(mutex_);
  Race& kept = races_.try_emplace(key_of(race), race).first->second;
  ++kept.count;
  if (race.distance() <= kept.distance()) return;
  const uint64_t count = kept.count;
  kept = race;
  kept.count = count;
}

void LaunchChecks::note(const Invalid& invalid) {
  if (invalid.kind == Invalid::outside || invalid.kind == Invalid::misaligned) {
    invalid_count_.fetch_add(1, std::memory_order_relaxed);
  }
  const std::lock_guard lock(mutex_);
  const std::pair<uint32_t, uint8_t> key{static_cast<uint32_t>(invalid.access.line), invalid.kind};
  ++invalid_.try_emplace(key, invalid).first->second.count;
}

std::vector<LaunchChecks::Invalid> LaunchChecks::invalid() const {
  const std::lock_guard lock(mutex_);
  std::vector<Invalid> all;
  all.reserve(invalid_.size());
  for (const auto& [key, invalid] : invalid_) all.push_back(invalid);
  return all;
}

void LaunchChecks::note(const Misuse& misuse) {
  const std::lock_guard lock(mutex_);
  ++misuses_.try_emplace({misuse.line, misuse.other_line, misuse.kind}, misuse).first->second.count;
}

std::vector<Misuse> LaunchChecks::misuses() const {
  const std::lock_guard lock(mutex_);
  std::vector<Misuse> all;
  all.reserve(misuses_.size());
  for (const auto& [key, misuse] : misuses_) all.push_back(misuse);
  return all;
}

std::vector<Race> LaunchChecks::races() const {
  const std::lock_guard lock(mutex_);
  std::vector<Race> all;
  all.reserve(races_.size());
  for (const auto& [key, race] : races_) all.push_back(race);
  return all;
}

}  // namespace km::cpu
