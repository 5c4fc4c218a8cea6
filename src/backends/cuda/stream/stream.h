// Streams, their tickets, and events.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <span>

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

  /// The number of what was just queued. Taking it is all that it costs: the events behind numbers
  /// are made when somebody asks.
  uint64_t next_ticket() { return tickets_.fetch_add(1, std::memory_order_relaxed) + 1; }
  uint64_t last_ticket() const { return tickets_.load(std::memory_order_relaxed); }
  /// True if a launch should ask which context is current. If it was another one, it will be the
  /// next times: asking then costs as much as pushing.
  bool asks_for_current() const {
    return !pushes_.load(std::memory_order_relaxed) || last_ticket() % kLaunchesUnasked == 0;
  }
  void note_pushed(bool is_pushed) {
    if (pushes_.load(std::memory_order_relaxed) != is_pushed) {
      pushes_.store(is_pushed, std::memory_order_relaxed);
    }
  }
  /// Has this stream wait for the ticket of another, and gives the last ticket that it waits for.
  Status wait_for(Stream& other, uint64_t* inout_ticket);
  /// True if everything up to a ticket is over; in a context that failed, it is.
  bool is_over(uint64_t ticket);
  /// Everything up to a ticket is over.
  void note_over(uint64_t ticket);

  /// Keeps the object until the backend lets it go.
  std::shared_ptr<Stream> self;

 private:
  Stream(const Context& context, std::shared_ptr<Epoch> epoch)
      : epoch_(std::move(epoch)), profile_(context.profile()) {}
  bool set_marker();
  Status record_order(uint64_t ticket);

  const std::shared_ptr<Epoch> epoch_;
  const std::shared_ptr<Profile> profile_;
  cu::CUstream handle_ = nullptr;
  static constexpr uint64_t kLaunchesUnasked = 64;
  std::atomic<uint64_t> tickets_{0};
  std::atomic<bool> pushes_{false};

  std::mutex marker_mutex_;  // guards what follows
  cu::CUevent marker_ = nullptr;
  uint64_t marker_ticket_ = 0;  // what the marker was queued after; 0: it is not queued
  uint64_t over_ticket_ = 0;
  cu::CUevent order_ = nullptr;  // what other streams wait for
  uint64_t order_ticket_ = 0;    // what it was recorded after
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
/// fail: inside, host memory must be had (HostMemoryNeeded).
void when_over(std::span<const kmb_use> uses, std::function<void()> action);

/// An entry that queues one operation: in a context that lives, made current.
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
