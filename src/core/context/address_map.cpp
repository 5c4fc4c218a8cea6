#include "core/context/address_map.h"

#include "base/assert.h"

#include <sched.h>

#include <algorithm>
#include <bit>

namespace km {

/// Makes the version odd while a writer changes the map. Stores to nodes are release, so that they
/// come after the odd version; a reader's loads are acquire, so that they come before its second
/// read of the version.
class AddressMap::Writing {
 public:
  explicit Writing(AddressMap& map) : map_(map) {
    const uint64_t before = map_.version_.fetch_add(1, std::memory_order_acq_rel);
    KM_ASSERT((before & 1) == 0, "one thread writes at a time");
    static_cast<void>(before);
  }
  ~Writing() {
    const uint64_t before = map_.version_.fetch_add(1, std::memory_order_release);
    KM_ASSERT((before & 1) == 1, "the version was odd while this thread wrote");
    static_cast<void>(before);
  }
  Writing(const Writing&) = delete;
  Writing& operator=(const Writing&) = delete;

 private:
  AddressMap& map_;
};

AddressMap::AddressMap() { head_.level_count = kLevels; }

uint32_t AddressMap::random_level_count() {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  const auto quarters = static_cast<uint32_t>(std::countr_zero(random_ | uint64_t{1} << 40)) / 2;
  return std::min(quarters + 1, kLevels);
}

AddressMap::Node* AddressMap::take_node() {
  if (free_.empty()) {
    if (nodes_.size() == nodes_.capacity()) nodes_.reserve(std::max<size_t>(16, nodes_.size() * 2));
    free_.reserve(nodes_.capacity());  // reserved here, so that erase() needs no memory
    nodes_.push_back(std::make_unique<Node>());
    free_.push_back(nodes_.back().get());
  }
  KM_ASSERT(!free_.empty(), "a new node is free");
  Node* node = free_.back();
  free_.pop_back();
  return node;
}

void AddressMap::find_path(uint64_t begin, Node* (&path)[kLevels]) {
  Node* node = &head_;
  for (uint32_t level = kLevels; level-- > 0;) {
    Node* next = node->next[level].load(std::memory_order_relaxed);
    while (next != nullptr && next->begin.load(std::memory_order_relaxed) < begin) {
      node = next;
      next = node->next[level].load(std::memory_order_relaxed);
    }
    path[level] = node;
  }
}

std::optional<AddressRange> AddressMap::insert(const AddressRange& range) {
  KM_ASSERT(range.begin < range.end && range.id != 0, "a range has bytes and an id");
  const std::lock_guard lock(mutex_);
  Node* path[kLevels];
  find_path(range.begin, path);
  for (const Node* near : {path[0], path[0]->next[0].load(std::memory_order_relaxed)}) {
    if (near == nullptr || near == &head_) continue;
    const AddressRange other{near->begin.load(std::memory_order_relaxed),
                             near->end.load(std::memory_order_relaxed),
                             near->id.load(std::memory_order_relaxed)};
    if (other.begin < range.end && range.begin < other.end) return other;
  }
  Node* node = take_node();
  const Writing writing(*this);
  node->begin.store(range.begin, std::memory_order_release);
  node->end.store(range.end, std::memory_order_release);
  node->id.store(range.id, std::memory_order_release);
  node->level_count = random_level_count();
  KM_ASSERT(node->level_count >= 1 && node->level_count <= kLevels, "a node is in some level");
  if (node->level_count > level_count_.load(std::memory_order_relaxed)) {
    level_count_.store(node->level_count, std::memory_order_release);
  }
  for (uint32_t level = 0; level < node->level_count; ++level) {
    Node* next = path[level]->next[level].load(std::memory_order_relaxed);
    node->next[level].store(next, std::memory_order_release);
    path[level]->next[level].store(node, std::memory_order_release);
  }
  return std::nullopt;
}

void AddressMap::erase(uint64_t begin, uint64_t id) {
  const std::lock_guard lock(mutex_);
  Node* path[kLevels];
  find_path(begin, path);
  Node* node = path[0]->next[0].load(std::memory_order_relaxed);
  if (node == nullptr || node->begin.load(std::memory_order_relaxed) != begin ||
      node->id.load(std::memory_order_relaxed) != id) {
    return;
  }
  const Writing writing(*this);
  for (uint32_t level = 0; level < node->level_count; ++level) {
    Node* next = node->next[level].load(std::memory_order_relaxed);
    KM_ASSERT(path[level]->next[level].load(std::memory_order_relaxed) == node,
              "the path leads to the node in each of its levels");
    path[level]->next[level].store(next, std::memory_order_release);
  }
  KM_ASSERT(free_.size() < free_.capacity(), "take_node() has made room for all nodes");
  free_.push_back(node);
}

void AddressMap::clear() {
  const std::lock_guard lock(mutex_);
  const Writing writing(*this);
  Node* node = head_.next[0].load(std::memory_order_relaxed);
  while (node != nullptr) {
    free_.push_back(node);
    node = node->next[0].load(std::memory_order_relaxed);
  }
  for (std::atomic<Node*>& next : head_.next) next.store(nullptr, std::memory_order_release);
  KM_ASSERT(free_.size() == nodes_.size(), "a node is in the list or free, and never both");
}

AddressRange AddressMap::read_before(uint64_t address) const {
  // A concurrent writer can lead the reader in circles; this is more steps than any search takes.
  uint32_t steps_left = 100000;
  const Node* node = &head_;
  for (uint32_t level = level_count_.load(std::memory_order_acquire); level-- > 0;) {
    const Node* next = node->next[level].load(std::memory_order_acquire);
    while (next != nullptr && next->begin.load(std::memory_order_acquire) <= address) {
      if (--steps_left == 0) return {};
      node = next;
      next = node->next[level].load(std::memory_order_acquire);
    }
  }
  return {node->begin.load(std::memory_order_acquire), node->end.load(std::memory_order_acquire),
          node->id.load(std::memory_order_acquire)};
}

std::optional<AddressRange> AddressMap::find_at_or_before(uint64_t address) const {
  for (;;) {
    const uint64_t version = version_.load(std::memory_order_acquire);
    if ((version & 1) != 0) {
      sched_yield();
      continue;
    }
    const AddressRange range = read_before(address);
    if (version_.load(std::memory_order_relaxed) != version) continue;
    if (range.id == 0) return std::nullopt;
    return range;
  }
}

std::optional<AddressRange> AddressMap::find(uint64_t address) const {
  std::optional<AddressRange> range = find_at_or_before(address);
  if (range && address >= range->end) return std::nullopt;
  return range;
}

}  // namespace km
