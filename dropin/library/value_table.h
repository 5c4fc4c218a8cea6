// A table of values by id, for small objects that calls read whole: a reader copies the value
// without taking a lock.
#pragma once

#include <array>
#include <atomic>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <type_traits>

#include "dropin/library/handles.h"

namespace km::library {

/// The values of one kind. An id consists of the value's index and the number of times that the
/// index has been used, so that ended or invented ids find nothing.
template <class T, HandleKind kind>
class ValueTable {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(uint64_t) == 0);

 public:
  /// Adds a value and returns its id; 0 if there are 2^20 values already.
  uint64_t add(const T& value) {
    const std::lock_guard lock(mutex_);
    uint64_t index = 0;
    if (free_.size() > kLeastFree || (used_ == kMost && !free_.empty())) {
      index = free_.front();  // the one freed longest ago, so that ids are reused late
      free_.pop_front();
    } else if (used_ < kMost) {
      index = used_++;
      std::atomic<Chunk*>& chunk = chunks_[index / kChunk];
      if (chunk.load(std::memory_order_relaxed) == nullptr) {
        chunk.store(std::make_unique<Chunk>().release(), std::memory_order_release);
      }
    } else {
      return 0;
    }
    Slot& slot = *slot_at(index);
    const uint64_t id = id_of(index, ++slot.uses);
    write(slot, id, value);
    return id;
  }
  /// Returns false if the id is not live; *out is undefined then.
  bool read(uint64_t id, T* out) const {
    const Slot* const slot = slot_of(id);
    if (slot == nullptr) return false;
    for (;;) {
      const uint64_t before = slot->version.load(std::memory_order_acquire);
      const bool is_live = slot->id.load(std::memory_order_relaxed) == id;
      auto* const to = reinterpret_cast<char*>(out);
#pragma GCC unroll 32
      for (size_t i = 0; i < kWords; ++i) {
        const uint64_t word = slot->words[i].load(std::memory_order_relaxed);
        std::memcpy(to + i * sizeof word, &word, sizeof word);
      }
      std::atomic_thread_fence(std::memory_order_acquire);
      if (before % 2 != 0 || slot->version.load(std::memory_order_relaxed) != before) continue;
      return is_live;
    }
  }
  /// Replaces the value by the result of `change`. Returns false if the id is not live.
  template <class Change>
  bool update(uint64_t id, Change&& change) {
    const std::lock_guard lock(mutex_);
    T value;
    if (!read(id, &value)) return false;
    change(value);
    write(*slot_of(id), id, value);
    return true;
  }
  /// Ends the id. Returns false if it is not live.
  bool remove(uint64_t id) {
    const std::lock_guard lock(mutex_);
    T value;
    if (!read(id, &value)) return false;
    free_.push_back(index_of(id));
    write(*slot_of(id), 0, value);
    return true;
  }

 private:
  static constexpr size_t kWords = sizeof(T) / sizeof(uint64_t);
  static constexpr int kIndexBit = 4, kIndexBits = 20, kUsesBit = 24, kUsesBits = 16;
  static constexpr int kMoreUsesBit = 48, kMoreUsesBits = 14;
  static constexpr uint64_t kMost = uint64_t{1} << kIndexBits, kChunk = 1024, kLeastFree = 64;

  struct Slot {
    std::atomic<uint64_t> version{0};  // odd while the value is being written
    std::atomic<uint64_t> id{0};
    std::atomic<uint64_t> words[kWords] = {};
    uint64_t uses = 0;  // guarded by the table's mutex
  };
  using Chunk = std::array<Slot, kChunk>;

  static constexpr uint64_t bits(uint64_t value, int from, int count) {
    return value >> from & ((uint64_t{1} << count) - 1);
  }
  static uint64_t id_of(uint64_t index, uint64_t uses) {
    return kFirstHandle | static_cast<uint64_t>(kind) << kHandleKindBit | index << kIndexBit |
           bits(uses, 0, kUsesBits) << kUsesBit |
           bits(uses, kUsesBits, kMoreUsesBits) << kMoreUsesBit;
  }
  static uint64_t index_of(uint64_t id) { return bits(id, kIndexBit, kIndexBits); }
  Slot* slot_at(uint64_t index) const {
    Chunk* const chunk = chunks_[index / kChunk].load(std::memory_order_acquire);
    return chunk == nullptr ? nullptr : &(*chunk)[index % kChunk];
  }
  Slot* slot_of(uint64_t id) const { return slot_at(index_of(id)); }
  static void write(Slot& slot, uint64_t id, const T& value) {
    uint64_t words[kWords];
    std::memcpy(words, &value, sizeof value);
    const uint64_t before = slot.version.load(std::memory_order_relaxed);
    slot.version.store(before + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    slot.id.store(id, std::memory_order_relaxed);
    for (size_t i = 0; i < kWords; ++i) slot.words[i].store(words[i], std::memory_order_relaxed);
    slot.version.store(before + 2, std::memory_order_release);
  }

  std::array<std::atomic<Chunk*>, kMost / kChunk> chunks_ = {};
  std::mutex mutex_;  // guards the members below, and changes of values
  std::deque<uint64_t> free_;
  uint64_t used_ = 0;
};

}  // namespace km::library
