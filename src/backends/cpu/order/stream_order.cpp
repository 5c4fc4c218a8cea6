#include "backends/cpu/order/stream_order.h"

#include <algorithm>

#include "base/assert.h"

namespace km::cpu {

StreamOrder::StreamOrder() : host_(std::make_shared<const StreamClock>()) {}

void StreamOrder::activate() {
  // The object is never destroyed, because operations may run while the process exits.
  static StreamOrder& order = *new StreamOrder;
  active_ = &order;
}

uint32_t StreamOrder::open() {
  const std::lock_guard lock(mutex_);
  constexpr size_t kManyStreams = 64;
  if (streams_.size() >= kManyStreams) retire_streams();
  streams_.try_emplace(++last_stream_);
  return last_stream_;
}

void StreamOrder::close(uint32_t stream) {
  const std::lock_guard lock(mutex_);
  const auto found = streams_.find(stream);
  if (found != streams_.end()) found->second.is_closed = true;
}

/// Forgets closed streams whose operations come before all that can still be compared.
void StreamOrder::retire_streams() {
  const StreamClock& known = floor();
  std::vector<uint32_t> retired;
  for (const auto& [id, stream] : streams_) {
    if (stream.is_closed && known.holds(id, stream.last)) retired.push_back(id);
  }
  StreamClock host = *host_;
  for (const uint32_t id : retired) {
    streams_.erase(id);
    host.drop(id);
    for (auto& [other, stream] : streams_) stream.clock.drop(id);
  }
  host_ = std::make_shared<const StreamClock>(std::move(host));
}

/// The operations that are known to be over to all that still run or will be queued.
const StreamClock& StreamOrder::floor() const {
  return pending_.empty() ? *host_ : *pending_.begin()->second;
}

StreamOrder::Operation StreamOrder::queue(uint32_t stream, uint64_t ticket) {
  auto operation = std::make_shared<QueuedOperation>();
  operation->stream = stream;
  operation->ticket = ticket;
  const std::lock_guard lock(mutex_);
  operation->number = ++last_number_;
  operation->host = host_;
  pending_.emplace(operation->number, host_);
  Stream& own = streams_[stream];
  own.clock.join(*host_);
  operation->before = own.clock;
  own.clock.raise(stream, ticket);
  own.last = std::max(own.last, ticket);
  return operation;
}

StreamOrder::Clock StreamOrder::clock_of(uint32_t stream) {
  const std::lock_guard lock(mutex_);
  Stream& own = streams_[stream];
  own.clock.join(*host_);
  return std::make_shared<const StreamClock>(own.clock);
}

void StreamOrder::wait(uint32_t stream, const StreamClock& clock) {
  const std::lock_guard lock(mutex_);
  streams_[stream].clock.join(clock);
}

void StreamOrder::wait_on_host(const StreamClock& clock) {
  const std::lock_guard lock(mutex_);
  tell_host(clock);
}

void StreamOrder::tell_host(const StreamClock& clock) {
  StreamClock all = clock;
  complete(all);
  if (host_->holds(all)) return;
  all.join(*host_);
  host_ = std::make_shared<const StreamClock>(std::move(all));
}

/// Adds what the operations of a clock have learnt while they ran.
void StreamOrder::complete(StreamClock& clock) const {
  // A lesson may include earlier ones only, or ones that were learnt at the same time.
  for (size_t i = lessons_.size(); i-- > 0;) {
    if (clock.holds(lessons_[i].stream, lessons_[i].ticket)) clock.join(lessons_[i].clock);
  }
}

void StreamOrder::learn(QueuedOperation& operation, const StreamClock& clock) {
  operation.before.join(clock);
  const StreamClock& known = floor();
  std::erase_if(lessons_, [&](const Lesson& lesson) { return known.holds(lesson.clock); });
  if (!known.holds(clock)) lessons_.push_back({operation.stream, operation.ticket, clock});
}

void StreamOrder::meet_host(const QueuedOperation& operation) {
  const std::lock_guard lock(mutex_);
  StreamClock clock = operation.before;
  clock.raise(operation.stream, operation.ticket);
  tell_host(clock);
}

void StreamOrder::end_callback(QueuedOperation& operation) {
  const std::lock_guard lock(mutex_);
  learn(operation, *host_);
}

void StreamOrder::publish(const QueuedOperation& operation, uint64_t address) {
  const std::lock_guard lock(mutex_);
  StreamClock& clock = published_[address];
  clock.join(operation.before);
  clock.raise(operation.stream, operation.ticket);
  complete(clock);
}

void StreamOrder::receive(QueuedOperation& operation, uint64_t address) {
  const std::lock_guard lock(mutex_);
  StreamClock clock = *host_;
  const auto found = published_.find(address);
  if (found != published_.end()) {
    clock.join(found->second);
  } else {  // a kernel, a copy or the host has written the number, nobody knows which
    for (const auto& [id, stream] : streams_) clock.join(stream.clock);
  }
  learn(operation, clock);
}

bool StreamOrder::is_over(uint32_t stream, uint64_t ticket) const {
  return !streams_.contains(stream) || floor().holds(stream, ticket);
}

bool StreamOrder::is_over(const AccessOrigin& before) {
  return is_over(before.operation->stream, before.operation->ticket);
}

bool StreamOrder::is_ordered(const AccessOrigin& before, const AccessOrigin& now) {
  const QueuedOperation &first = *before.operation, &second = *now.operation;
  if (&first == &second) {
    return first.nodes == nullptr || first.nodes->is_ordered(before.node, now.node);
  }
  return !streams_.contains(first.stream) || second.before.holds(first.stream, first.ticket) ||
         first.before.holds(second.stream, second.ticket);
}

std::vector<StreamConflict> StreamOrder::access(const std::shared_ptr<const AccessOrigin>& origin,
                                                std::span<PageTouches> pages) {
  const std::lock_guard lock(mutex_);
  complete(origin->operation->before);
  return history_.add(origin, pages, *this);
}

void StreamOrder::end(const QueuedOperation& operation) {
  const std::lock_guard lock(mutex_);
  pending_.erase(operation.number);
}

void StreamOrder::follow(uint64_t address, uint64_t size_bytes) {
  const std::lock_guard lock(mutex_);
  auto& [end, owners] = followed_[address];
  end = std::max(end, address + size_bytes);
  ++owners;
}

void StreamOrder::forget(uint64_t address, uint64_t size_bytes) {
  const std::lock_guard lock(mutex_);
  const auto found = followed_.find(address);
  if (found != followed_.end() && --found->second.second == 0) followed_.erase(found);
  history_.forget(address, size_bytes);
  published_.erase(published_.lower_bound(address), published_.lower_bound(address + size_bytes));
}

void StreamOrder::renew(uint64_t address, uint64_t size_bytes) {
  const std::lock_guard lock(mutex_);
  history_.forget(address, size_bytes);
}

ByteSet StreamOrder::followed_bytes(uint64_t page) const {
  const uint64_t begin = page * ByteSet::kBytes, end = begin + ByteSet::kBytes;
  ByteSet all;
  auto entry = followed_.lower_bound(end);
  while (entry != followed_.begin()) {
    --entry;
    const uint64_t last = entry->second.first;
    if (last > begin) {
      const uint64_t from = std::max(entry->first, begin), to = std::min(last, end);
      all.add(
          ByteSet::of_run(static_cast<uint32_t>(from - begin), static_cast<uint32_t>(to - begin)));
    }
    if (entry->first <= begin) break;
  }
  return all;
}

std::vector<PageTouches> StreamOrder::pages_of(uint64_t address, uint64_t size_bytes, Touch touch) {
  std::vector<PageTouches> pages;
  const uint64_t end = address + size_bytes;
  while (address < end) {
    const uint64_t number = address / ByteSet::kBytes, begin = number * ByteSet::kBytes;
    const uint64_t last = std::min<uint64_t>(end, begin + ByteSet::kBytes);
    PageTouches& page = pages.emplace_back();
    page.page = number;
    page.of(touch) = ByteSet::of_run(static_cast<uint32_t>(address - begin),
                                     static_cast<uint32_t>(last - begin));
    address = last;
  }
  keep_followed(pages);
  return pages;
}

void StreamOrder::keep_followed(std::vector<PageTouches>& pages) {
  const std::lock_guard lock(mutex_);
  std::erase_if(pages, [&](PageTouches& page) {
    const ByteSet followed = followed_bytes(page.page);
    bool is_empty = true;
    for (ByteSet& set : page.sets) {
      if (!set.is_empty() && followed.count() != ByteSet::kBytes) set = set.common(followed);
      is_empty = is_empty && set.is_empty();
    }
    return is_empty;
  });
}

}  // namespace km::cpu
