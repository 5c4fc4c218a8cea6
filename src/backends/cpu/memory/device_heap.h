// Memory that kernels allocate themselves (malloc and free in device code): one heap a context, at
// first of CUDA's default size. What it gives lives until it is freed or the context is reset. It
// lies between guards of its own, and what is known about it lies elsewhere: a kernel that writes
// past its block meets memory of kernels or a guard, never the host's heap.
#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "backends/cpu/memory/address_space.h"

namespace km::cpu {

class Allocations;

class DeviceHeap {
 public:
  static constexpr uint64_t kDefaultBytes = 8 << 20;

  /// Allocated memory is made known to `allocations`, which outlives the heap.
  explicit DeviceHeap(Allocations* allocations) : allocations_(allocations) {}
  ~DeviceHeap() { clear(); }
  DeviceHeap(const DeviceHeap&) = delete;
  DeviceHeap& operator=(const DeviceHeap&) = delete;

  /// Aligned to 16 bytes; 0: no room, or nothing was asked for.
  uint64_t allocate(uint64_t size_bytes);
  /// False where `address` is neither 0 nor the start of an allocation.
  bool release(uint64_t address);
  uint64_t limit_bytes() const;
  /// Memory that is allocated beyond the limit stays.
  void set_limit(uint64_t size_bytes);
  /// Frees everything; no kernel runs any more.
  void clear();

 private:
  uint64_t take(uint64_t block_bytes);
  uint64_t take_free(uint64_t block_bytes);
  uint64_t take_fresh(uint64_t block_bytes);
  uint64_t take_merged(uint64_t block_bytes);
  bool add_range(uint64_t block_bytes);
  void merge_free();
  void put_back(uint64_t address, uint64_t block_bytes) noexcept;

  Allocations* const allocations_;
  mutable std::mutex mutex_;
  std::unordered_map<uint64_t, uint64_t> sizes_;  // as asked for, by address
  uint64_t used_bytes_ = 0;                       // of blocks in use
  uint64_t limit_bytes_ = kDefaultBytes;
  // Blocks come from the free ones of their size first, then from the end of the last range, then
  // from free ones that lie side by side.
  std::vector<GuardedRange> ranges_;
  uint64_t reserved_bytes_ = 0;               // of all ranges
  uint64_t fresh_begin_ = 0, fresh_end_ = 0;  // of the last range, not handed out yet
  std::unordered_map<uint64_t, std::vector<uint64_t>> free_;  // addresses, by size
  bool may_merge_ = false;  // free blocks have been added since it was tried
};

}  // namespace km::cpu
