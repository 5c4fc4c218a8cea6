#include "backends/cpu/memory/address_space.h"
#include "base/assert.h"

#include <sys/mman.h>

#include <utility>

namespace km::cpu {
namespace {

/// A mapping may begin so much before an address that is aligned to kPageBytes, since the system's
/// pages may be smaller.
constexpr uint64_t kMisalignedBytes = kPageBytes - arch::kLeastPageBytes;

void* as_pointer(uint64_t address) { return reinterpret_cast<void*>(address); }

}  // namespace

GuardedRange& GuardedRange::operator=(GuardedRange&& other) noexcept {
  if (this == &other) return *this;
  if (map_ != 0) munmap(as_pointer(map_), map_bytes_);
  map_ = std::exchange(other.map_, 0);
  map_bytes_ = std::exchange(other.map_bytes_, 0);
  begin_ = std::exchange(other.begin_, 0);
  size_ = std::exchange(other.size_, 0);
  allowed_ = std::exchange(other.allowed_, 0);
  return *this;
}

GuardedRange::~GuardedRange() {
  if (map_ != 0) munmap(as_pointer(map_), map_bytes_);
}

GuardedRange GuardedRange::reserve(uint64_t size_bytes, uint64_t below_bytes) {
  GuardedRange range;
  uint64_t size = round_up(size_bytes, kPageBytes);
  uint64_t below = kGuardBytes + round_up(below_bytes, kPageBytes);
  uint64_t total = size + below + kGuardBytes + kMisalignedBytes;
  void* map = mmap(nullptr, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED) return range;
  range.map_ = reinterpret_cast<uint64_t>(map);
  range.map_bytes_ = total;
  range.begin_ = round_up(range.map_ + below, kPageBytes);
  range.size_ = size;
  return range;
}

GuardedRange GuardedRange::make(uint64_t size_bytes, uint64_t align_bytes) {
  GuardedRange range;
  uint64_t size = round_up(size_bytes, kPageBytes);
  uint64_t slack = align_bytes > kPageBytes ? align_bytes : 0;
  if (size < size_bytes || size + slack + 2 * kGuardBytes + kMisalignedBytes < size) return range;
  range = reserve(size + slack);
  if (!range) return range;
  range.begin_ = round_up(range.begin_, align_bytes);
  range.size_ = size;
  KM_ASSERT(range.begin_ - range.map_ >= kGuardBytes &&
                range.end() + kGuardBytes <= range.map_ + range.map_bytes_,
            "a range lies in its guards");
  if (!range.allow(size)) range = GuardedRange();
  return range;
}

bool GuardedRange::allow(uint64_t size_bytes) {
  KM_ASSERT(map_ != 0 && allowed_ <= size_, "a range that is not mapped is opened");
  uint64_t wanted = round_up(size_bytes, kPageBytes);
  if (wanted > size_) return false;
  if (wanted > allowed_) {
    uint64_t first = begin_ + allowed_;
    if (mprotect(as_pointer(first), wanted - allowed_, PROT_READ | PROT_WRITE) != 0) return false;
  } else if (wanted < allowed_) {
    if (mprotect(as_pointer(begin_ + wanted), allowed_ - wanted, PROT_NONE) != 0) return false;
  }
  allowed_ = wanted;
  return true;
}

void GuardedRange::use_huge_pages() const { madvise(as_pointer(begin_), size_, MADV_HUGEPAGE); }

void GuardedRange::discard() const {
  KM_ASSERT(map_ != 0 && allowed_ == size_, "memory that is not accessible is discarded");
  madvise(as_pointer(begin_), size_, MADV_DONTNEED);
}

bool GuardedRange::close() {
  KM_ASSERT(map_ != 0, "a range is closed that is not there");
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  if (mmap(as_pointer(begin_), size_, PROT_NONE, kFlags, -1, 0) == MAP_FAILED) return false;
  allowed_ = 0;
  return true;
}

}  // namespace km::cpu
