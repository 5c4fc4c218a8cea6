// The blocks (or bytes) of one command that no thread has taken yet. If several threads share them,
// each starts with a part of its own, so that repeated launches find its data in its caches, and
// then takes from other parts. Chunks shrink as a part empties, so that all threads end at about
// the same time.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "base/assert.h"

namespace km::cpu {

class BlockRange {
 public:
  struct Part {
    std::atomic<uint64_t> next{0};
    uint64_t end = 0;
  };
  struct alignas(64) SharedPart : Part {};

  /// Makes a range for one thread, taken in chunks of `chunk`.
  void reset(uint64_t begin, uint64_t end, uint64_t chunk) {
    KM_ASSERT(begin <= end && chunk != 0,
              "a range ends before it begins, or is handed out in empty chunks");
    own_.next.store(begin, std::memory_order_relaxed);
    own_.end = end;
    chunk_ = chunk;
    cut_ = UINT64_MAX;
    count_ = 1;
  }
  /// Makes a range of `count` parts, which the caller must keep until no thread takes from the
  /// range. A chunk is 1 / `cut` of the rest of a part, but at least `chunk`.
  void reset(uint64_t begin, uint64_t end, uint64_t chunk, uint64_t cut, SharedPart* parts,
             uint32_t count) {
    KM_ASSERT(begin <= end && chunk != 0 && cut != 0 && count != 0,
              "a range ends before it begins, is handed out in empty chunks, or has no parts");
    const uint64_t each = (end - begin) / count, more = (end - begin) % count;
    for (uint32_t i = 0; i < count; ++i) {
      parts[i].next.store(begin, std::memory_order_relaxed);
      begin += each + (i < more ? 1 : 0);
      parts[i].end = begin;
    }
    KM_ASSERT(begin == end, "the parts of a range do not cover it");
    parts_ = parts;
    count_ = count;
    chunk_ = chunk;
    cut_ = cut;
    claimed_.store(0, std::memory_order_relaxed);
  }

  uint32_t part_count() const { return count_; }
  /// Returns the part that a thread starts with: `wanted`, or the next one that no thread has
  /// claimed.
  uint32_t claim(uint32_t wanted) {
    for (uint32_t i = 0; i < std::min(count_, 64u); ++i) {
      const uint32_t part = (wanted + i) % count_;
      const uint64_t bit = uint64_t{1} << (part % 64);
      if ((claimed_.fetch_or(bit, std::memory_order_relaxed) & bit) == 0) return part;
    }
    return wanted % count_;
  }

  /// Takes the next chunk [*first, *last) of at most `most` from part *part; if that is empty, from
  /// another, whose index is stored to *part. Returns false if all are empty.
  bool take(uint32_t* part, uint64_t* first, uint64_t* last, uint64_t most = UINT64_MAX) {
    KM_ASSERT(*part < count_, "a thread takes from a part that its range does not have");
    for (uint32_t i = 0; i < count_; ++i) {
      if (take_from(part_at(*part), most, first, last)) return true;
      if (++*part == count_) *part = 0;
    }
    return false;
  }
  /// Drops all blocks that no thread has taken.
  void close() {
    for (uint32_t i = 0; i < count_; ++i) {
      part_at(i).next.store(part_at(i).end, std::memory_order_relaxed);
    }
  }

 private:
  Part& part_at(uint32_t index) { return count_ == 1 ? own_ : parts_[index]; }

  bool take_from(Part& part, uint64_t most, uint64_t* first, uint64_t* last) {
    uint64_t from = part.next.load(std::memory_order_relaxed), to = 0;
    do {
      if (from >= part.end) return false;
      const uint64_t left = part.end - from;
      to = from + std::min({left, most, std::max(chunk_, left / cut_)});
    } while (!part.next.compare_exchange_weak(from, to, std::memory_order_relaxed));
    KM_ASSERT(from < to && to <= part.end, "a part hands out nothing, or more than it has");
    *first = from;
    *last = to;
    return true;
  }

  Part own_;  // the only part of a range that is not shared
  uint64_t chunk_ = 1, cut_ = UINT64_MAX;
  uint32_t count_ = 1;
  SharedPart* parts_ = nullptr;
  std::atomic<uint64_t> claimed_{0};  // a bit for each part, modulo 64
};

}  // namespace km::cpu
