// The last use of an object on each stream, so that it is freed after those uses.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "backend/interface.h"
#include "base/thread/spin_lock.h"
#include "core/object/object.h"
#include "core/stream/stream.h"

namespace km {

class UseList {
 public:
  /// Reserves room for two streams. Throws std::bad_alloc.
  UseList();

  /// Records that the operation with this ticket uses the object. Never fails: without memory for
  /// the record it waits for the stream instead.
  void record(Stream& stream, uint64_t ticket) noexcept {
    if (!note_first(stream, ticket)) [[unlikely]]
      record_other(stream, ticket);
  }

  // The functions below are for lists that the caller protects from other threads.

  /// Reserves room for record_alone(), which otherwise may wait. Throws std::bad_alloc.
  void make_room();
  void record_alone(Stream& stream, uint64_t ticket) noexcept;

  /// True if only work on `stream` (null: no work at all) still uses the object. Drops finished
  /// uses on other streams.
  bool is_free_for(const kmb_stream* stream) noexcept;

  /// All last uses. Only for callers that have the object to themselves.
  std::span<const kmb_use> uses() const { return uses_; }
  std::span<const Ref<Stream>> streams() const { return streams_; }
  /// Copies uses and streams while other threads may record uses.
  void copy_to(std::vector<kmb_use>* uses, std::vector<Ref<Stream>>* streams);

 private:
  /// The fast path: most objects are used on one stream.
  bool note_first(const Stream& stream, uint64_t ticket) noexcept {
    const std::lock_guard lock(lock_);
    return note_first_alone(stream, ticket);
  }
  bool note_first_alone(const Stream& stream, uint64_t ticket) noexcept {
    if (uses_.empty() || uses_.front().stream != stream.native()) return false;
    if (uses_.front().ticket < ticket) uses_.front().ticket = ticket;
    return true;
  }
  void record_other(Stream& stream, uint64_t ticket) noexcept;
  size_t note(Stream& stream, uint64_t ticket);
  size_t note_alone(Stream& stream, uint64_t ticket);
  void drop_idle_streams();

  SpinLock lock_;
  std::vector<kmb_use> uses_;         // the form that backends take
  std::vector<Ref<Stream>> streams_;  // keeps the streams of uses_ valid
};

}  // namespace km
