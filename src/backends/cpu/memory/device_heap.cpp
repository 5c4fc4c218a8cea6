#include "backends/cpu/memory/device_heap.h"

#include <algorithm>
#include <new>
#include <utility>

#include "backends/cpu/memory/allocations.h"
#include "base/assert.h"
#include "base/memory/host_allocator.h"

namespace km::cpu {
namespace {

constexpr uint64_t kAlignBytes = 16;
constexpr uint64_t kLeastRangeBytes = 8 << 20;

uint64_t block_of(uint64_t size_bytes) { return round_up(size_bytes, kAlignBytes); }

}  // namespace

/// Takes a free block of exactly this size; 0 if there is none.
uint64_t DeviceHeap::take_free(uint64_t block_bytes) {
  const auto found = free_.find(block_bytes);
  if (found == free_.end() || found->second.empty()) return 0;
  const uint64_t address = found->second.back();
  found->second.pop_back();
  return address;
}

uint64_t DeviceHeap::take_fresh(uint64_t block_bytes) {
  KM_ASSERT(fresh_begin_ <= fresh_end_, "the unused part of a range ends before it begins");
  if (block_bytes > fresh_end_ - fresh_begin_) return 0;
  fresh_begin_ += block_bytes;
  return fresh_begin_ - block_bytes;
}

/// Takes the smallest free block that is large enough; 0 if there is none.
uint64_t DeviceHeap::take_merged(uint64_t block_bytes) {
  if (may_merge_) merge_free();
  uint64_t best = 0;
  for (const auto& [size_bytes, addresses] : free_) {
    if (size_bytes < block_bytes || addresses.empty()) continue;
    if (best == 0 || size_bytes < best) best = size_bytes;
  }
  if (best == 0) return 0;
  const uint64_t address = take_free(best);
  if (best > block_bytes) put_back(address + block_bytes, best - block_bytes);
  return address;
}

/// Merges adjacent free blocks.
void DeviceHeap::merge_free() {
  std::vector<std::pair<uint64_t, uint64_t>> blocks;  // address and size
  for (const auto& [size_bytes, addresses] : free_) {
    for (const uint64_t address : addresses) blocks.emplace_back(address, size_bytes);
  }
  std::sort(blocks.begin(), blocks.end());
  free_.clear();
  for (size_t i = 0; i < blocks.size();) {
    auto [begin, size_bytes] = blocks[i];
    for (++i; i < blocks.size() && blocks[i].first == begin + size_bytes; ++i) {
      size_bytes += blocks[i].second;
    }
    KM_ASSERT(i == blocks.size() || blocks[i].first > begin + size_bytes, "free blocks overlap");
    put_back(begin, size_bytes);
  }
  may_merge_ = false;
}

/// Adds a range with room for the block, within the limit. Each range is at least as large as all
/// earlier ones together.
bool DeviceHeap::add_range(uint64_t block_bytes) {
  const uint64_t room = limit_bytes_ - std::min(limit_bytes_, reserved_bytes_);
  if (block_bytes > room) return false;
  const uint64_t wanted = std::max({block_bytes, reserved_bytes_, kLeastRangeBytes});
  GuardedRange range = GuardedRange::make(std::min(wanted, room));
  if (!range) range = GuardedRange::make(block_bytes);
  if (!range) return false;
  ranges_.reserve(ranges_.size() + 1);
  if (fresh_begin_ != fresh_end_) {
    put_back(fresh_begin_, fresh_end_ - fresh_begin_);
    may_merge_ = true;
  }
  fresh_begin_ = range.begin();
  fresh_end_ = range.end();
  reserved_bytes_ += range.size_bytes();
  ranges_.push_back(std::move(range));
  return true;
}

uint64_t DeviceHeap::take(uint64_t block_bytes) {
  if (const uint64_t address = take_free(block_bytes)) return address;
  if (const uint64_t address = take_fresh(block_bytes)) return address;
  if (add_range(block_bytes)) return take_fresh(block_bytes);
  return take_merged(block_bytes);
}

/// Without memory for the record, the block leaks.
void DeviceHeap::put_back(uint64_t address, uint64_t block_bytes) noexcept {
  KM_ASSERT(address % kAlignBytes == 0 && block_bytes % kAlignBytes == 0 && block_bytes != 0,
            "a free block is not made of whole units");
  try {
    free_[block_bytes].push_back(address);
  } catch (const std::bad_alloc&) {
    return;
  }
}

uint64_t DeviceHeap::allocate(uint64_t size_bytes, const Place& place) {
  if (size_bytes == 0 || size_bytes > UINT64_MAX / 2) return 0;
  const HostMemoryOptional optional;  // without memory the kernel gets a null pointer
  const uint64_t block_bytes = block_of(size_bytes);
  std::lock_guard lock(mutex_);
  if (used_bytes_ > limit_bytes_ || block_bytes > limit_bytes_ - used_bytes_) return 0;
  uint64_t address = 0;
  try {
    address = take(block_bytes);
    if (address == 0) return 0;
    if (is_followed()) places_.try_emplace(place);
    blocks_.emplace(address, Block{size_bytes, place});
    allocations_->add(address, size_bytes);
  } catch (const std::bad_alloc&) {
    if (address == 0) return 0;
    blocks_.erase(address);
    put_back(address, block_bytes);
    return 0;
  }
  used_bytes_ += block_bytes;
  KM_ASSERT(used_bytes_ <= reserved_bytes_, "kernels have more memory than the ranges hold");
  return address;
}

bool DeviceHeap::release(uint64_t address) {
  if (address == 0) return true;
  const HostMemoryOptional optional;
  std::lock_guard lock(mutex_);
  const auto entry = blocks_.find(address);
  if (entry == blocks_.end()) return false;
  const uint64_t block_bytes = block_of(entry->second.size_bytes);
  allocations_->remove(address, entry->second.size_bytes);
  KM_ASSERT(used_bytes_ >= block_bytes, "kernels free more than they have");
  used_bytes_ -= block_bytes;
  blocks_.erase(entry);
  put_back(address, block_bytes);
  may_merge_ = true;
  return true;
}

void DeviceHeap::describe(uint64_t unit, const std::function<PlaceText(uint64_t pc)>& text_of) {
  std::vector<std::pair<Place, PlaceText>> unnamed;
  {
    const std::lock_guard lock(mutex_);
    for (auto at = places_.lower_bound({unit, 0}); at != places_.end() && at->first.unit == unit;
         ++at) {
      if (at->second.kernel.empty()) unnamed.emplace_back(at->first, PlaceText());
    }
  }
  // Reading a line table takes long, so kernels that allocate do not wait for it.
  for (auto& [place, text] : unnamed) text = text_of(place.pc);
  const std::lock_guard lock(mutex_);
  for (auto& [place, text] : unnamed) {
    const auto at = places_.find(place);
    if (at != places_.end()) at->second = std::move(text);
  }
}

std::vector<DeviceHeap::Alive> DeviceHeap::alive() const {
  std::map<Place, Alive> all;
  const std::lock_guard lock(mutex_);
  for (const auto& [address, block] : blocks_) {
    Alive& alive = all[block.place];
    if (alive.count++ == 0 || address < alive.address) alive.address = address;
    alive.size_bytes += block.size_bytes;
  }
  std::vector<Alive> result;
  for (auto& [place, alive] : all) {
    alive.is_of_runtime = place.is_of_runtime;
    const auto text = places_.find(place);
    if (text != places_.end()) alive.place = text->second;
    result.push_back(std::move(alive));
  }
  return result;
}

uint64_t DeviceHeap::limit_bytes() const {
  std::lock_guard lock(mutex_);
  return limit_bytes_;
}

void DeviceHeap::set_limit(uint64_t size_bytes) {
  std::lock_guard lock(mutex_);
  limit_bytes_ = size_bytes;
}

void DeviceHeap::clear() {
  std::lock_guard lock(mutex_);
  for (const auto& [address, block] : blocks_) allocations_->remove(address, block.size_bytes);
  blocks_.clear();
  places_.clear();
  free_.clear();
  ranges_.clear();
  used_bytes_ = reserved_bytes_ = fresh_begin_ = fresh_end_ = 0;
}

}  // namespace km::cpu
