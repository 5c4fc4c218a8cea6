// The last use of something on each stream, so that it is freed after that and not before.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "backend/interface.h"
#include "core/object.h"
#include "core/spin_lock.h"
#include "core/stream.h"

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

  /// Whether nothing but work on `stream` (null: nothing at all) uses the object still. Forgets
  /// uses on other streams that are over.
  bool is_free_for(const kmb_stream* stream) noexcept;

  /// All last uses. Only for the one who has the object to itself.
  std::span<const kmb_use> uses() const { return uses_; }
  /// Notes all of them in another list too.
  void copy_to(UseList& other);

 private:
  /// Most objects are used on one stream.
  bool note_first(const Stream& stream, uint64_t ticket) noexcept {
    const std::lock_guard lock(lock_);
    if (uses_.empty() || uses_.front().stream != stream.native()) return false;
    if (uses_.front().ticket < ticket) uses_.front().ticket = ticket;
    return true;
  }
  void record_other(Stream& stream, uint64_t ticket) noexcept;
  size_t note(Stream& stream, uint64_t ticket);
  void drop_idle_streams();

  SpinLock lock_;
  std::vector<kmb_use> uses_;         // the form that backends take
  std::vector<Ref<Stream>> streams_;  // keeps the streams of uses_ valid
};

}  // namespace km
