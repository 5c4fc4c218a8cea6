// Memory that is reserved for allocations whose failure nobody could handle.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>

namespace km {

/// A bump allocator: hands out pieces of one block and starts again when all of them are returned.
/// All functions are thread-safe.
class MemoryReserve {
 public:
  constexpr MemoryReserve() = default;
  /// Uses `memory`, which must be aligned to 16 bytes.
  constexpr MemoryReserve(char* memory, size_t size_bytes)
      : begin_(memory), end_(memory + size_bytes), next_(memory) {}
  MemoryReserve(const MemoryReserve&) = delete;
  MemoryReserve& operator=(const MemoryReserve&) = delete;

  /// Replaces the block of memory. No piece may be in use.
  void open(void* memory, size_t size_bytes);
  /// Detaches and returns the block if no piece of it is in use, otherwise returns null.
  void* close();

  /// A piece aligned to 16 bytes; null if the rest of the block is too small.
  void* allocate(size_t size_bytes) noexcept;
  void release(void* piece) noexcept;
  /// The usable size of a piece, at least the size requested.
  static size_t size_of(const void* piece);
  /// The bytes that allocate() has left.
  size_t left_bytes();

  bool owns(const void* address) const {
    const auto* const at = static_cast<const char*>(address);
    return at >= begin_.load(std::memory_order_relaxed) &&
           at < end_.load(std::memory_order_relaxed);
  }

 private:
  std::mutex mutex_;
  std::atomic<char*> begin_{nullptr}, end_{nullptr};  // written under mutex_, read without
  char* next_ = nullptr;
  size_t pieces_ = 0;
};

}  // namespace km
