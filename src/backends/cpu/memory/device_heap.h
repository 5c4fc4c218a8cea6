// The heap for malloc and free in device code: one for each context, initially of CUDA's default
// size. A block lives until it is freed or the context is reset. Blocks lie between guards, and the
// records about them elsewhere: a kernel that writes beyond its block hits memory of kernels or a
// guard, but not the host's heap.
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

  /// Allocated blocks are registered in `allocations`, which must outlive the heap.
  explicit DeviceHeap(Allocations* allocations) : allocations_(allocations) {}
  ~DeviceHeap() { clear(); }
  DeviceHeap(const DeviceHeap&) = delete;
  DeviceHeap& operator=(const DeviceHeap&) = delete;

  /// Returns memory that is aligned to 16 bytes; 0 if there is no room or `size_bytes` is 0.
  uint64_t allocate(uint64_t size_bytes);
  /// Returns false if `address` is neither 0 nor the start of an allocation.
  bool release(uint64_t address);
  uint64_t limit_bytes() const;
  /// Allocations beyond a lower limit stay valid.
  void set_limit(uint64_t size_bytes);
  /// Frees everything; no kernel may run.
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
  std::unordered_map<uint64_t, uint64_t> sizes_;  // requested sizes by address
  uint64_t used_bytes_ = 0;                       // of blocks in use
  uint64_t limit_bytes_ = kDefaultBytes;
  // A block comes from the free blocks of its size, otherwise from the end of the last range,
  // otherwise from merged free blocks.
  std::vector<GuardedRange> ranges_;
  uint64_t reserved_bytes_ = 0;                               // the sum over all ranges
  uint64_t fresh_begin_ = 0, fresh_end_ = 0;                  // unused end of the last range
  std::unordered_map<uint64_t, std::vector<uint64_t>> free_;  // addresses by size
  bool may_merge_ = false;  // blocks were freed since the last merge
};

}  // namespace km::cpu
