// Captures of streams: queued work becomes nodes of a graph. This file has the state that streams
// and events need; core/graph/graph_capture.h has the graph. The mutex of the context
// (Context::captures()) guards all state of captures.
#pragma once

#include <atomic>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/result.h"
#include "core/object/object.h"
#include "kernelmill/c_api.h"

namespace km {

class CaptureSlot;

enum class CaptureState : uint8_t { kActive, kInvalidated, kEnded };

/// One capture, from km_stream_begin_capture to its end. Every object is a GraphCapture.
class Capture : public Object {
 public:
  explicit Capture(const CaptureSlot* begun_by);

  const uint64_t id;  // unique in this process
  CaptureState state = CaptureState::kActive;
  const CaptureSlot* const origin;    // the slot that began it; compared, not dereferenced
  std::vector<CaptureSlot*> members;  // the streams that take part in it
  std::vector<uint64_t> abandoned;  // last nodes of streams that were destroyed during the capture

 protected:
  ~Capture() override {
    KM_ASSERT(members.empty(), "a stream that takes part keeps its capture alive");
  }
};

/// The link from a stream to its capture; all objects of a default stream share one slot.
class CaptureSlot final : public Object {
 public:
  /// Needs no lock, because every call on a stream asks.
  bool is_active() const { return active_.load(std::memory_order_relaxed); }
  /// Counts objects of the stream; drop_user() is true for the last one.
  void add_user() { users_.fetch_add(1, std::memory_order_relaxed); }
  bool drop_user() {
    const uint32_t before = users_.fetch_sub(1, std::memory_order_acq_rel);
    KM_ASSERT(before != 0, "a destroyed object of the stream was counted");
    return before == 1;
  }

 private:
  friend class CaptureCalls;  // it holds the lock
  ~CaptureSlot() override { KM_ASSERT(!capture_, "a stream leaves its capture before it ends"); }
  std::atomic<bool> active_{false};
  std::atomic<uint32_t> users_{0};
  Ref<Capture> capture_;
  std::vector<uint64_t> tail_;  // the nodes that the next one depends on
  uint64_t chain_ = 0;          // a new value if the next node need not come after the last one
};

/// The captures of a context.
struct ContextCaptures {
  std::mutex mutex;
  std::atomic<uint32_t> count{0};
  std::vector<Ref<Capture>> all;
};

/// The nodes of a capture that an event recorded there marks.
struct EventCapture {
  std::atomic<bool> is_set{false};
  Ref<Capture> capture;
  std::vector<uint64_t> nodes;
};

/// The capture's part of calls; a CaptureCalls object holds the context's lock.
class CaptureCalls {
 public:
  explicit CaptureCalls(ContextCaptures& captures) : captures_(captures), lock_(captures.mutex) {}

  static bool is_capturing(const CaptureSlot& slot) { return static_cast<bool>(slot.capture_); }

  /// Makes the event mark the work that the stream has captured so far.
  Status record(CaptureSlot& slot, EventCapture& mark);
  /// Called when the event was recorded outside a capture.
  void forget(EventCapture& mark);
  /// Called when the stream waits for an event that belongs to no capture.
  static Status wait_outside(CaptureSlot& slot, bool was_recorded);
  /// Makes the stream wait for a captured event; a stream without a capture joins the event's.
  Status wait(CaptureSlot& slot, const EventCapture& mark);
  /// Invalidates the capture, for calls that it cannot hold. `what` begins the message: "waiting
  /// for" ...
  static Error refuse(CaptureSlot& slot, const char* what);
  static Error refuse(EventCapture& mark, const char* what);
  /// Invalidates all captures of the context, and fails if there are any.
  Status refuse_all(const char* what);
  /// Removes a stream that is being destroyed from its capture.
  void leave(CaptureSlot& slot);
  /// Ends all captures of the context, which is being reset.
  void drop_all();

 protected:
  // Access to a slot's members for GraphCaptureCalls.
  static Ref<Capture>& capture_of(CaptureSlot& slot) { return slot.capture_; }
  static const Ref<Capture>& capture_of(const CaptureSlot& slot) { return slot.capture_; }
  static std::vector<uint64_t>& tail_of(CaptureSlot& slot) { return slot.tail_; }
  static const std::vector<uint64_t>& tail_of(const CaptureSlot& slot) { return slot.tail_; }
  static uint64_t chain_of(const CaptureSlot& slot) { return slot.chain_; }
  /// Lets the slot's next node run without waiting for its last one.
  static void start_chain(CaptureSlot& slot);
  static void join(CaptureSlot& slot, Ref<Capture> capture, std::span<const uint64_t> nodes);
  void finish(Capture& capture);

  ContextCaptures& captures_;
  // Captures whose last reference may be dropped here. They are destroyed after the lock is
  // released, because destroying their graphs destroys memory, streams and pools, whose destructors
  // take the lock.
  Ref<Capture> kept_;
  std::vector<Ref<Capture>> all_kept_;

 private:
  static void clear(CaptureSlot& slot);

  const std::lock_guard<std::mutex> lock_;
};

/// Appends those of `nodes` that the list does not contain.
void append_missing(std::vector<uint64_t>* to, std::span<const uint64_t> nodes);

/// Invalidates all captures and fails if there are any; for calls on all streams of a context.
Status require_no_capture(ContextCaptures& captures, const char* what);
/// Removes a stream that is being destroyed from its capture.
void leave_capture(ContextCaptures& captures, CaptureSlot& slot);
/// Ends all captures of a context that is being reset.
void drop_captures(ContextCaptures& captures);

}  // namespace km
