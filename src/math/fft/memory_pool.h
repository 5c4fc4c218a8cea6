// Memory that transforms need beside their arrays: kept for the next one.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

namespace km::fft {

constexpr uint64_t kMemoryAlignment = 64;

/// Memory that is aligned to a line of the cache.
class AlignedMemory {
 public:
  AlignedMemory() = default;
  explicit AlignedMemory(uint64_t size_bytes) {
    data_.reset(static_cast<char*>(::operator new(size_bytes, kAlignment)));
    size_bytes_ = size_bytes;
  }
  char* data() const { return data_.get(); }
  uint64_t size_bytes() const { return size_bytes_; }

 private:
  static constexpr std::align_val_t kAlignment{kMemoryAlignment};
  struct Free {
    void operator()(char* data) const { ::operator delete(data, kAlignment); }
  };
  std::unique_ptr<char, Free> data_;
  uint64_t size_bytes_ = 0;
};

/// Memory of one plan. Transforms that run at the same time have pieces of their own; the last one
/// that was given back is kept.
class MemoryPool : public std::enable_shared_from_this<MemoryPool> {
 public:
  /// Memory until the last copy of the pointer ends.
  std::shared_ptr<char> take(uint64_t size_bytes) {
    auto memory = std::make_shared<AlignedMemory>(take_kept(size_bytes));
    char* const data = memory->data();
    return {data, [pool = shared_from_this(), memory](char*) { pool->keep(std::move(*memory)); }};
  }

 private:
  AlignedMemory take_kept(uint64_t size_bytes) {
    {
      const std::lock_guard lock(mutex_);
      if (kept_.size_bytes() >= size_bytes) return std::exchange(kept_, AlignedMemory());
    }
    return AlignedMemory(size_bytes);
  }
  void keep(AlignedMemory memory) {
    const std::lock_guard lock(mutex_);
    if (kept_.size_bytes() < memory.size_bytes()) kept_ = std::move(memory);
  }

  std::mutex mutex_;
  AlignedMemory kept_;
};

/// Memory of this thread, which stays for its next use.
inline void* thread_memory(uint64_t size_bytes) {
  thread_local AlignedMemory memory;
  if (memory.size_bytes() < size_bytes) {
    memory = AlignedMemory();
    memory = AlignedMemory(size_bytes);
  }
  return memory.data();
}

}  // namespace km::fft
