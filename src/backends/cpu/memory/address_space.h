// Ranges of address space with guards at both ends: what stacks, windows and device memory are
// made of.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/arch/constants.h"
#include "base/integers.h"

namespace km::cpu {

constexpr uint64_t kPageBytes = arch::kMostPageBytes;
constexpr uint64_t kGuardBytes = 64 << 10;
constexpr uint64_t kHugePageBytes = 2 << 20;

/// Memory between two guards. Owns its mapping.
class GuardedRange {
 public:
  GuardedRange() = default;
  GuardedRange(GuardedRange&& other) noexcept { *this = static_cast<GuardedRange&&>(other); }
  GuardedRange& operator=(GuardedRange&& other) noexcept;
  ~GuardedRange();

  /// `align_bytes` is a power of two, at least a page. Empty when the system has no room. The
  /// memory is zeroed, and takes real pages only when touched.
  static GuardedRange make(uint64_t size_bytes, uint64_t align_bytes = kPageBytes);
  /// Reserves a range without access: allow() opens its beginning. The guard below is `below_bytes`
  /// larger.
  static GuardedRange reserve(uint64_t size_bytes, uint64_t below_bytes = 0);

  explicit operator bool() const { return begin_ != 0; }
  uint64_t begin() const { return begin_; }
  uint64_t end() const { return begin_ + size_; }
  uint64_t size_bytes() const { return size_; }
  uint64_t allowed_bytes() const { return allowed_; }
  uint64_t guard_begin() const { return map_; }  // the guard below
  uint8_t* data() const { return reinterpret_cast<uint8_t*>(begin_); }

  /// Makes exactly the first `size_bytes` (rounded up to pages) accessible.
  bool allow(uint64_t size_bytes);
  /// Asks for huge pages.
  void use_huge_pages() const;
  /// Gives the pages back; they read as zeros afterwards.
  void discard() const;

 private:
  uint64_t map_ = 0, map_bytes_ = 0;  // with the guards
  uint64_t begin_ = 0, size_ = 0;
  uint64_t allowed_ = 0;
};

}  // namespace km::cpu
