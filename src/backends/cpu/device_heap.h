// Memory that kernels allocate themselves (malloc and free in device code): one heap a context, at
// first of CUDA's default size. What it gives lives until it is freed or the context is reset.
#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace km::cpu {

class Allocations;

class DeviceHeap {
 public:
  static constexpr uint64_t kDefaultBytes = 8 << 20;

  /// What is allocated is made known to `allocations`, which outlives the heap.
  explicit DeviceHeap(Allocations* allocations) : allocations_(allocations) {}
  ~DeviceHeap() { clear(); }
  DeviceHeap(const DeviceHeap&) = delete;
  DeviceHeap& operator=(const DeviceHeap&) = delete;

  /// Aligned to 16 bytes; 0: no room, or nothing was asked for.
  uint64_t allocate(uint64_t size_bytes);
  /// False where `address` is neither 0 nor the start of an allocation.
  bool release(uint64_t address);
  uint64_t limit_bytes() const;
  /// What is allocated beyond it stays.
  void set_limit(uint64_t size_bytes);
  /// Frees everything; no kernel runs any more.
  void clear();

 private:
  Allocations* const allocations_;
  mutable std::mutex mutex_;
  std::unordered_map<uint64_t, uint64_t> sizes_;
  uint64_t used_bytes_ = 0;
  uint64_t limit_bytes_ = kDefaultBytes;
};

}  // namespace km::cpu
