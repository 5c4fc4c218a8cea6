// UndefinedMemory, the bytes of device memory that nothing has written yet.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "backends/cpu/check/address_table.h"
#include "backends/cpu/memory/allocations.h"

namespace km::cpu {

/// A bit for each byte of the allocations that it was told of. Memory that it does not know is
/// defined. Thread-safe: threads of a kernel that race here race in memory, too.
class UndefinedMemory {
 public:
  /// The memory of the process.
  static UndefinedMemory& instance();
  /// True once begin() was called: a context follows what has been written.
  static bool is_used() { return is_used_.load(std::memory_order_relaxed); }
  static void begin() { is_used_.store(true, std::memory_order_relaxed); }

  /// New memory, whose content is undefined.
  void add(uint64_t address, uint64_t size_bytes) { set(address, size_bytes, true); }
  /// Memory that has been written, or that is freed. Returns true if some of it was undefined.
  bool define(uint64_t address, uint64_t size_bytes) { return set(address, size_bytes, false); }
  /// A block's shared memory, which one thread uses: all of it is undefined, and nothing beside it.
  void begin_shared(uint64_t address, uint64_t size_bytes);
  /// define() for such memory, without the cost of other threads.
  bool define_shared(uint64_t address, uint64_t size_bytes);
  /// Memory that has been copied: the copy of an undefined byte is undefined.
  void copy(uint64_t to, uint64_t from, uint64_t size_bytes);
  /// Defines all memory, because something was written that nobody knows.
  void define_all();
  /// The number of the first undefined byte, or `size_bytes` if there is none.
  uint64_t first_undefined(uint64_t address, uint64_t size_bytes) const;
  /// True if `size_bytes` at the addresses of these lanes are defined.
  bool are_defined(const uint64_t* addresses, uint32_t lanes, uint64_t size_bytes) const;
  /// Defined memory around `address` in the range `within`, at most about `most_bytes` on each
  /// side; empty if the byte there is undefined.
  AddressRange defined_around(uint64_t address, const AddressRange& within,
                              uint64_t most_bytes) const;

 private:
  /// The bits of some memory.
  struct Part {
    static constexpr uint64_t kBytes = kTablePieceBytes, kWordBits = 64,
                              kWords = kBytes / kWordBits;

    Part(uint64_t /*begin*/, uint64_t size_bytes);
    uint64_t set_in_word(uint64_t first, uint64_t count, bool is_undefined);
    bool set(uint64_t first, uint64_t last, bool is_undefined);
    void begin_shared(uint64_t first, uint64_t last);
    bool define_shared(uint64_t first, uint64_t last);
    bool holds_defined(uint64_t first, uint64_t size_bytes) const;
    uint64_t first_undefined(uint64_t first, uint64_t last) const;
    uint64_t after_last_undefined(uint64_t first, uint64_t last) const;
    bool is_defined() const { return undefined_bytes.load(std::memory_order_relaxed) == 0; }

    std::array<std::atomic<uint64_t>, kWords> words{};  // 1: undefined
    std::atomic<uint32_t> undefined_bytes{0};           // the number of bits that are set
  };

  UndefinedMemory() = default;
  bool set(uint64_t address, uint64_t size_bytes, bool is_undefined);
  uint64_t begin_of_defined(uint64_t address, uint64_t least) const;

  static inline std::atomic<bool> is_used_{false};

  AddressTable<Part> parts_;
};

}  // namespace km::cpu
