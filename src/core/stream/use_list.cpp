#include "core/stream/use_list.h"

#include "base/assert.h"

#include <algorithm>
#include <bit>
#include <mutex>
#include <new>

namespace km {
namespace {

// With more streams than this, those that are idle are dropped from the list.
constexpr size_t kManyStreams = 8;

// The number of uses that is_free_for() drops in one call.
constexpr size_t kForgottenAtOnce = 8;

}  // namespace

UseList::UseList() {
  uses_.reserve(2);
  streams_.reserve(2);
}

size_t UseList::note(Stream& stream, uint64_t ticket) {
  const std::lock_guard lock(lock_);
  return note_alone(stream, ticket);
}

/// Returns the number of streams after adding one, 0 if the stream was listed already.
size_t UseList::note_alone(Stream& stream, uint64_t ticket) {
  KM_ASSERT(uses_.size() == streams_.size(), "each use has its stream");
  for (kmb_use& use : uses_) {
    if (use.stream != stream.native()) continue;
    use.ticket = std::max(use.ticket, ticket);
    return 0;
  }
  if (streams_.size() == streams_.capacity()) streams_.reserve(streams_.size() * 2 + 2);
  uses_.push_back({stream.native(), ticket});
  KM_ASSERT(streams_.size() < streams_.capacity(), "the stream of a use is kept, or nothing is");
  streams_.push_back(Ref<Stream>::share(stream));
  return uses_.size();
}

void UseList::drop_idle_streams() {
  // The lists are swapped out first, because a query of a stream, or the release of the last
  // reference to one, takes too long for a spin lock.
  std::vector<kmb_use> uses;
  std::vector<Ref<Stream>> streams;
  {
    const std::lock_guard lock(lock_);
    if (uses_.size() <= kManyStreams) return;
    uses.swap(uses_);
    streams.swap(streams_);
  }
  for (size_t i = 0; i < streams.size(); ++i) {
    if (!streams[i]->is_idle()) note(*streams[i], uses[i].ticket);
  }
}

bool UseList::is_free_for(const kmb_stream* stream) noexcept {
  Ref<Stream> forgotten[kForgottenAtOnce];  // destroyed after the lock is released
  size_t count = 0;
  const std::lock_guard lock(lock_);
  KM_ASSERT(uses_.size() == streams_.size(), "each use has its stream");
  for (size_t i = uses_.size(); i-- > 0;) {
    if (uses_[i].stream == stream) continue;
    if (count == kForgottenAtOnce || !streams_[i]->is_over(uses_[i].ticket)) return false;
    forgotten[count++] = std::move(streams_[i]);
    uses_[i] = uses_.back();
    std::swap(streams_[i], streams_.back());
    uses_.pop_back();
    streams_.pop_back();
  }
  return true;
}

void UseList::copy_to(std::vector<kmb_use>* uses, std::vector<Ref<Stream>>* streams) {
  const std::lock_guard lock(lock_);
  *uses = uses_;
  *streams = streams_;
  KM_ASSERT(uses->size() == streams->size(), "each use has its stream");
}

void UseList::make_room() {
  if (uses_.size() > kManyStreams && std::has_single_bit(uses_.size())) {
    for (size_t i = uses_.size(); i-- > 0;) {
      if (!streams_[i]->is_over(uses_[i].ticket)) continue;
      uses_[i] = uses_.back();
      std::swap(streams_[i], streams_.back());
      uses_.pop_back();
      streams_.pop_back();
    }
  }
  if (uses_.size() < uses_.capacity() && streams_.size() < streams_.capacity()) return;
  uses_.reserve(uses_.size() * 2 + 2);
  streams_.reserve(streams_.size() * 2 + 2);
  KM_ASSERT(uses_.size() == streams_.size(), "each use has its stream");
}

void UseList::record_alone(Stream& stream, uint64_t ticket) noexcept {
  if (note_first_alone(stream, ticket)) [[likely]]
    return;
  try {
    note_alone(stream, ticket);
  } catch (const std::bad_alloc&) {
    static_cast<void>(stream.drain());
  }
}

void UseList::record_other(Stream& stream, uint64_t ticket) noexcept {
  try {
    const size_t count = note(stream, ticket);
    // Only powers of two start a search, because querying all streams on each call would cost too
    // much while they are busy.
    if (count > kManyStreams && std::has_single_bit(count)) drop_idle_streams();
  } catch (const std::bad_alloc&) {
    static_cast<void>(stream.drain());
  }
}

}  // namespace km
