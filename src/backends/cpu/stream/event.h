// Events, each with its latest recording.
#pragma once

#include <cstdint>

#include "backends/cpu/order/stream_order.h"
#include "backends/cpu/stream/marker.h"
#include "base/thread/spin_lock.h"

namespace km::cpu {

class Context;

class Event {
 public:
  Event(Context* context, bool timing);
  ~Event();
  Context* context() const { return context_; }
  bool has_timing() const { return timing_; }

  /// Returns the latest recording with a reference for the caller; null if there is none.
  Marker* latest();
  /// Takes over the caller's reference.
  void set_latest(Marker* marker);
  /// Records without a command: the event is complete when the stream has completed this ticket.
  void record_at(Stream* stream, uint64_t ticket);

  /// The work before the latest recording, as the checker knows it; null if there is none.
  StreamOrder::Clock order();
  void set_order(StreamOrder::Clock clock);

 private:
  Context* const context_;
  const bool timing_;
  SpinLock lock_;
  Marker* latest_ = nullptr;
  StreamOrder::Clock order_;
};

}  // namespace km::cpu
