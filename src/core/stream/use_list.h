// The last use of something on each stream, so that it is freed after that and not before.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "backend/interface.h"
#include "core/object/object.h"
#include "core/object/spin_lock.h"
#include "core/stream/stream.h"

namespace km {

class UseList {
 public:
  /// Throws std::bad_alloc.
  UseList();

  /// Notes that the operation with this ticket uses the object. Never fails: where there is no
  /// memory for the note, it waits for the stream instead.
  void record(Stream& stream, uint64_t ticket) noexcept {
    if (!note_first(stream, ticket)) [[unlikely]]
      record_other(stream, ticket);
  }

  // For lists that something else keeps other threads away from.

  /// Makes room for record_alone(), which else waits. Throws std::bad_alloc.
  void make_room();
  void record_alone(Stream& stream, uint64_t ticket) noexcept;

  /// True if nothing but work on `stream` (null: nothing at all) uses the object still. Forgets
  /// uses on other streams that are over.
  bool is_free_for(const kmb_stream* stream) noexcept;

  /// All last uses, and their streams in the same order. Only for the one who has the object to
  /// itself.
  std::span<const kmb_use> uses() const { return uses_; }
  std::span<const Ref<Stream>> streams() const { return streams_; }
  /// Copies of both, while others record uses.
  void copy_to(std::vector<kmb_use>* uses, std::vector<Ref<Stream>>* streams);

 private:
  /// Most objects are used on one stream.
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
