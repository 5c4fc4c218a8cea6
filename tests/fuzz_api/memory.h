// The memory that calls are given: each piece ends at a page that may not be touched.
#pragma once

#include <cstddef>
#include <cstdint>

namespace km::fuzz {

constexpr size_t kPageBytes = 4096;

/// Pages that are readable and writable, with one after them that is not; never freed.
class GuardedPages {
 public:
  explicit GuardedPages(size_t size_bytes);
  ~GuardedPages();
  GuardedPages(const GuardedPages&) = delete;
  GuardedPages& operator=(const GuardedPages&) = delete;

  uint8_t* begin() const { return begin_; }
  uint8_t* end() const { return begin_ + size_bytes_; }
  size_t size_bytes() const { return size_bytes_; }

 private:
  uint8_t* begin_;
  size_t size_bytes_;
};

/// What the arguments of one call point to. Valid until the next begin().
class CallMemory {
 public:
  static constexpr size_t kPieceBytes = 16 * kPageBytes;

  CallMemory();
  void begin() { used_ = 0; }
  /// A piece that ends at a guard page; null when it would be too large or all are used.
  void* take(size_t size_bytes);

 private:
  static constexpr size_t kPieces = 40;
  GuardedPages pages_;
  size_t used_ = 0;
};

/// Host memory that work of devices reads and writes also after the call: it lives as long as the
/// process. Its content is anybody's.
class HostMemory {
 public:
  static constexpr size_t kDataBytes = 1 << 20, kPagesBytes = 64 * kPageBytes;

  HostMemory();
  /// The last `size_bytes` before a guard page; all of it for sizes that are larger.
  void* data(size_t size_bytes) const;
  /// A part of pages that may be registered or wrapped, of `size_bytes` or all.
  void* pages(size_t size_bytes, uint64_t choice) const;
  /// A page of numbers that streams wait for.
  uint64_t* words() const { return reinterpret_cast<uint64_t*>(words_.begin()); }

 private:
  GuardedPages data_, pages_, words_;
};

}  // namespace km::fuzz
