// Address ranges with guard pages at both ends, from which stacks, windows and device memory are
// made.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/arch/constants.h"
#include "base/integers.h"

namespace km::cpu {

// Ranges are aligned to the largest page that the system may have.
constexpr uint64_t kPageBytes = arch::kMostPageBytes;
constexpr uint64_t kGuardBytes = 64 << 10;
constexpr uint64_t kHugePageBytes = 2 << 20;

/// Memory between two guards. It owns the mapping.
class GuardedRange {
 public:
  GuardedRange() = default;
  GuardedRange(GuardedRange&& other) noexcept { *this = static_cast<GuardedRange&&>(other); }
  GuardedRange& operator=(GuardedRange&& other) noexcept;
  ~GuardedRange();

  /// `align_bytes` must be a power of two of at least a page. Empty if there is no address space.
  /// The memory is zeroed, and pages are allocated when they are touched.
  static GuardedRange make(uint64_t size_bytes, uint64_t align_bytes = kPageBytes);
  /// Reserves address space without access; allow() opens its beginning. The lower guard has
  /// `below_bytes` more.
  static GuardedRange reserve(uint64_t size_bytes, uint64_t below_bytes = 0);

  explicit operator bool() const { return begin_ != 0; }
  uint64_t begin() const { return begin_; }
  uint64_t end() const { return begin_ + size_; }
  uint64_t size_bytes() const { return size_; }
  uint64_t allowed_bytes() const { return allowed_; }
  uint64_t guard_begin() const { return map_; }  // start of the lower guard
  uint8_t* data() const { return reinterpret_cast<uint8_t*>(begin_); }

  /// Makes exactly the first `size_bytes`, rounded up to pages, accessible.
  bool allow(uint64_t size_bytes);
  /// Requests huge pages from the system.
  void use_huge_pages() const;
  /// Returns the pages to the system; they read as zeros afterwards.
  void discard() const;
  /// Returns the pages and forbids access, but keeps the addresses; allow() opens them again. False
  /// if the system has no room for the mapping.
  bool close();

 private:
  uint64_t map_ = 0, map_bytes_ = 0;  // including the guards
  uint64_t begin_ = 0, size_ = 0;
  uint64_t allowed_ = 0;
};

}  // namespace km::cpu
