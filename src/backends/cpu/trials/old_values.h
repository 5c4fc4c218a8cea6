// OldValues, what memory held before the stores of a launch, which other threads may still see.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backends/cpu/check/block_clock.h"

namespace km::cpu {

/// Keeps the content that stores replace. A plain load may see it as long as nothing orders the
/// store before the load: no barrier of both threads, no fence or acquire of the loading one, and
/// no earlier access of it to the same memory. Its loads thus never go back in time, whatever they
/// saw. One thread at a time.
class OldValues {
 public:
  static constexpr uint32_t kMostBytes = 16;  // of one access
  using Bytes = std::array<uint8_t, kMostBytes>;

  /// An access of one thread before it is made.
  struct Access {
    uint64_t address = 0;
    uint32_t size_bytes = 0;  // at most kMostBytes
    uint32_t thread = 0;      // in the clock's block
    bool is_own = false;      // memory of the block, which is another block's later
  };
  /// Keeps what a store or an atomic is about to replace.
  void note_write(const Access& access, const BlockClock& clock);
  /// The thread comes to a fence, or acquires: it sees all stores so far.
  void sync(uint32_t block, uint32_t thread);
  /// The thread sees what memory holds now, or has been given something older.
  void see(const Access& access, const BlockClock& clock);
  /// The threads of a block may have met since their last access.
  void follow(const BlockClock& clock);
  /// Content that a plain load may see in place of memory's: of those that may be, the one that
  /// `draw(count)` picks. Nothing if `draw` returns `count`, which stands for memory's.
  template <typename Draw>
  std::optional<Bytes> older(const Access& access, const BlockClock& clock, bool in_step,
                             const Draw& draw) {
    const std::vector<const Store*> all = candidates(access, clock, in_step);
    const size_t count = all.size(), picked = count == 0 ? 0 : draw(count);
    std::optional<Bytes> bytes;
    if (picked < count) bytes = content(*all[picked], access);
    see(access, clock);
    return bytes;
  }
  /// All threads see all stores so far.
  void forget();
  /// The number of things that are known of threads, which is limited.
  size_t entries() const { return seen_count_ + synced_.size() + blocks_.size(); }
  static constexpr size_t kMostEntries = 1 << 18;

 private:
  struct Store {
    uint64_t time = 0;
    uint64_t address = 0;
    uint32_t size_bytes = 0;
    bool is_own = false;
    AccessRecord by;
    Bytes before{};
  };
  /// A time for each 4 bytes of a place.
  using WordTimes = std::array<uint64_t, kMostBytes / 4>;
  struct Thread {
    uint32_t block = 0, index = 0;
    bool operator==(const Thread&) const = default;
  };
  struct Hash {
    size_t operator()(const Thread& thread) const {
      return (uint64_t{thread.block} << 10 | thread.index) * 0x9E3779B97F4A7C15ULL;
    }
  };
  /// The latest stores to 16 bytes of memory, and the threads that have accessed them since.
  struct Place {
    std::vector<Store> stores;
    std::unordered_map<Thread, WordTimes, Hash> seen;  // when they did
  };
  /// The last tick of a block that was looked at, and the time at which it was new.
  struct BlockTime {
    uint32_t tick = 0;
    uint64_t time = 0;
  };

  std::vector<const Store*> candidates(const Access& access, const BlockClock& clock,
                                       bool in_step) const;
  uint64_t synced_at(const Access& access, const BlockClock& clock) const;
  static std::pair<size_t, size_t> words_of(const Access& access);
  void make_room();
  static std::optional<Bytes> content(const Store& store, const Access& access);

  static constexpr size_t kMostPlaces = 1 << 20, kMostStores = 8;

  uint64_t now_ = 0;  // the number of stores so far
  std::unordered_map<uint64_t, Place> places_;
  size_t seen_count_ = 0;  // entries of all Place::seen
  std::unordered_map<Thread, uint64_t, Hash> synced_;
  std::unordered_map<uint32_t, BlockTime> blocks_;
};

}  // namespace km::cpu
