#include "base/memory/memory_reserve.h"

namespace km {
namespace {

// Precedes each piece.
struct alignas(16) Header {
  size_t size_bytes;
};

}  // namespace

void MemoryReserve::open(void* memory, size_t size_bytes) {
  const std::lock_guard lock(mutex_);
  next_ = static_cast<char*>(memory);
  begin_.store(next_, std::memory_order_relaxed);
  end_.store(next_ + size_bytes, std::memory_order_relaxed);
}

void* MemoryReserve::close() {
  const std::lock_guard lock(mutex_);
  if (pieces_ != 0) return nullptr;
  end_.store(nullptr, std::memory_order_relaxed);
  next_ = nullptr;
  return begin_.exchange(nullptr, std::memory_order_relaxed);
}

void* MemoryReserve::allocate(size_t size_bytes) noexcept {
  const std::lock_guard lock(mutex_);
  const auto left = static_cast<size_t>(end_.load(std::memory_order_relaxed) - next_);
  if (left < sizeof(Header) || size_bytes > left - sizeof(Header)) return nullptr;
  const size_t rounded = (size_bytes + sizeof(Header) - 1) / sizeof(Header) * sizeof(Header);
  if (rounded > left - sizeof(Header)) return nullptr;
  auto* const header = reinterpret_cast<Header*>(next_);
  header->size_bytes = rounded;
  next_ += sizeof(Header) + rounded;
  ++pieces_;
  return header + 1;
}

void MemoryReserve::release(void*) noexcept {
  const std::lock_guard lock(mutex_);
  if (--pieces_ == 0) next_ = begin_.load(std::memory_order_relaxed);
}

size_t MemoryReserve::size_of(const void* piece) {
  return (static_cast<const Header*>(piece) - 1)->size_bytes;
}

size_t MemoryReserve::left_bytes() {
  const std::lock_guard lock(mutex_);
  return static_cast<size_t>(end_.load(std::memory_order_relaxed) - next_);
}

}  // namespace km
