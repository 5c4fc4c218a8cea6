// UndefinedMemory, the bytes of device memory that nothing has written yet.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace km::cpu {

/// A bit for each byte of the allocations that it was told of. Memory that it does not know is
/// defined. Thread-safe: threads of a kernel that race here race in memory, too.
class UndefinedMemory {
 public:
  /// The memory of the process.
  static UndefinedMemory& instance();

  /// New memory, whose content is undefined.
  void add(uint64_t address, uint64_t size_bytes) { set(address, size_bytes, true); }
  /// Memory that has been written, or that is freed.
  void define(uint64_t address, uint64_t size_bytes) { set(address, size_bytes, false); }
  /// Memory that has been copied: the copy of an undefined byte is undefined.
  void copy(uint64_t to, uint64_t from, uint64_t size_bytes);
  /// Defines all memory, because something was written that nobody knows.
  void define_all();
  /// The number of the first undefined byte, or `size_bytes` if there is none.
  uint64_t first_undefined(uint64_t address, uint64_t size_bytes) const;

 private:
  static constexpr uint64_t kPartBytes = 4096, kPartBits = 12, kLeafBits = 15, kAddressBits = 47;
  static constexpr uint64_t kWordBits = 64, kWords = kPartBytes / kWordBits;
  static constexpr uint64_t kRoots = uint64_t{1} << (kAddressBits - kPartBits - kLeafBits);
  using Part = std::array<std::atomic<uint64_t>, kWords>;  // 1: undefined
  using Leaf = std::array<std::atomic<Part*>, uint64_t{1} << kLeafBits>;

  UndefinedMemory() : roots_(new std::atomic<Leaf*>[kRoots] {}) {}
  void set(uint64_t address, uint64_t size_bytes, bool is_undefined);
  Part* find(uint64_t address) const;
  Part* make(uint64_t address);

  std::mutex mutex_;  // of making leaves and parts
  std::unique_ptr<std::atomic<Leaf*>[]> roots_;
  std::vector<std::unique_ptr<Leaf>> leaves_;
  std::vector<std::unique_ptr<Part>> parts_;
};

}  // namespace km::cpu
