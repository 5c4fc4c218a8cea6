// Finds the allocation that holds an address: disjoint ranges, read without locks.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace km {

struct AddressRange {
  uint64_t begin = 0;
  uint64_t end = 0;  // one past the last byte
  uint64_t id = 0;   // the id of the Memory that the range belongs to
};

/// A skip list. Writers take a mutex; readers compare a version before and after, and read again if
/// a writer came between. Nodes are reused but not freed while the map lives, so that readers never
/// touch freed memory.
class AddressMap {
 public:
  AddressMap();
  AddressMap(const AddressMap&) = delete;
  AddressMap& operator=(const AddressMap&) = delete;

  /// Adds a range that is not empty. If it overlaps a range of the map, that one is returned and
  /// nothing is added. Throws std::bad_alloc.
  std::optional<AddressRange> insert(const AddressRange& range);
  /// Removes the range that starts at `begin` if its id is still `id`.
  void erase(uint64_t begin, uint64_t id);
  void clear();

  /// The range that holds `address`.
  std::optional<AddressRange> find(uint64_t address) const;
  /// The last range that begins at or before `address`, for messages about wrong addresses.
  std::optional<AddressRange> find_at_or_before(uint64_t address) const;

 private:
  static constexpr uint32_t kLevels = 12;  // 4^12 ranges before searches get slower
  struct Node {
    std::atomic<uint64_t> begin{0}, end{0}, id{0};
    std::atomic<Node*> next[kLevels] = {};
    uint32_t level_count = 0;
  };
  class Writing;

  AddressRange read_before(uint64_t address) const;
  void find_path(uint64_t begin, Node* (&path)[kLevels]);
  Node* take_node();
  uint32_t random_level_count();

  std::mutex mutex_;
  std::atomic<uint64_t> version_{0};  // odd while a writer changes the map
  // The most levels that a node has had: searches start there.
  std::atomic<uint32_t> level_count_{0};
  Node head_;
  std::vector<Node*> free_;
  std::vector<std::unique_ptr<Node>> nodes_;  // owns all nodes
  uint64_t random_ = 0x9E3779B97F4A7C15;
};

}  // namespace km
