// DelayedStores, the stores of a launch that other threads do not see yet.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace km::cpu {

/// Keeps plain stores until something orders them, as the memory model allows. The thread itself
/// sees them at once: an access of its own to the same memory makes them first.
class DelayedStores {
 public:
  static constexpr uint32_t kMostBytes = 16;  // of one store

  /// A thread of the launch.
  struct Thread {
    uint32_t block = 0, index = 0;
    bool operator==(const Thread&) const = default;
  };
  struct Store {
    Thread thread;
    uint64_t address = 0;
    uint32_t size_bytes = 0;
    std::array<uint8_t, kMostBytes> bytes{};
    bool is_of_block = false;  // shared memory, which is another block's later
  };

  bool is_empty() const { return stores_.empty(); }
  size_t size() const { return stores_.size(); }
  void add(const Store& store) { stores_.push_back(store); }
  /// Makes the store at this index of those that are left.
  void make(size_t index);
  /// Makes all stores of a thread.
  void make_all(const Thread& thread);
  /// Makes those of a thread that overlap the memory.
  void make_before(const Thread& thread, uint64_t address, uint64_t size_bytes);
  /// Makes the stores of a block to its own memory, because it ends.
  void make_own(uint32_t block);
  /// Makes all stores of a block.
  void make_block(uint32_t block);
  /// Makes all stores, because the launch ends.
  void make_all();

 private:
  template <typename Test>
  void make_if(const Test& test);

  std::vector<Store> stores_;
};

}  // namespace km::cpu
