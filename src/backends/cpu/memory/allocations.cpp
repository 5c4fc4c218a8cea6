#include "backends/cpu/memory/allocations.h"

#include <algorithm>

#include "base/memory/place_text.h"

namespace km::cpu {
namespace {

/// Beyond this distance, the nearest allocation does not explain a wrong address.
constexpr uint64_t kNearBytes = uint64_t{1} << 30;

}  // namespace

void Allocations::add(uint64_t address, uint64_t size_bytes) {
  std::lock_guard lock(mutex_);
  sizes_.emplace(address, size_bytes);
  largest_bytes_ = std::max(largest_bytes_, size_bytes);
}

void Allocations::remove(uint64_t address, uint64_t size_bytes) {
  std::lock_guard lock(mutex_);
  for (auto entry = sizes_.find(address); entry != sizes_.end(); ++entry) {
    if (entry->first != address || entry->second != size_bytes) continue;
    sizes_.erase(entry);
    return;
  }
  // The entry is missing if the allocation failed for lack of memory for the entry.
}

Allocations& Allocations::of_all_contexts() {
  // The object is never destroyed, because memory may be freed while the process exits.
  static Allocations& all = *new Allocations;
  return all;
}

void Allocations::forget_peer(const Allocations* peer, uint64_t last) {
  std::erase_if(peers_, [&](const Peer& known) {
    const std::shared_ptr<const Allocations> live = known.allocations.lock();
    return live == nullptr || (live.get() == peer && known.number <= last);
  });
}

void Allocations::add_peer(const std::shared_ptr<const Allocations>& peer) {
  std::lock_guard lock(mutex_);
  forget_peer(peer.get(), last_peer_);
  peers_.push_back({peer, ++last_peer_});
}

uint64_t Allocations::last_peer() const {
  std::lock_guard lock(mutex_);
  return last_peer_;
}

void Allocations::drop_peer(const std::shared_ptr<const Allocations>& peer, uint64_t last) {
  std::lock_guard lock(mutex_);
  forget_peer(peer.get(), last);
}

std::vector<Allocations::Peer> Allocations::peers() const {
  std::lock_guard lock(mutex_);
  return peers_;
}

AddressRange Allocations::find(uint64_t address, uint64_t size_bytes) const {
  AddressRange found = find_own(address, size_bytes);
  if (!found.is_empty()) return found;
  for (const Peer& known : peers()) {
    const std::shared_ptr<const Allocations> peer = known.allocations.lock();
    if (peer != nullptr) found = peer->find_own(address, size_bytes);
    if (!found.is_empty()) return found;
  }
  return of_all_contexts().find_own(address, size_bytes);
}

AddressRange Allocations::find_own(uint64_t address, uint64_t size_bytes) const {
  std::lock_guard lock(mutex_);
  auto entry = sizes_.upper_bound(address);
  while (entry != sizes_.begin()) {
    --entry;
    const AddressRange range{entry->first, entry->second};
    if (range.holds(address, size_bytes)) return range;
    if (address - range.begin >= largest_bytes_) break;
  }
  return {};
}

Allocations::Located Allocations::locate(uint64_t address) const {
  std::lock_guard lock(mutex_);
  const auto located = [&](const auto& entry) -> Located {
    const auto& [begin, size_bytes] = *entry;
    return {place_text(address, begin, size_bytes), {begin, size_bytes}};
  };
  auto above = sizes_.upper_bound(address);
  uint64_t before_distance = UINT64_MAX, after_distance = UINT64_MAX;
  auto below = above;
  if (above != sizes_.begin()) {
    --below;
    after_distance = distance_from(address, below->first, below->second);
    if (after_distance == 0 && address - below->first < below->second) return located(below);
  }
  if (above != sizes_.end()) before_distance = above->first - address;
  if (std::min(before_distance, after_distance) > kNearBytes) return {};
  return located(after_distance <= before_distance ? below : above);
}

std::string text_of(const Allocations::Located& located) {
  return located.text.empty() ? "near no allocation of this context" : located.text;
}

std::string place_of(uint64_t address, const Allocations& allocations) {
  return address < kNullBytes ? "near the null address" : text_of(allocations.locate(address));
}

}  // namespace km::cpu
