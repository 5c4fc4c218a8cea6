// Capturing streams: what is queued in them becomes nodes of a graph. All state of captures is
// guarded by the mutex of its context (Context::captures()).
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/result.h"
#include "core/capture/capture_order.h"
#include "core/object/object.h"
#include "kernelmill/c_api.h"

namespace km {

class Context;
class Event;
class Graph;
class Stream;
struct GraphWork;
class CaptureSlot;

enum class CaptureState : uint8_t { kActive, kInvalidated, kEnded };

/// One capture: from km_stream_begin_capture to its end.
class Capture final : public Object {
 public:
  Capture(Ref<Graph> into, CaptureSlot* begun_by);
  ~Capture() override;

  const Ref<Graph> graph;
  const uint64_t id;  // of this process
  CaptureState state = CaptureState::kActive;
  const CaptureSlot* const origin;    // only compared
  std::vector<CaptureSlot*> members;  // the streams that take part
  std::vector<uint64_t> abandoned;    // last nodes of streams that were destroyed meanwhile
  CaptureOrder order;
};

/// The capture that a stream takes part in; the default stream's is shared by all its objects.
class CaptureSlot final : public Object {
 public:
  /// Without the lock: the one question that every call asks.
  bool is_active() const { return active_.load(std::memory_order_relaxed); }
  /// The objects of the stream; true for the last one.
  void add_user() { users_.fetch_add(1, std::memory_order_relaxed); }
  bool drop_user() { return users_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

 private:
  friend class CaptureCalls;
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

Status begin_capture(Stream& stream);
/// Into a graph of the stream's context, after nodes of it.
Status begin_capture_into(Stream& stream, Ref<Graph> graph, std::span<const uint64_t> nodes);
/// Has the stream's next node run after these nodes only, or after these too.
Status capture_depend_on(Stream& stream, std::span<const uint64_t> nodes, bool adds);
/// The caller's reference.
Result<Ref<Graph>> end_capture(Stream& stream);
km_capture_status capture_status(const Stream& stream);
struct CaptureInfo {
  km_capture_status status = KM_CAPTURE_STATUS_NONE;
  uint64_t id = 0;
  Ref<Graph> graph;             // what is captured so far
  std::vector<uint64_t> nodes;  // what the stream's next node will run after
};
CaptureInfo capture_info(const Stream& stream);
/// Appends a node to the stream's part of the graph.
Status capture_work(Stream& stream, const std::shared_ptr<const GraphWork>& work);
Status capture_record(Event& event, Stream& stream);
/// The event was recorded outside.
void forget_capture(Event& event);
/// The event or the stream, or both, belong to a capture.
Status capture_wait(Stream& stream, Event& event);
/// For calls that a capture cannot hold: invalidates it. `what` is "waiting for" ...
Error refuse_capture(Stream& stream, const char* what);
Error refuse_captured_event(Event& event, const char* what);
/// Invalidates captures into a graph that ends.
void invalidate_captures(const Graph& into);
/// For calls on all streams of a context.
Status require_no_capture(Context& context, const char* what);
/// Takes a stream that is being destroyed out of its capture.
void leave_capture(Context& context, CaptureSlot& slot);
/// Ends all captures of a context that is reset.
void drop_captures(Context& context);

}  // namespace km
