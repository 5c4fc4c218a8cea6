// The latest uses of a piece of memory by each stream, as contexts with KM_CONTEXT_ORDERED keep
// them: what the next use on another stream has to wait for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/object/object.h"
#include "core/object/spin_lock.h"

namespace km {

class Stream;
class UseList;

enum class AccessKind : uint8_t {
  kRead,
  kWrite,   // and reads
  kLaunch,  // a module's variables by its kernels, which are not ordered among each other for that
};

/// Bytes from one device address to before another, and what is done with them.
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

/// An operation of a stream. Only as long as something else keeps the stream.
struct StreamTicket {
  Stream* stream;
  uint64_t ticket;
};

class alignas(64) AccessList {
 public:
  /// In place of an entry: there is none, or the latest one.
  static constexpr uint32_t kNone = UINT32_MAX, kLatest = UINT32_MAX - 1;
  /// In place of a ticket, of a use whose call is still about to queue it.
  static constexpr uint64_t kOpen = UINT64_MAX;

  /// `uses`: where uses are recorded too, so that the memory outlives them; the lock guards it.
  /// Null: whoever notes a use here sees to that.
  explicit AccessList(UseList* uses = nullptr);
  ~AccessList();
  AccessList(const AccessList&) = delete;
  AccessList& operator=(const AccessList&) = delete;
  bool records_uses() const { return records_uses_; }

  /// Held from the search for conflicts until the ticket is noted, so that of two operations that
  /// conflict the second always finds the first. All that follows is for the one who holds it.
  SpinLock& lock() { return lock_; }

  /// Takes the lock if the last use of the kind was the same one, and no other stream uses the
  /// memory: then nothing is to be waited for, and give_back() ends the use.
  bool take_for_latest(uint64_t stream_number, const AccessRange& range) {
    if (!lock_.try_lock()) [[unlikely]]
      return false;
    if (records_uses_ && is_latest(stream_number, range)) [[likely]]
      return true;
    lock_.unlock();
    return false;
  }
  /// Notes the use, and lets go of the lock.
  void give_back(AccessKind kind, uint64_t ticket) {
    latest_[static_cast<size_t>(kind)].ticket = ticket;
    lock_.unlock();
  }

  /// The entry of the same use, when no other stream uses the memory: nothing is to be waited for,
  /// and note_again() is enough. Else kNone. `is_first`: no other use of the operation has asked.
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
  /// Puts the tickets of the latest uses to where the others are.
  void settle() noexcept;

  /// Adds the uses that conflict with this one on other streams, the latest of each stream. False:
  /// one of them is not queued yet. After make_room().
  bool find_conflicts(uint64_t stream_number, const AccessRange& range,
                      std::vector<StreamTicket>* conflicts) const;
  /// Makes room for `count` calls of note() by this stream. Throws std::bad_alloc.
  void make_room(uint64_t stream_number, size_t count);
  /// Notes a use that comes after all that conflict with it. `ticket` kOpen: close() follows.
  void note(Stream& stream, const AccessRange& range, uint64_t ticket) noexcept;
  /// Makes a use that find_own() found an open one.
  void reopen(uint32_t entry, AccessKind kind) noexcept;
  /// Gives a use that was noted as open its ticket.
  void close(Stream& stream, const AccessRange& range, uint64_t ticket) noexcept;

  /// Uses that are kept, for tests.
  size_t size() const { return entries_.size(); }

 private:
  static constexpr size_t kKinds = 3;
  static constexpr uint32_t kCallsOfOthers = 16;  // before uses of other streams are looked at
  static constexpr size_t kFewEntries = 16;       // before those that are over are looked for
  static constexpr size_t kRangesOfStream = 8;    // of a kind, before they are made one

  struct Entry {
    Ref<Stream> stream;
    uint64_t stream_number;
    uint64_t ticket;
    AccessRange range;
  };
  /// The range of the last use of a kind by the only stream. Its ticket is here until settle(), so
  /// that a use of the same range needs one line of the cache.
  struct Latest {
    uint64_t begin = 1, end = 0;  // no range is like this
    uint64_t ticket = 0;          // 0: the entry has it
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

  // The first line of the cache: all that reads and writes of the only stream need.
  SpinLock lock_;
  const bool records_uses_;
  uint32_t calls_ = 0;        // of make_room()
  uint64_t only_stream_ = 0;  // the number of the stream of all entries; 0: several, or none
  Latest latest_[kKinds];     // all none where there is no only stream
  // The rest.
  uint32_t entry_of_latest_[kKinds];
  UseList* const uses_;
  size_t limit_ = kFewEntries;
  std::vector<Entry> entries_;
};

}  // namespace km
