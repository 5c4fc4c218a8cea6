// AddressTable, objects for pieces of the address space, made as they are needed.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace km::cpu {

/// The memory that one object of an AddressTable is for.
constexpr uint64_t kTablePieceBytes = 4096;

/// A table of two levels with an object for each piece of memory. Objects are made from the
/// address at which their memory begins, and removed all at once if at all, so that readers need no
/// lock. Thread-safe.
template <typename Object>
class AddressTable {
 public:
  AddressTable() : roots_(new std::atomic<Leaf*>[kRoots] {}) {}

  /// The object of the address; null: it has not been made.
  Object* find(uint64_t address) const {
    const Leaf* const leaf = leaf_of(address);
    return leaf != nullptr ? leaf->at(index_of(address)).load(std::memory_order_acquire) : nullptr;
  }
  /// Returns find()'s object, and makes it if need be; null for addresses that no program has.
  Object* make(uint64_t address) {
    if (Object* const object = find(address)) return object;
    if (address >> kAddressBits != 0) return nullptr;
    const std::lock_guard lock(mutex_);
    std::atomic<Leaf*>& root = roots_[address >> (kPieceBits + kLeafBits)];
    if (root.load() == nullptr) root.store(leaves_.emplace_back(std::make_unique<Leaf>()).get());
    std::atomic<Object*>& place = root.load()->at(index_of(address));
    if (place.load() == nullptr) {
      const uint64_t begin = address & ~(kTablePieceBytes - 1);
      place.store(objects_.emplace_back(std::make_unique<Object>(begin, kTablePieceBytes)).get());
    }
    return place.load();
  }
  /// Removes all objects. Nobody may use the table meanwhile.
  void clear() {
    const std::lock_guard lock(mutex_);
    for (uint64_t root = 0; root < kRoots; ++root) {
      roots_[root].store(nullptr, std::memory_order_relaxed);  // the lock gives the order
    }
    objects_.clear();
    leaves_.clear();
  }
  /// Calls a function with each object.
  template <typename Action>
  void for_each(const Action& action) {
    const std::lock_guard lock(mutex_);
    for (const auto& object : objects_) action(*object);
  }

 private:
  static constexpr uint64_t kPieceBits = std::countr_zero(kTablePieceBytes);
  static constexpr uint64_t kLeafBits = 15, kAddressBits = 47;
  static constexpr uint64_t kRoots = uint64_t{1} << (kAddressBits - kPieceBits - kLeafBits);
  using Leaf = std::array<std::atomic<Object*>, uint64_t{1} << kLeafBits>;

  static uint64_t index_of(uint64_t address) {
    return (address >> kPieceBits) & ((uint64_t{1} << kLeafBits) - 1);
  }
  const Leaf* leaf_of(uint64_t address) const {
    if (address >> kAddressBits != 0) return nullptr;
    return roots_[address >> (kPieceBits + kLeafBits)].load(std::memory_order_acquire);
  }

  std::mutex mutex_;  // of making leaves and objects
  std::unique_ptr<std::atomic<Leaf*>[]> roots_;
  std::vector<std::unique_ptr<Leaf>> leaves_;
  std::vector<std::unique_ptr<Object>> objects_;
};

}  // namespace km::cpu
