// Memory set aside for allocations that nobody could answer if they failed.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>

namespace km {

/// Hands out pieces of a block of memory one after the other, and begins again when all pieces are
/// back. Any thread may call anything.
class MemoryReserve {
 public:
  constexpr MemoryReserve() = default;
  /// Uses `memory`, which is aligned to 16 bytes.
  constexpr MemoryReserve(char* memory, size_t size_bytes)
      : begin_(memory), end_(memory + size_bytes), next_(memory) {}
  MemoryReserve(const MemoryReserve&) = delete;
  MemoryReserve& operator=(const MemoryReserve&) = delete;

  /// Uses other memory. Nothing has been handed out.
  void open(void* memory, size_t size_bytes);
  /// Gives the block up where no piece of it is in use; null: one is.
  void* close();

  /// Aligned to 16 bytes; null when the rest is too small.
  void* allocate(size_t size_bytes) noexcept;
  void release(void* piece) noexcept;
  /// Bytes of a piece, at least those that were asked for.
  static size_t size_of(const void* piece);
  /// Bytes that allocate() has left.
  size_t left_bytes();

  bool owns(const void* address) const {
    const auto* const at = static_cast<const char*>(address);
    return at >= begin_.load(std::memory_order_relaxed) &&
           at < end_.load(std::memory_order_relaxed);
  }

 private:
  std::mutex mutex_;
  std::atomic<char*> begin_{nullptr}, end_{nullptr};  // written under mutex_
  char* next_ = nullptr;
  size_t pieces_ = 0;
};

}  // namespace km
