// The blocks (or bytes) of one command that no thread has taken yet. If several threads share them,
// each starts with a part of its own, so that repeated launches find its data in its caches, and
// then takes from other parts. Chunks shrink as a part empties, so that all threads end at about
// the same time.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>

#include "base/assert.h"

namespace km::cpu {

class BlockRange {
 public:
  /// A range has at most so many parts; further threads begin in the part of another one.
  static constexpr uint32_t kMostParts = 256;
  static constexpr uint32_t kBits = 64;  // of a word

  struct Part {
    std::atomic<uint64_t> next{0};
    uint64_t end = 0;
  };
  struct alignas(64) SharedPart : Part {
    std::atomic<bool> claimed{false};  // a thread has begun here
  };
  /// The parts of a range that several threads share.
  class SharedParts {
   public:
    explicit SharedParts(uint32_t capacity)
        : capacity_(std::min(capacity, kMostParts)), parts_(new SharedPart[capacity_]) {}

    uint32_t capacity() const { return capacity_; }
    /// False if nothing is left of a part; it may be true for a moment after that.
    bool is_open(uint32_t part) const {
      return (open_[part / kBits].load(std::memory_order_relaxed) & bit_of(part)) != 0;
    }

   private:
    friend BlockRange;
    const uint32_t capacity_;
    const std::unique_ptr<SharedPart[]> parts_;
    // A bit for each part that may have blocks left, in a line of its own since all threads change
    // it.
    alignas(64) std::atomic<uint64_t> open_[kMostParts / kBits] = {};
  };

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
  /// Makes a range of the first `count` of `shared`, which the caller must keep until no thread
  /// takes from the range. A chunk is 1 / `cut` of the rest of a part, but at least `chunk`.
  void reset(uint64_t begin, uint64_t end, uint64_t chunk, uint64_t cut, SharedParts* shared,
             uint32_t count) {
    KM_ASSERT(begin <= end && chunk != 0 && cut != 0 && count != 0 && count <= shared->capacity(),
              "a range ends before it begins, is handed out in empty chunks, or has no parts");
    if (count == 1) return reset(begin, end, chunk);
    const uint64_t each = (end - begin) / count, more = (end - begin) % count;
    for (uint32_t i = 0; i < count; ++i) {
      SharedPart& part = shared->parts_[i];
      part.next.store(begin, std::memory_order_relaxed);
      part.claimed.store(false, std::memory_order_relaxed);
      begin += each + (i < more ? 1 : 0);
      part.end = begin;
    }
    KM_ASSERT(begin == end, "the parts of a range do not cover it");
    for (uint32_t word = 0; word * kBits < count; ++word) {
      const uint32_t bits = std::min(count - word * kBits, kBits);
      shared->open_[word].store(bits == kBits ? UINT64_MAX : bit_of(bits) - 1,
                                std::memory_order_relaxed);
    }
    shared_ = shared;
    count_ = count;
    chunk_ = chunk;
    cut_ = cut;
  }

  uint32_t part_count() const { return count_; }
  /// Returns the part that a thread starts with: `wanted`, or the next one that no thread has
  /// claimed.
  uint32_t claim(uint32_t wanted) {
    if (count_ == 1) return 0;
    for (uint32_t i = 0; i < count_; ++i) {
      const uint32_t part = (wanted + i) % count_;
      if (!shared_->parts_[part].claimed.exchange(true, std::memory_order_relaxed)) return part;
    }
    return wanted % count_;
  }

  /// Takes the next chunk [*first, *last) of at most `most` from part *part; if that is empty, from
  /// another, whose index is stored to *part. Returns false if all are empty.
  bool take(uint32_t* part, uint64_t* first, uint64_t* last, uint64_t most = UINT64_MAX) {
    KM_ASSERT(*part < count_, "a thread takes from a part that its range does not have");
    if (count_ == 1) return take_from(own_, most, first, last);
    // The bits say which parts have blocks, since at the end of a command every thread would
    // otherwise move the cache lines of all parts to its core to find nothing in them.
    do {
      SharedPart& shared = shared_->parts_[*part];
      const bool taken = take_from(shared, most, first, last);
      if (!taken || *last == shared.end) note_empty(*part);
      if (taken) return true;
    } while (find_open(part));
    return false;
  }
  /// Drops all blocks that no thread has taken.
  void close() {
    if (count_ == 1) return own_.next.store(own_.end, std::memory_order_relaxed);
    for (uint32_t i = 0; i < count_; ++i) {
      SharedPart& part = shared_->parts_[i];
      part.next.store(part.end, std::memory_order_relaxed);
    }
  }

 private:
  static uint64_t bit_of(uint32_t part) { return uint64_t{1} << (part % kBits); }

  void note_empty(uint32_t part) {
    std::atomic<uint64_t>& word = shared_->open_[part / kBits];
    if ((word.load(std::memory_order_relaxed) & bit_of(part)) == 0) return;
    word.fetch_and(~bit_of(part), std::memory_order_relaxed);
  }
  /// Moves *part to the next part behind it, around the end, that may have blocks; false if there
  /// is none.
  bool find_open(uint32_t* part) const {
    const uint32_t words = (count_ + kBits - 1) / kBits, home = *part / kBits;
    for (uint32_t i = 0; i <= words; ++i) {
      const uint32_t index = (home + i) % words;
      uint64_t open = shared_->open_[index].load(std::memory_order_relaxed);
      const uint64_t behind = ~(bit_of(*part) | (bit_of(*part) - 1));
      if (i == 0) open &= behind;
      if (i == words) open &= ~behind;
      if (open == 0) continue;
      *part = index * kBits + static_cast<uint32_t>(std::countr_zero(open));
      KM_ASSERT(*part < count_, "a part is open that the range does not have");
      return true;
    }
    return false;
  }

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
  SharedParts* shared_ = nullptr;
};

}  // namespace km::cpu
