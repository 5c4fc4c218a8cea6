#include "backends/cpu/order/stream_clock.h"

#include <algorithm>

namespace km::cpu {

std::vector<StreamClock::Entry>::iterator StreamClock::find(uint32_t stream) {
  return std::lower_bound(entries_.begin(), entries_.end(), stream,
                          [](const Entry& entry, uint32_t id) { return entry.stream < id; });
}

uint64_t StreamClock::at(uint32_t stream) const {
  const auto found = const_cast<StreamClock*>(this)->find(stream);
  return found != entries_.end() && found->stream == stream ? found->ticket : 0;
}

bool StreamClock::holds(const StreamClock& other) const {
  return std::all_of(other.entries_.begin(), other.entries_.end(),
                     [&](const Entry& entry) { return holds(entry.stream, entry.ticket); });
}

void StreamClock::raise(uint32_t stream, uint64_t ticket) {
  const auto found = find(stream);
  if (found == entries_.end() || found->stream != stream) {
    entries_.insert(found, {stream, ticket});
  } else {
    found->ticket = std::max(found->ticket, ticket);
  }
}

void StreamClock::join(const StreamClock& other) {
  for (const Entry& entry : other.entries_) raise(entry.stream, entry.ticket);
}

void StreamClock::drop(uint32_t stream) {
  const auto found = find(stream);
  if (found != entries_.end() && found->stream == stream) entries_.erase(found);
}

}  // namespace km::cpu
