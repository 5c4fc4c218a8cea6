#include "backends/vulkan/device/buffer_map.h"

namespace km::vulkan {

bool BufferMap::add(uint64_t begin, uint64_t size_bytes, BufferPlace place) {
  const std::lock_guard lock(mutex_);
  const auto next = entries_.lower_bound(begin);
  if (next != entries_.end() && next->first - begin < size_bytes) return false;
  if (next != entries_.begin()) {
    const auto before = std::prev(next);
    if (begin - before->first < before->second.size_bytes) return false;
  }
  entries_.emplace_hint(next, begin, Entry{size_bytes, place});
  ++version_;
  return true;
}

void BufferMap::remove(uint64_t begin) {
  const std::lock_guard lock(mutex_);
  entries_.erase(begin);
  ++version_;
}

std::optional<BufferPlace> BufferMap::find(uint64_t address, uint64_t size_bytes) const {
  const std::lock_guard lock(mutex_);
  auto found = entries_.upper_bound(address);
  if (found == entries_.begin()) return std::nullopt;
  --found;
  const uint64_t offset = address - found->first;
  const Entry& entry = found->second;
  if (offset > entry.size_bytes || size_bytes > entry.size_bytes - offset) return std::nullopt;
  return entry.place.at(offset);
}

std::vector<BufferMap::Range> BufferMap::ranges(uint64_t* out_version) const {
  const std::lock_guard lock(mutex_);
  std::vector<Range> all;
  all.reserve(entries_.size());
  for (const auto& [begin, entry] : entries_) all.push_back({begin, begin + entry.size_bytes});
  *out_version = version_;
  return all;
}

uint64_t BufferMap::version() const {
  const std::lock_guard lock(mutex_);
  return version_;
}

}  // namespace km::vulkan
