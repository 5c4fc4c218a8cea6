// StreamClock, which operations of streams something is ordered after.
#pragma once

#include <cstdint>
#include <vector>

namespace km::cpu {

/// A vector clock: for each stream the ticket of the last operation that it includes, and with it
/// all earlier operations of that stream.
class StreamClock {
 public:
  /// The last ticket of the stream; 0: none of its operations.
  uint64_t at(uint32_t stream) const;
  bool holds(uint32_t stream, uint64_t ticket) const { return at(stream) >= ticket; }
  bool holds(const StreamClock& other) const;
  /// Includes the stream's operations up to this ticket.
  void raise(uint32_t stream, uint64_t ticket);
  /// Includes all that the other one includes.
  void join(const StreamClock& other);
  /// Forgets a stream, whose operations then count as included by everybody.
  void drop(uint32_t stream);
  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    uint32_t stream;
    uint64_t ticket;
  };
  std::vector<Entry>::iterator find(uint32_t stream);

  std::vector<Entry> entries_;  // sorted by stream
};

}  // namespace km::cpu
