// Shadow memory of the race checker: a Line for each 128 bytes of the memory it describes.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "backends/cpu/check/access_record.h"
#include "backends/cpu/check/address_table.h"
#include "base/thread/spin_lock.h"

namespace km::cpu {

/// The lines of consecutive memory, which begins at a multiple of a line.
class ShadowPiece {
 public:
  ShadowPiece(uint64_t begin, uint64_t size_bytes)
      : begin_(begin), lines_(new Line[(size_bytes + kLineBytes - 1) / kLineBytes]) {}

  uint64_t begin() const { return begin_; }
  Line& line_at(uint64_t address) { return lines_[(address - begin_) / kLineBytes]; }
  SpinLock& lock() { return lock_; }

 private:
  uint64_t begin_;
  std::unique_ptr<Line[]> lines_;
  SpinLock lock_;
};

/// The shadow of all global memory that checked kernels access, made as it is touched. Thread-safe.
class GlobalShadow {
 public:
  /// Keeps the shadow: its memory is freed with the last one. Contexts that look for races have
  /// one, and so have their launches, which alone access the shadow.
  class Use {
   public:
    Use();
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
  };

  /// The shadow of the process.
  static GlobalShadow& instance();
  /// The piece that holds the address; null for addresses that no program has.
  ShadowPiece* piece_of(uint64_t address) { return pieces_.make(address); }
  /// The piece of piece_of() if it has been made already; otherwise null.
  ShadowPiece* find(uint64_t address) const { return pieces_.find(address); }

 private:
  GlobalShadow() = default;

  std::mutex mutex_;
  uint64_t uses_ = 0;
  AddressTable<ShadowPiece> pieces_;
};

}  // namespace km::cpu
