// Messages between two ranks, by rings of shared memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm/segment/membership.h"

namespace km::comm {

/// One rank's sends and receives of one call, which move on together.
class Messages {
 public:
  Messages(Membership& membership, std::span<const Operation> operations);
  /// True if each message has one piece, and there are few.
  static bool are_short(std::span<const Operation> operations);
  /// Moves what can be moved; true if run() will not wait.
  bool try_move();
  /// Carries out all of them; waits for the other ranks.
  Failure run();

 private:
  struct Message {
    const Operation* operation;
    uint64_t done_bytes = 0;
    bool is_over = false;
  };
  /// Moves what can be moved. False if nothing could be.
  bool move_all(Failure* failure);
  bool put(Message& message);
  bool take(Message& message, Failure* failure);
  bool is_first(const Message& message) const;
  bool can_move() const;
  bool is_ready(const Message& message) const;
  bool are_over() const;
  bool needs(uint32_t rank) const;
  Failure missing() const;
  SharedRing& ring_of(const Message& message) const;

  Membership& membership_;
  std::vector<Message> messages_;
  Failure failure_;  // of a message that does not fit its other side
};

}  // namespace km::comm
