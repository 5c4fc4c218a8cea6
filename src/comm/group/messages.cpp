#include "comm/group/messages.h"

#include <algorithm>
#include <cstring>

namespace km::comm {

Messages::Messages(Membership& membership, std::span<const Operation> operations)
    : membership_(membership) {
  for (const Operation& each : operations) {
    if (is_between_two(each.call.kind)) messages_.push_back({.operation = &each});
  }
}

bool Messages::are_short(std::span<const Operation> operations) {
  constexpr size_t kMost = 16;
  return operations.size() <= kMost &&
         std::all_of(operations.begin(), operations.end(), [](const Operation& each) {
           return is_between_two(each.call.kind) && each.call.block_bytes() <= kRingSlotBytes;
         });
}

SharedRing& Messages::ring_of(const Message& message) const {
  const auto peer = static_cast<uint32_t>(message.operation->call.root);
  const bool sends = message.operation->call.kind == Kind::kSend;
  return sends ? membership_.segment().ring(membership_.rank(), peer)
               : membership_.segment().ring(peer, membership_.rank());
}

/// Messages to or from one rank move one after the other.
bool Messages::is_first(const Message& message) const {
  for (const Message& each : messages_) {
    if (&each == &message) return true;
    if (!each.is_over && each.operation->call.kind == message.operation->call.kind &&
        each.operation->call.root == message.operation->call.root) {
      return false;
    }
  }
  return true;
}

bool Messages::is_ready(const Message& message) const {
  if (message.is_over || !is_first(message)) return false;
  const SharedRing& ring = ring_of(message);
  const uint64_t waiting = ring.written.load() - ring.read.load();
  return message.operation->call.kind == Kind::kSend ? waiting < kRingSlots : waiting != 0;
}

bool Messages::can_move() const {
  return std::any_of(messages_.begin(), messages_.end(),
                     [&](const Message& each) { return is_ready(each); });
}

bool Messages::are_over() const {
  return std::all_of(messages_.begin(), messages_.end(),
                     [](const Message& each) { return each.is_over; });
}

bool Messages::needs(uint32_t rank) const {
  return std::any_of(messages_.begin(), messages_.end(), [&](const Message& each) {
    return !each.is_over && each.operation->call.root == static_cast<int32_t>(rank) &&
           !is_ready(each);
  });
}

Failure Messages::missing() const {
  const auto waits = std::find_if(messages_.begin(), messages_.end(),
                                  [](const Message& each) { return !each.is_over; });
  return make_failure(FailureKind::kTimeout,
                      "rank %u called %s %g s ago, but that rank has no call for it",
                      membership_.rank(), describe(waits->operation->call).c_str(),
                      seconds(membership_.timeout_ns()));
}

bool Messages::put(Message& message) {
  const Operation& operation = *message.operation;
  SharedRing& ring = ring_of(message);
  const uint64_t number = ring.written.load(std::memory_order_relaxed);
  const auto peer = static_cast<uint32_t>(operation.call.root);
  SharedRing::Slot& slot = ring.slots[number % kRingSlots];
  const uint64_t total = operation.call.block_bytes();
  slot.size_bytes = std::min(kRingSlotBytes, total - message.done_bytes);
  slot.total_bytes = total;
  slot.call = operation.call;
  if (slot.size_bytes != 0) {
    std::memcpy(membership_.segment().message(membership_.rank(), peer, number % kRingSlots),
                static_cast<const uint8_t*>(operation.send) + message.done_bytes, slot.size_bytes);
  }
  message.done_bytes += slot.size_bytes;
  message.is_over = message.done_bytes == total;
  ring.written.store(number + 1);
  membership_.segment().slot(peer).bell.ring();
  return true;
}

bool Messages::take(Message& message, Failure* failure) {
  const Operation& operation = *message.operation;
  SharedRing& ring = ring_of(message);
  const uint64_t number = ring.read.load(std::memory_order_relaxed);
  const auto peer = static_cast<uint32_t>(operation.call.root);
  const SharedRing::Slot slot = ring.slots[number % kRingSlots];
  const uint64_t total = operation.call.block_bytes();
  if (slot.total_bytes != total || message.done_bytes + slot.size_bytes > total) {
    *failure = mismatch(membership_.rank(), operation.call, peer, slot.call);
    return false;
  }
  if (slot.size_bytes != 0) {
    std::memcpy(static_cast<uint8_t*>(operation.receive) + message.done_bytes,
                membership_.segment().message(peer, membership_.rank(), number % kRingSlots),
                slot.size_bytes);
  }
  message.done_bytes += slot.size_bytes;
  message.is_over = message.done_bytes == total;
  ring.read.store(number + 1);
  membership_.segment().slot(peer).bell.ring();
  return true;
}

bool Messages::move_all(Failure* failure) {
  bool has_moved = false;
  for (Message& each : messages_) {
    while (!*failure && is_ready(each)) {
      has_moved |= each.operation->call.kind == Kind::kSend ? put(each) : take(each, failure);
    }
  }
  return has_moved;
}

bool Messages::try_move() {
  if (!failure_) move_all(&failure_);
  return failure_ || are_over();
}

Failure Messages::run() {
  while (!failure_ && !are_over()) {
    const bool has_moved = move_all(&failure_);
    if (failure_) return failure_;
    if (has_moved) continue;
    Failure failure = membership_.wait(
        membership_.segment().slot(membership_.rank()).bell, [&] { return can_move(); },
        [&](uint32_t rank) { return needs(rank); }, [&] { return missing(); });
    if (failure) return failure;
  }
  return failure_;
}

}  // namespace km::comm
