// A point in a stream that others can wait for: one recording of an event.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "backends/cpu/threads/futex.h"
#include "base/assert.h"

namespace km::cpu {

class Stream;

/// Counted references: the event, the command that completes it, and every waiter hold one.
class Marker {
 public:
  /// With one reference, the caller's.
  static Marker* make(Stream* stream) {
    return std::unique_ptr<Marker>(new Marker(stream)).release();
  }
  void retain() {
    [[maybe_unused]] const uint32_t before = references_.fetch_add(1, std::memory_order_relaxed);
    KM_ASSERT(before != 0, "a marker is kept that is gone");
  }
  void release() {
    const uint32_t before = references_.fetch_sub(1, std::memory_order_acq_rel);
    KM_ASSERT(before != 0, "a marker is released more often than it was retained");
    if (before == 1) delete this;
  }

  /// True if the mark is reached: once its stream has counted it, too, so that nobody who sees an
  /// event complete can see the stream at work. A graph counts when all of it is over.
  bool done() const;
  /// After done().
  uint64_t time_ns() const { return time_ns_; }
  Stream* stream() const { return stream_; }
  uint64_t ticket() const { return ticket_; }
  void set_ticket(uint64_t ticket) { ticket_ = ticket; }
  /// A node of the graph command with this ticket, which ends before that does.
  void set_in_graph(uint64_t ticket) {
    ticket_ = ticket;
    in_graph_ = true;
  }
  bool in_graph() const { return in_graph_; }
  /// To be reached once more, in a graph that this stream runs at this ticket. Nobody waits now.
  void rearm(Stream* stream, uint64_t ticket) {
    KM_ASSERT(parked_.empty(), "a marker is used again while streams wait for it");
    KM_ASSERT(stream != nullptr && ticket != 0, "a marker of a graph belongs to no launch");
    stream_ = stream;
    set_in_graph(ticket);
    reached_.store(false, std::memory_order_relaxed);
  }

  /// Nobody but the caller holds it.
  bool is_unshared() const { return references_.load(std::memory_order_acquire) == 1; }
  /// For another point in a stream, which no command announces. Nobody else holds it.
  void restart(Stream* stream, uint64_t ticket) {
    KM_ASSERT(is_unshared(), "a marker is used for another point while others hold it");
    stream_ = stream;
    ticket_ = ticket;
    has_command_ = false;
  }
  /// True if a command will announce it. For other marks the stream is asked.
  bool has_command() const { return has_command_; }

  /// The mark is reached. announce() follows, when the stream has counted that.
  void reach(bool is_timed = true);
  /// Lets everybody go on who waits.
  void announce();
  /// reach() and announce() at once, for marks that are rearmed: who sees that such a mark is
  /// reached may rearm it, and a later announce() would let those go on who wait for the next time.
  void reach_and_announce();
  /// Puts a stream to sleep until announce(); false when that has happened already.
  bool park(Stream* stream);
  /// Takes the stream out again; false when it was not (any more) parked here.
  bool unpark(Stream* stream);

 private:
  friend std::default_delete<Marker>;
  explicit Marker(Stream* stream) : stream_(stream) {}
  ~Marker() = default;

  std::atomic<uint32_t> references_{1};
  std::atomic<bool> reached_{false};
  uint64_t time_ns_ = 0;
  Stream* stream_;
  uint64_t ticket_ = 0;
  bool in_graph_ = false;
  bool has_command_ = true;
  SpinLock lock_;
  std::vector<Stream*> parked_;
};

}  // namespace km::cpu
