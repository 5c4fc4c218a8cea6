// WriteLog, the memory that a launch writes: what was there before and what it left.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "backends/cpu/memory/allocations.h"

namespace km::cpu {

/// Keeps the content of what a launch writes, so that it can run again. One thread at a time.
class WriteLog {
 public:
  explicit WriteLog(const Allocations& allocations) : allocations_(allocations) {}

  struct Write {
    uint64_t address = 0, size_bytes = 0;
    bool is_float_sum = false;  // an atomic addition of floating-point numbers
  };
  /// Notes a write before it is made. Returns false if it is of no allocation: shared memory and
  /// what threads have of their own are not kept.
  bool note(const Write& write);
  /// True if managed or page-locked memory holds the address, which the host may write meanwhile.
  static bool is_of_host(uint64_t address);
  /// True if the launch has written more than is kept.
  bool is_full() const { return is_full_; }

  /// Keeps what memory holds now as the result with which others are compared.
  void keep_result();
  /// Puts back what was there before the launch.
  void restore();
  /// Puts back the result.
  void restore_result();

  /// How memory differs from the result.
  struct Difference {
    uint64_t address = 0;    // of the first byte
    uint64_t count = 0;      // bytes
    bool is_of_sums = true;  // only atomic additions of floating-point numbers wrote them
  };
  /// Nothing if memory holds the result.
  std::optional<Difference> difference() const;
  /// The byte of the result at an address that was written.
  uint8_t result_at(uint64_t address) const;
  /// True if there were atomic additions of floating-point numbers.
  bool has_float_sums() const { return has_float_sums_; }

 private:
  static constexpr uint64_t kLineBytes = 64;
  static constexpr uint64_t kMostLines = 16 << 20;  // 1 GiB of written memory
  struct Line {
    std::array<uint8_t, kLineBytes> before, result;
    uint64_t written = 0, plain = 0;  // a bit for each byte; plain: also by other means than sums
  };
  void note_line(uint64_t begin, uint64_t bits, bool is_float_sum);

  const Allocations& allocations_;
  AddressRange allocation_;  // that the last write was in
  std::unordered_map<uint64_t, Line> lines_;
  uint64_t last_begin_ = 1;  // of last_; 1: none
  Line* last_ = nullptr;
  bool is_full_ = false, has_float_sums_ = false;
};

}  // namespace km::cpu
