#include "core/stream/access_list.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "core/stream/stream.h"
#include "core/stream/use_list.h"

namespace km {
namespace {

void add_latest(std::vector<StreamTicket>* conflicts, Stream& stream, uint64_t ticket) {
  for (StreamTicket& known : *conflicts) {
    if (known.stream->number() != stream.number()) continue;
    known.ticket = std::max(known.ticket, ticket);
    return;
  }
  conflicts->push_back({&stream, ticket});
}

}  // namespace

uint32_t AccessList::find_own_entry(const AccessRange& range, bool is_first) {
  for (uint32_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].range != range || entries_[i].ticket == kOpen) continue;
    if (!is_first) return i;
    settle();
    const auto kind = static_cast<size_t>(range.kind);
    latest_[kind] = {range.begin, range.end, 0};
    entry_of_latest_[kind] = i;
    return kLatest;
  }
  return kNone;
}

void AccessList::note_entry_again(uint32_t entry, uint64_t ticket) noexcept {
  KM_ASSERT(entry < entries_.size(), "find_own() gave the entry under the same lock");
  KM_ASSERT(entries_[entry].ticket != kOpen, "an open use is noted by close()");
  entries_[entry].ticket = ticket;
  if (uses_ != nullptr) uses_->record_alone(*entries_[entry].stream, ticket);
}

void AccessList::settle() noexcept {
  for (size_t kind = 0; kind < kKinds; ++kind) {
    if (latest_[kind].ticket == 0) continue;
    KM_ASSERT(entry_of_latest_[kind] < entries_.size(), "the latest use has its entry");
    Entry& entry = entries_[entry_of_latest_[kind]];
    KM_ASSERT(entry.stream_number == only_stream_, "the latest uses are those of the only stream");
    KM_ASSERT(static_cast<size_t>(entry.range.kind) == kind, "the entry is of the latest's kind");
    KM_ASSERT(entry.ticket != kOpen, "an open use is no latest one");
    entry.ticket = std::exchange(latest_[kind].ticket, 0);
    if (uses_ != nullptr) uses_->record_alone(*entry.stream, entry.ticket);
  }
}

/// Must be called after settle(), because tickets that are only here would be lost.
void AccessList::forget_latest() {
  for (Latest& latest : latest_) {
    KM_ASSERT(latest.ticket == 0,
              "settle() has put the ticket into the entry, or it would be lost");
    latest = {};
  }
}

AccessList::AccessList(UseList* uses)
    : records_uses_(uses != nullptr), entry_of_latest_{}, uses_(uses) {}
AccessList::~AccessList() = default;

bool AccessList::find_conflicts(uint64_t stream_number, const AccessRange& range,
                                std::vector<StreamTicket>* conflicts) const {
  for (const Entry& entry : entries_) {
    if (entry.stream_number == stream_number || !entry.range.conflicts_with(range)) continue;
    if (entry.ticket == kOpen) return false;
    add_latest(conflicts, *entry.stream, entry.ticket);
  }
  return true;
}

void AccessList::make_room(uint64_t stream_number, size_t count) {
  settle();
  if (uses_ != nullptr) uses_->make_room();
  // The limit doubles, because querying all streams on each call would cost too much while they are
  // busy.
  if (entries_.size() >= limit_) {
    forget_over(0);
    limit_ = std::max(kFewEntries, 2 * entries_.size());
  } else if (++calls_ % kCallsOfOthers == 0) {
    forget_over(stream_number);  // a stream that is alone again gets the fast path back
  }
  if (entries_.capacity() - entries_.size() >= count) return;
  entries_.reserve(std::max(entries_.size() + count, 2 * entries_.size()));
}

void AccessList::forget_over(uint64_t but_of_stream) {
  std::erase_if(entries_, [&](const Entry& entry) {
    return entry.stream_number != but_of_stream && entry.ticket != kOpen &&
           entry.stream->is_over(entry.ticket);
  });
  forget_latest();
  find_only_stream();
}

void AccessList::find_only_stream() {
  only_stream_ = entries_.empty() ? 0 : entries_.front().stream_number;
  for (const Entry& entry : entries_) {
    if (entry.stream_number != only_stream_) only_stream_ = 0;
  }
}

/// The entry of the stream and kind that grows least if it takes in the range; null if the stream
/// has fewer than kRangesOfStream entries.
AccessList::Entry* AccessList::find_to_widen(uint64_t stream_number, const AccessRange& range) {
  Entry* best = nullptr;
  uint64_t least = UINT64_MAX;
  size_t count = 0;
  for (Entry& entry : entries_) {
    if (entry.stream_number != stream_number || entry.range.kind != range.kind) continue;
    if (entry.ticket == kOpen) continue;
    ++count;
    const uint64_t size =
        std::max(entry.range.end, range.end) - std::min(entry.range.begin, range.begin);
    const uint64_t growth = size - (entry.range.end - entry.range.begin);
    if (growth >= least) continue;
    best = &entry;
    least = growth;
  }
  return count < kRangesOfStream ? nullptr : best;
}

void AccessList::note(Stream& stream, const AccessRange& range, uint64_t ticket) noexcept {
  KM_ASSERT(range.begin <= range.end, "a range does not end before it begins");
  const uint64_t number = stream.number();
  const auto is_same = [&](const Entry& entry) {
    return entry.stream_number == number && entry.range == range && entry.ticket != kOpen;
  };
  forget_latest();
  // An operation that waits for this use also waits for those before it, so their entries can go.
  if (range.kind == AccessKind::kWrite && ticket != kOpen) {
    std::erase_if(entries_, [&](const Entry& entry) {
      return range.contains(entry.range) && entry.ticket != kOpen && !is_same(entry);
    });
  }
  const auto same =
      ticket == kOpen ? entries_.end() : std::find_if(entries_.begin(), entries_.end(), is_same);
  Entry* const wider = ticket == kOpen ? nullptr : find_to_widen(number, range);
  if (same != entries_.end()) {
    same->ticket = std::max(same->ticket, ticket);
  } else if (wider != nullptr) {
    wider->range.begin = std::min(wider->range.begin, range.begin);
    wider->range.end = std::max(wider->range.end, range.end);
    wider->ticket = std::max(wider->ticket, ticket);
  } else {
    KM_ASSERT(entries_.size() < entries_.capacity(), "make_room() was here: note() cannot fail");
    entries_.push_back({Ref<Stream>::share(stream), number, ticket, range});
  }
  if (uses_ != nullptr && ticket != kOpen) uses_->record_alone(stream, ticket);
  find_only_stream();
}

void AccessList::reopen(uint32_t entry, AccessKind kind) noexcept {
  settle();
  const auto of_kind = static_cast<size_t>(kind);
  const uint32_t index = entry == kLatest ? entry_of_latest_[of_kind] : entry;
  KM_ASSERT(index < entries_.size(), "the use that opens again has an entry");
  KM_ASSERT(entries_[index].range.kind == kind, "the entry is of the use's kind");
  entries_[index].ticket = kOpen;
  latest_[of_kind] = {};
}

void AccessList::close(Stream& stream, const AccessRange& range, uint64_t ticket) noexcept {
  KM_ASSERT(ticket != kOpen, "a closed use has its ticket");
  const auto open = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.ticket == kOpen && entry.stream_number == stream.number() && entry.range == range;
  });
  if (open != entries_.end()) open->ticket = ticket;
}

}  // namespace km
