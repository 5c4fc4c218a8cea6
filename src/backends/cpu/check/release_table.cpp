#include "backends/cpu/check/release_table.h"

namespace km::cpu {

using simt::MemoryScope;

void ReleaseTable::release(uint64_t address, const Release& by, const SharedKnowledge& known) {
  if (!known && is_empty_.load(std::memory_order_acquire)) return;
  Shard& shard = this->shard(address);
  const std::lock_guard lock(shard.mutex);
  const auto at = shard.places.find(address);
  if (!known && at == shard.places.end()) return;
  Place& place = at != shard.places.end() ? at->second : shard.places[address];
  if (!by.adds) place = {};
  if (by.scope == MemoryScope::block) {
    place.for_block = place.block == by.block ? joined(place.for_block, known) : known;
    place.block = by.block;
  } else {
    place.for_all = joined(place.for_all, known);
    place.last_block = by.block;
  }
  is_empty_.store(false, std::memory_order_release);
}

SharedKnowledge ReleaseTable::acquire(uint64_t address, uint32_t block, MemoryScope scope) const {
  if (is_empty_.load(std::memory_order_acquire)) return nullptr;
  const Shard& shard = this->shard(address);
  const std::lock_guard lock(shard.mutex);
  const auto at = shard.places.find(address);
  if (at == shard.places.end()) return nullptr;
  const Place& place = at->second;
  // An acquire with the scope of a block sees nothing that another block released.
  const bool sees_all = scope != MemoryScope::block || place.last_block == block;
  const SharedKnowledge for_all = sees_all ? place.for_all : nullptr;
  return place.block == block ? joined(for_all, place.for_block) : for_all;
}

}  // namespace km::cpu
