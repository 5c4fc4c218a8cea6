// Streams with their tickets, and events.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "backends/cuda/context/context.h"
#include "backends/cuda/driver/entries.h"

namespace km::cuda {

class Stream : public std::enable_shared_from_this<Stream> {
 public:
  static Result<std::shared_ptr<Stream>> create(const Context& context, int32_t priority);
  ~Stream();

  const std::shared_ptr<Epoch>& epoch() const { return epoch_; }
  cu::CUstream handle() const { return handle_; }
  Profile& profile() const { return *profile_; }

  /// The ticket of the operation that was just queued. It costs one atomic addition: events for
  /// tickets are only made when a caller waits for them.
  uint64_t next_ticket() { return tickets_.fetch_add(1, std::memory_order_relaxed) + 1; }
  uint64_t last_ticket() const { return tickets_.load(std::memory_order_relaxed); }
  /// Begins a time in which tickets are given for work that is queued at its end: that of NCCL.
  /// `call` is the name of the work in messages, of static lifetime.
  void hold_tickets(const char* call);
  /// Ends it; the work is queued.
  void release_tickets();
  /// True if a launch should query the current context first. After a miss it stays false for some
  /// launches, because a query costs as much as pushing the context.
  bool asks_for_current() const {
    return !pushes_.load(std::memory_order_relaxed) || last_ticket() % kLaunchesUnasked == 0;
  }
  void note_pushed(bool is_pushed) {
    if (pushes_.load(std::memory_order_relaxed) != is_pushed) {
      pushes_.store(is_pushed, std::memory_order_relaxed);
    }
  }
  /// Makes this stream wait for a ticket of another, and returns the last ticket that it then waits
  /// for. The calling thread waits for the group of another thread that holds the ticket, within
  /// the time limit of communicators. It fails at once if that thread waits for this one.
  Status wait_for(Stream& other, uint64_t* inout_ticket);
  /// True if everything up to a ticket is over, or the context has failed.
  bool is_over(uint64_t ticket);
  /// Records that everything up to a ticket is over.
  void note_over(uint64_t ticket);

  /// keeps the object alive until the backend destroys it
  std::shared_ptr<Stream> self;

 private:
  Stream(const Context& context, std::shared_ptr<Epoch> epoch)
      : epoch_(std::move(epoch)), profile_(context.profile()) {}
  bool set_marker();
  uint64_t queued_ticket() const;
  Status await_queued(uint64_t ticket, std::unique_lock<std::mutex>& lock);
  Status record_order(uint64_t ticket);

  const std::shared_ptr<Epoch> epoch_;
  const std::shared_ptr<Profile> profile_;
  cu::CUstream handle_ = nullptr;
  static constexpr uint64_t kLaunchesUnasked = 64;
  std::atomic<uint64_t> tickets_{0};
  std::atomic<bool> pushes_{false};

  std::mutex marker_mutex_;  // guards the members below
  cu::CUevent marker_ = nullptr;
  uint64_t marker_ticket_ = 0;  // the ticket that the marker was queued after; 0: not queued
  uint64_t over_ticket_ = 0;
  uint32_t holder_count_ = 0;  // threads whose later tickets' work is not queued yet
  uint64_t held_ticket_ = 0;   // the last ticket before all of them
  std::condition_variable released_;
  cu::CUevent order_ = nullptr;  // the event that other streams wait for
  uint64_t order_ticket_ = 0;    // the ticket that it was recorded after
};

class Event {
 public:
  static Result<std::unique_ptr<Event>> create(std::shared_ptr<Epoch> epoch, unsigned flags);
  ~Event();
  const std::shared_ptr<Epoch>& epoch() const { return epoch_; }
  cu::CUevent handle() const { return handle_; }

 private:
  explicit Event(std::shared_ptr<Epoch> epoch) : epoch_(std::move(epoch)) {}

  const std::shared_ptr<Epoch> epoch_;
  cu::CUevent handle_ = nullptr;
};

/// Runs `action` once all uses are over: now, or on the reaper's thread. For calls that cannot
/// fail, so the caller needs HostMemoryNeeded.
void when_over(std::span<const kmb_use> uses, std::function<void()> action);

/// Runs an entry that queues one operation, with the context alive and current.
template <class Queue>
km_status enqueue(kmb_stream* stream, uint64_t* out_ticket, kmb_error* error, Queue queue) {
  return guarded(error, [&]() -> Status {
    Stream& target = *from(stream);
    Epoch& epoch = *target.epoch();
    KM_TRY(epoch.require_alive());
    const Current current(epoch);
    KM_TRY(require_current(epoch, current));
    KM_TRY(queue(target));
    *out_ticket = target.next_ticket();
    return {};
  });
}

}  // namespace km::cuda
