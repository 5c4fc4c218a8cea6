// Captures of streams: what is queued in them becomes nodes of a graph. Here is what streams and
// events know of a capture; core/graph/graph_capture.h has what concerns its graph. All state of
// captures is guarded by the mutex of its context (Context::captures()).
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

/// One capture: from km_stream_begin_capture to its end. All are GraphCaptures.
class Capture : public Object {
 public:
  explicit Capture(const CaptureSlot* begun_by);

  const uint64_t id;  // of this process
  CaptureState state = CaptureState::kActive;
  const CaptureSlot* const origin;    // only compared
  std::vector<CaptureSlot*> members;  // the streams that take part
  std::vector<uint64_t> abandoned;    // last nodes of streams that were destroyed meanwhile

 protected:
  ~Capture() override { KM_ASSERT(members.empty(), "a stream that takes part keeps the capture"); }
};

/// The capture that a stream takes part in; the default stream's is shared by all its objects.
class CaptureSlot final : public Object {
 public:
  /// Without the lock: the one question that every call asks.
  bool is_active() const { return active_.load(std::memory_order_relaxed); }
  /// The objects of the stream; true for the last one.
  void add_user() { users_.fetch_add(1, std::memory_order_relaxed); }
  bool drop_user() {
    const uint32_t before = users_.fetch_sub(1, std::memory_order_acq_rel);
    KM_ASSERT(before != 0, "only an object of the stream that was counted goes");
    return before == 1;
  }

 private:
  friend class CaptureCalls;  // under the lock
  ~CaptureSlot() override { KM_ASSERT(!capture_, "a stream leaves its capture before it ends"); }
  std::atomic<bool> active_{false};
  std::atomic<uint32_t> users_{0};
  Ref<Capture> capture_;
  std::vector<uint64_t> tail_;  // the nodes that the next one depends on
  uint64_t chain_ = 0;          // another one where the next node need not come after the last
};

/// The captures of a context.
struct ContextCaptures {
  std::mutex mutex;
  std::atomic<uint32_t> count{0};
  std::vector<Ref<Capture>> all;
};

/// The place in a capture that an event recorded there marks.
struct EventCapture {
  std::atomic<bool> is_set{false};
  Ref<Capture> capture;
  std::vector<uint64_t> nodes;
};

/// The steps of calls, each under the lock of the context.
class CaptureCalls {
 public:
  explicit CaptureCalls(ContextCaptures& captures) : captures_(captures), lock_(captures.mutex) {}

  static bool is_capturing(const CaptureSlot& slot) { return static_cast<bool>(slot.capture_); }

  /// The event marks what the stream has captured so far.
  Status record(CaptureSlot& slot, EventCapture& mark);
  /// The event was recorded outside.
  void forget(EventCapture& mark);
  /// The stream waits for an event that is not part of any capture.
  static Status wait_outside(CaptureSlot& slot, bool was_recorded);
  /// The stream waits for an event of a capture, which it joins if it takes part in none.
  Status wait(CaptureSlot& slot, const EventCapture& mark);
  /// For calls that a capture cannot hold: invalidates it. `what` is "waiting for" ...
  static Error refuse(CaptureSlot& slot, const char* what);
  static Error refuse(EventCapture& mark, const char* what);
  /// Refuses for all streams of the context.
  Status refuse_all(const char* what);
  /// Takes a stream that ends out of its capture.
  void leave(CaptureSlot& slot);
  /// Ends all captures.
  void drop_all();

 protected:
  // The parts of a slot.
  static Ref<Capture>& capture_of(CaptureSlot& slot) { return slot.capture_; }
  static const Ref<Capture>& capture_of(const CaptureSlot& slot) { return slot.capture_; }
  static std::vector<uint64_t>& tail_of(CaptureSlot& slot) { return slot.tail_; }
  static const std::vector<uint64_t>& tail_of(const CaptureSlot& slot) { return slot.tail_; }
  static uint64_t chain_of(const CaptureSlot& slot) { return slot.chain_; }
  /// The slot's next node need not come after its last one.
  static void start_chain(CaptureSlot& slot);
  static void join(CaptureSlot& slot, Ref<Capture> capture, std::span<const uint64_t> nodes);
  void finish(Capture& capture);

  ContextCaptures& captures_;
  // Captures that may end with this object, after the lock is released: with a graph go the memory,
  // streams and pools that it uses, and those call back.
  Ref<Capture> kept_;
  std::vector<Ref<Capture>> all_kept_;

 private:
  static void clear(CaptureSlot& slot);

  const std::lock_guard<std::mutex> lock_;
};

/// Adds the nodes that are not among them.
void append_missing(std::vector<uint64_t>* to, std::span<const uint64_t> nodes);

/// For calls on all streams of a context.
Status require_no_capture(ContextCaptures& captures, const char* what);
/// Takes a stream that is being destroyed out of its capture.
void leave_capture(ContextCaptures& captures, CaptureSlot& slot);
/// Ends all captures of a context that is reset.
void drop_captures(ContextCaptures& captures);

}  // namespace km
