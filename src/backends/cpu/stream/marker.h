// Markers: points in a stream that others can wait for. Each is one recording of an event.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/assert.h"
#include "base/thread/spin_lock.h"

namespace km::cpu {

class Stream;

/// Reference-counted: the event, the command that completes it and each waiter hold one.
class Marker {
 public:
  /// Returns a marker with one reference, which is the caller's.
  static Marker* make(Stream* stream) {
    return std::unique_ptr<Marker>(new Marker(stream)).release();
  }
  void retain() {
    [[maybe_unused]] const uint32_t before = references_.fetch_add(1, std::memory_order_relaxed);
    KM_ASSERT(before != 0, "a destroyed marker is retained");
  }
  void release() {
    const uint32_t before = references_.fetch_sub(1, std::memory_order_acq_rel);
    KM_ASSERT(before != 0, "a marker is released more often than it was retained");
    if (before == 1) delete this;
  }

  /// True if the mark is reached and its stream has counted it, so that a caller who sees the event
  /// complete also sees the stream idle. In a graph, the whole graph must be over.
  bool done() const;
  /// Only valid after done().
  uint64_t time_ns() const { return time_ns_; }
  Stream* stream() const { return stream_; }
  uint64_t ticket() const { return ticket_; }
  void set_ticket(uint64_t ticket) { ticket_ = ticket; }
  /// Marks it as belonging to a node of the graph command with this ticket, which ends after the
  /// node.
  void set_in_graph(uint64_t ticket) {
    ticket_ = ticket;
    in_graph_ = true;
  }
  bool in_graph() const { return in_graph_; }
  /// Prepares it for the next launch of a graph, which this stream runs at this ticket. Nobody may
  /// wait for it.
  void rearm(Stream* stream, uint64_t ticket) {
    KM_ASSERT(parked_.empty(), "a marker is used again while streams wait for it");
    KM_ASSERT(stream != nullptr && ticket != 0, "a marker of a graph belongs to no launch");
    stream_ = stream;
    set_in_graph(ticket);
    reached_.store(false, std::memory_order_relaxed);
  }

  /// True if only the caller holds a reference.
  bool is_unshared() const { return references_.load(std::memory_order_acquire) == 1; }
  /// Reuses it for another point in a stream that no command announces. Only the caller may hold a
  /// reference.
  void restart(Stream* stream, uint64_t ticket) {
    KM_ASSERT(is_unshared(), "a marker is used for another point while others hold it");
    stream_ = stream;
    ticket_ = ticket;
    has_command_ = false;
  }
  /// True if a command announces it. For other marks, waiters query the stream.
  bool has_command() const { return has_command_; }

  /// Sets the mark as reached. announce() must follow, after the stream has counted the command.
  void reach(bool is_timed = true);
  /// Continues all waiters.
  void announce();
  /// reach() and announce() in one step, for marks that are rearmed: whoever sees such a mark
  /// reached may rearm it, and a later announce() would continue waiters of the next launch.
  void reach_and_announce();
  /// Suspends a stream until announce(); false if that was called already.
  bool park(Stream* stream);
  /// Continues a suspended stream; false if it is not suspended here (any more).
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
