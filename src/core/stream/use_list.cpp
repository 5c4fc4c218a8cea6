#include "core/stream/use_list.h"

#include "base/assert.h"

#include <algorithm>
#include <bit>
#include <mutex>
#include <new>

namespace km {
namespace {

// More streams than this, and those that have nothing left to do are forgotten.
constexpr size_t kManyStreams = 8;

// Uses that is_free_for() forgets at a time.
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

/// Returns the count of streams after adding one, 0 when the stream was there already.
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
  // Taken out first: asking a stream is too long for the spin lock, and so is letting go of one.
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
  Ref<Stream> forgotten[kForgottenAtOnce];  // let go of after the lock
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
    // At powers of two only: where all streams are busy, asking each time would cost too much.
    if (count > kManyStreams && std::has_single_bit(count)) drop_idle_streams();
  } catch (const std::bad_alloc&) {
    static_cast<void>(stream.drain());
  }
}

}  // namespace km
