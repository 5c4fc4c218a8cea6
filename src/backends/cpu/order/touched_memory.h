// TouchedMemory, the bytes that the threads of one launch have accessed, and how.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "backends/cpu/order/byte_set.h"
#include "simt/runtime/check/check_runtime.h"

namespace km::cpu {

/// How a byte was accessed. Strong accesses (atomics, volatile ones) do not conflict with each
/// other.
enum class Touch : uint8_t { read, strong_read, write, strong_write };
constexpr size_t kTouches = 4;
constexpr bool writes(Touch touch) { return touch >= Touch::write; }
constexpr bool is_strong(Touch touch) {
  return touch == Touch::strong_read || touch == Touch::strong_write;
}

/// The accesses to one page, which has the number `address / ByteSet::kBytes`.
struct PageTouches {
  uint64_t page = 0;
  std::array<ByteSet, kTouches> sets;  // by Touch

  ByteSet& of(Touch touch) { return sets[static_cast<size_t>(touch)]; }
  const ByteSet& of(Touch touch) const { return sets[static_cast<size_t>(touch)]; }
};

/// Shared by the threads that run the launch.
class TouchedMemory {
 private:
  using Bits = std::array<std::atomic<uint64_t>, ByteSet::kWords>;
  struct Page {
    std::array<std::atomic<Bits*>, kTouches> bits{};
    std::array<std::unique_ptr<Bits>, kTouches> owned;
  };
  struct Line;

 public:
  /// The memory that the accesses of one instruction lie in.
  struct Place {
    uint64_t begin = 0, end = 0;
    Touch touch = Touch::read;
    uint32_t line = 0;  // in the PTX text
  };

  /// The part of one thread of the runtime, which finds what it used last without a lock.
  class Cursor {
   public:
    /// Begins with another launch.
    void begin(TouchedMemory* memory);
    /// Notes an access of `size_bytes` from `address` on.
    void note(uint64_t address, uint64_t size_bytes, const simt::AccessNote& note);

   private:
    static constexpr size_t kPages = 64, kLines = 32;
    Page& page(uint64_t number);
    Line& line(const simt::AccessNote& note);

    TouchedMemory* memory_ = nullptr;
    uint64_t launch_ = 0;
    std::array<std::pair<uint64_t, Page*>, kPages> pages_{};
    std::array<std::pair<uint64_t, Line*>, kLines> lines_{};
  };

  TouchedMemory();
  ~TouchedMemory();
  TouchedMemory(const TouchedMemory&) = delete;
  TouchedMemory& operator=(const TouchedMemory&) = delete;

  // ---- Once the launch is over.
  /// The pages with accesses.
  std::vector<PageTouches> pages() const;
  /// The instructions that have accessed memory.
  std::vector<Place> places() const;

 private:
  static constexpr size_t kShards = 64;
  struct Shard {
    std::mutex mutex;
    std::unordered_map<uint64_t, std::unique_ptr<Page>> pages;
  };
  Page& find_page(uint64_t number);
  Bits& make_bits(Page& page, Touch touch);
  Line& find_line(uint64_t key);

  const uint64_t number_;  // of this launch, unlike an address never used twice
  mutable std::array<Shard, kShards> shards_;
  mutable std::mutex lines_mutex_;                             // also of making bits
  std::unordered_map<uint64_t, std::unique_ptr<Line>> lines_;  // by line and kind
};

}  // namespace km::cpu
