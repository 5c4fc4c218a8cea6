// Events: marks in streams that programs wait for and measure times between.
#pragma once

#include "core/context/context.h"

namespace km {

class Stream;

class Event final : public ContextChild {
 public:
  static Result<Ref<Event>> create(Context& context, km_event_flags flags);

  kmb_event* native() const { return native_; }
  /// True if its last record was captured (core/capture/capture.h).
  bool is_captured() const { return captured_.is_set.load(std::memory_order_relaxed); }
  EventCapture& captured() { return captured_; }
  bool was_recorded() const { return was_recorded_.load(std::memory_order_relaxed); }

  Status record(Stream& stream);
  /// Called when a graph that records this event was launched.
  void note_recorded();
  /// Both succeed at once for an event that was never recorded.
  Status synchronize(const MayBlock& may_block, uint64_t timeout_ns);
  /// Like synchronize() with a timeout of 0, but allowed on threads that may not block.
  Status poll();
  Status query();
  /// Nanoseconds from this event to `end`.
  Result<int64_t> elapsed_ns(Event& end);

 private:
  Event(Context& context, km_event_flags flags) : ContextChild(context), flags_(flags) {}
  ~Event() override;
  // One result for each function avoids a move.
  Status wait(uint64_t timeout_ns);
  Status wait_for_work(uint64_t timeout_ns);
  Status ask_for_work();

  kmb_event* native_ = nullptr;
  const km_event_flags flags_;
  EventCapture captured_;
  std::atomic<bool> was_recorded_{false};  // outside captures
};

}  // namespace km
