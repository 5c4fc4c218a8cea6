#include "backends/cpu/check/launch_checks.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

#include "backends/cpu/fault/guarded_memory.h"
#include "base/assert.h"

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

bool AccessReport::read_stored(uint32_t lane, uint64_t distance_bytes, uint64_t size_bytes,
                               uint8_t* out) const {
  KM_ASSERT(distance_bytes + size_bytes <= size_of(lane), "a byte is asked for that none stores");
  if (values != nullptr) {  // where the elements of a lane are apart
    const uint64_t element = note->element_bytes;
    for (uint64_t i = distance_bytes; i < distance_bytes + size_bytes; ++i) {
      *out++ = values[(i / element * lane_count + lane) * element + i % element];
    }
    return true;
  }
  const uint64_t held = sources->sizes[lane];
  const uint64_t left = held > distance_bytes ? held - distance_bytes : 0;
  const uint64_t copied = std::min(size_bytes, left);
  std::memset(out + copied, 0, size_bytes - copied);
  // The source may be missing, since accesses are reported before they fault.
  const auto* const from = reinterpret_cast<const void*>(sources->addresses[lane] + distance_bytes);
  return copied == 0 || guarded_copy(out, from, copied, false, nullptr);
}

bool AccessReport::stores(uint32_t lane, uint64_t distance_bytes, const uint8_t* bytes,
                          uint32_t size_bytes) const {
  uint8_t stored[kMostCellBytes];
  KM_ASSERT(size_bytes <= sizeof stored, "a race is wider than a cell");
  return read_stored(lane, distance_bytes, size_bytes, stored) &&
         std::memcmp(stored, bytes, size_bytes) == 0;
}

void ReportedStore::clear() {
  const std::lock_guard lock(lock_);
  access_ = {};
}

void ReportedStore::set(const AccessRecord& access, const AccessReport& report) {
  KM_ASSERT(report.lane_count <= simt::kWarpLanes, "a report has more lanes than a warp");
  const std::lock_guard lock(lock_);
  access_ = {};
  note_ = *report.note;
  std::memcpy(addresses_.data(), report.addresses, report.lane_count * sizeof(uint64_t));
  report_ = report;
  report_.addresses = addresses_.data();
  report_.note = &note_;
  if (report.sizes != nullptr) {
    std::memcpy(sizes_.data(), report.sizes, report.lane_count * sizeof(uint64_t));
    report_.sizes = sizes_.data();
  }
  report.values != nullptr ? keep_values(report) : keep_sources(report);
  access_ = access;
}

void ReportedStore::keep_values(const AccessReport& report) {
  bytes_.assign(report.values, report.values + size_t{report.lane_count} * note_.size_bytes);
  report_.values = bytes_.data();
}

/// Keeps what the sources have now, since their memory may change once the store is made.
void ReportedStore::keep_sources(const AccessReport& report) {
  bytes_.clear();
  for (uint32_t left = report.lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(left));
    const uint64_t size_bytes = report.size_of(lane);
    places_[lane] = bytes_.size();
    bytes_.resize(bytes_.size() + size_bytes);
    const bool is_known = report.read_stored(lane, 0, size_bytes, bytes_.data() + places_[lane]);
    if (!is_known) report_.lanes &= ~(uint32_t{1} << lane);
  }
  for (uint64_t& place : places_) place += reinterpret_cast<uint64_t>(bytes_.data());
  sources_ = {places_.data(), report_.sizes, nullptr};
  report_.sources = &sources_;
}

std::optional<bool> ReportedStore::has(const AccessRecord& access, uint64_t address,
                                       const uint8_t* value, uint32_t size_bytes) const {
  const std::lock_guard lock(lock_);
  if (access.moment() != access_.moment() || access.line != access_.line) return std::nullopt;
  const auto lane = static_cast<uint32_t>(access.thread) - report_.first_thread;
  if (lane >= report_.lane_count || (report_.lanes >> lane & 1) == 0) return std::nullopt;
  const uint64_t distance_bytes = address - addresses_[lane];
  if (distance_bytes >= report_.size_of(lane)) return std::nullopt;
  return report_.stores(lane, distance_bytes, value, size_bytes);
}

void LaunchChecks::add_store(ReportedStore* store) {
  store->clear();
  const std::lock_guard lock(mutex_);
  stores_.push_back(store);
}

void LaunchChecks::remove_store(ReportedStore* store) {
  const std::lock_guard lock(mutex_);
  std::erase(stores_, store);
}

std::optional<bool> LaunchChecks::reported_store_has(const AccessRecord& access, uint64_t address,
                                                     const uint8_t* value,
                                                     uint32_t size_bytes) const {
  const std::lock_guard lock(mutex_);
  for (const ReportedStore* const store : stores_) {
    if (const auto has = store->has(access, address, value, size_bytes)) return has;
  }
  return std::nullopt;
}

void LaunchChecks::note(const Race& race) {
  const auto kinds = static_cast<uint32_t>(race.before.kind * 8 + race.now.kind * 2 +
                                           (race.is_same_value ? 1 : 0));
  const Key key{static_cast<uint32_t>(race.before.line), static_cast<uint32_t>(race.now.line),
                kinds};
  const std::lock_guard lock(mutex_);
  Race& kept = races_.try_emplace(key, race).first->second;
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
