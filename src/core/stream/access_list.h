// The latest uses of an allocation by each stream, kept in contexts with KM_CONTEXT_ORDERED: the
// next use on another stream waits for those that conflict.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/thread/spin_lock.h"
#include "core/object/object.h"

namespace km {

class Stream;
class UseList;

enum class AccessKind : uint8_t {
  kRead,
  kWrite,   // writes, and perhaps reads
  kLaunch,  // a module's variables by its kernels; launches do not conflict with each other
};

/// Device addresses from `begin` up to but not including `end`, and the kind of access.
struct AccessRange {
  uint64_t begin = 0, end = 0;
  AccessKind kind = AccessKind::kWrite;

  bool operator==(const AccessRange&) const = default;
  bool contains(const AccessRange& other) const { return begin <= other.begin && other.end <= end; }
  /// True when the later of two uses has to wait for the earlier one.
  bool conflicts_with(const AccessRange& other) const {
    return std::max(begin, other.begin) < std::min(end, other.end) &&
           (kind != other.kind || kind == AccessKind::kWrite);
  }
};

/// The range that a launch uses of its module's variables.
inline constexpr AccessRange kAllVariables{0, UINT64_MAX, AccessKind::kLaunch};

/// An operation of a stream. It does not own the stream: the holder must keep the stream alive.
struct StreamTicket {
  Stream* stream;
  uint64_t ticket;
};

class alignas(64) AccessList {
 public:
  /// Instead of an entry's index: no entry, or the latest use of the kind.
  static constexpr uint32_t kNone = UINT32_MAX, kLatest = UINT32_MAX - 1;
  /// Instead of a ticket: the call is still about to queue the use.
  static constexpr uint64_t kOpen = UINT64_MAX;

  /// `uses` also records all uses, so that the memory outlives them; the lock guards it. If it is
  /// null, callers record uses themselves.
  explicit AccessList(UseList* uses = nullptr);
  ~AccessList();
  AccessList(const AccessList&) = delete;
  AccessList& operator=(const AccessList&) = delete;
  bool records_uses() const { return records_uses_; }

  /// Held from the search for conflicts until the ticket is recorded, so that of two conflicting
  /// operations the second always finds the first. All functions below need it.
  SpinLock& lock() { return lock_; }

  /// Takes the lock if this use repeats the last one of its kind and no other stream uses the
  /// memory: the operation then has nothing to wait for, and give_back() records the use.
  bool take_for_latest(uint64_t stream_number, const AccessRange& range) {
    if (!lock_.try_lock()) [[unlikely]]
      return false;
    if (records_uses_ && is_latest(stream_number, range)) [[likely]]
      return true;
    lock_.unlock();
    return false;
  }
  /// Records the use and releases the lock.
  void give_back(AccessKind kind, uint64_t ticket) {
    latest_[static_cast<size_t>(kind)].ticket = ticket;
    lock_.unlock();
  }

  /// Returns the entry of an equal use if no other stream uses the memory: the operation then has
  /// nothing to wait for, and note_again() records it. Otherwise it returns kNone. `is_first` is
  /// true for the first use of the operation that asks.
  uint32_t find_own(uint64_t stream_number, const AccessRange& range, bool is_first) {
    if (is_latest(stream_number, range)) [[likely]]
      return kLatest;
    return only_stream_ != stream_number ? kNone : find_own_entry(range, is_first);
  }
  void note_again(uint32_t entry, AccessKind kind, uint64_t ticket) {
    if (entry == kLatest) [[likely]] {
      latest_[static_cast<size_t>(kind)].ticket = ticket;
    } else {
      note_entry_again(entry, ticket);
    }
  }
  /// Moves the tickets of the latest uses to their entries.
  void settle() noexcept;

  /// Adds the conflicting uses of other streams, the latest of each stream. Returns false if one of
  /// them is not queued yet. make_room() must be called first.
  bool find_conflicts(uint64_t stream_number, const AccessRange& range,
                      std::vector<StreamTicket>* conflicts) const;
  /// Reserves entries for `count` calls of note() by this stream, which then cannot fail. Throws
  /// std::bad_alloc.
  void make_room(uint64_t stream_number, size_t count);
  /// Records a use that comes after all conflicting ones. If `ticket` is kOpen, close() must
  /// follow.
  void note(Stream& stream, const AccessRange& range, uint64_t ticket) noexcept;
  /// Marks the use at an entry of find_own() as open: its ticket is not known yet.
  void reopen(uint32_t entry, AccessKind kind) noexcept;
  /// Sets the ticket of an open use.
  void close(Stream& stream, const AccessRange& range, uint64_t ticket) noexcept;

  /// The number of recorded uses, for tests.
  size_t size() const { return entries_.size(); }

 private:
  static constexpr size_t kKinds = 3;
  // The number of calls of make_room() between two searches for finished uses of other streams.
  static constexpr uint32_t kCallsOfOthers = 16;
  // Number of entries above which finished uses are searched for.
  static constexpr size_t kFewEntries = 16;
  // The number of ranges of one stream and kind above which they are merged.
  static constexpr size_t kRangesOfStream = 8;

  struct Entry {
    Ref<Stream> stream;
    uint64_t stream_number;
    uint64_t ticket;
    AccessRange range;
  };
  /// The range of the last use of each kind by the only stream. Its ticket stays here until
  /// settle(), so that repeating a use touches one cache line.
  struct Latest {
    uint64_t begin = 1, end = 0;  // equals no range of a use
    uint64_t ticket = 0;          // 0: the ticket is in the entry
  };
  bool is_latest(uint64_t stream_number, const AccessRange& range) const {
    const Latest& latest = latest_[static_cast<size_t>(range.kind)];
    return only_stream_ == stream_number && latest.begin == range.begin && latest.end == range.end;
  }
  uint32_t find_own_entry(const AccessRange& range, bool is_first);
  void note_entry_again(uint32_t entry, uint64_t ticket) noexcept;
  void forget_over(uint64_t but_of_stream);
  void forget_latest();
  Entry* find_to_widen(uint64_t stream_number, const AccessRange& range);
  void find_only_stream();

  // The first cache line holds all that reads and writes of the only stream need.
  SpinLock lock_;
  const bool records_uses_;
  uint32_t calls_ = 0;  // number of make_room() calls
  // The stream that all entries belong to; 0 if there are several streams or no entries.
  uint64_t only_stream_ = 0;
  Latest latest_[kKinds];  // all empty if only_stream_ is 0
  // The members below lie on further cache lines.
  uint32_t entry_of_latest_[kKinds];
  UseList* const uses_;
  size_t limit_ = kFewEntries;
  std::vector<Entry> entries_;
};

}  // namespace km
