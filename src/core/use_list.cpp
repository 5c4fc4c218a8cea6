#include "core/use_list.h"

#include <algorithm>
#include <bit>
#include <mutex>
#include <new>

#include "core/backend_call.h"

namespace km {
namespace {

// More streams than this, and those that have nothing left to do are forgotten.
constexpr size_t kManyStreams = 8;

// Uses that is_free_for() forgets at a time.
constexpr size_t kForgottenAtOnce = 8;

bool is_over(Stream& stream, uint64_t ticket) noexcept {
  try {
    const kmb_backend& backend = stream.backend();
    if (backend.stream_query_ticket == nullptr) return stream.is_idle();
    return static_cast<bool>(call_backend(backend.stream_query_ticket, stream.native(), ticket));
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace

UseList::UseList() {
  uses_.reserve(2);
  streams_.reserve(2);
}

/// Returns the count of streams after adding one, 0 when the stream was there already.
size_t UseList::note(Stream& stream, uint64_t ticket) {
  const std::lock_guard lock(lock_);
  for (kmb_use& use : uses_) {
    if (use.stream != stream.native()) continue;
    use.ticket = std::max(use.ticket, ticket);
    return 0;
  }
  if (streams_.size() == streams_.capacity()) streams_.reserve(streams_.size() * 2 + 2);
  uses_.push_back({stream.native(), ticket});
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
  for (size_t i = uses_.size(); i-- > 0;) {
    if (uses_[i].stream == stream) continue;
    if (count == kForgottenAtOnce || !is_over(*streams_[i], uses_[i].ticket)) return false;
    forgotten[count++] = std::move(streams_[i]);
    uses_[i] = uses_.back();
    std::swap(streams_[i], streams_.back());
    uses_.pop_back();
    streams_.pop_back();
  }
  return true;
}

void UseList::copy_to(UseList& other) {
  for (size_t i = 0; i < uses_.size(); ++i) other.record(*streams_[i], uses_[i].ticket);
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
