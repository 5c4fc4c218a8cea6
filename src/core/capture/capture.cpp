#include "core/capture/capture.h"

#include <algorithm>
#include <cinttypes>

#include "core/graph/graph.h"
#include "core/stream/event.h"
#include "core/stream/stream.h"

namespace km {
namespace {

// Results of the CUDA driver, as the native code of our errors.
constexpr int64_t kInvalidValue = 1, kIllegalState = 401, kUnsupported = 900, kInvalidated = 901,
                  kMerge = 902, kUnmatched = 903, kUnjoined = 904, kIsolation = 905,
                  kCapturedEvent = 907;

constexpr const char* kNotCaptured =
    "the stream is not being captured: no km_stream_begin_capture came before, or the capture has "
    "ended already";

std::atomic<uint64_t> last_capture{0}, last_chain{0};

template <class... Arguments>
Error capture_error(int64_t native_code, km_status status, const char* format,
                    Arguments... arguments) {
  Error error = make_error(status, format, arguments...);
  error.native_code = native_code;
  return error;
}

Error invalidated() {
  return capture_error(kInvalidated, KM_ERROR_CAPTURE_INVALIDATED, "%s",
                       "an earlier call has invalidated this capture; end it with "
                       "km_stream_end_capture and begin again");
}

void append_missing(std::vector<uint64_t>* to, std::span<const uint64_t> nodes) {
  for (uint64_t node : nodes) {
    if (std::find(to->begin(), to->end(), node) == to->end()) to->push_back(node);
  }
}

}  // namespace

Capture::Capture(Ref<Graph> into, CaptureSlot* begun_by)
    : graph(std::move(into)), id(++last_capture), origin(begun_by) {}
Capture::~Capture() = default;

/// The steps, each under the lock of the context.
class CaptureCalls {
 public:
  explicit CaptureCalls(Context& context) : captures_(context.captures()), lock_(captures_.mutex) {}

  static bool is_capturing(const CaptureSlot& slot) { return static_cast<bool>(slot.capture_); }
  static Capture& capture_of(const CaptureSlot& slot) { return *slot.capture_; }

  Status begin(Ref<Graph> graph, CaptureSlot& slot, std::span<const uint64_t> nodes) {
    if (slot.capture_) {
      return capture_error(kIllegalState, KM_ERROR_NOT_PERMITTED, "%s",
                           "the stream is being captured already; km_stream_end_capture ends that "
                           "capture");
    }
    Ref<Capture> capture = make_ref<Capture>(std::move(graph), &slot);
    kept_ = capture;
    captures_.all.reserve(captures_.all.size() + 1);  // before anything is changed
    join(slot, capture, nodes);
    captures_.all.push_back(std::move(capture));
    captures_.count.fetch_add(1, std::memory_order_relaxed);
    return {};
  }

  Result<Ref<Graph>> end(CaptureSlot& slot) {
    if (!slot.capture_) {
      return capture_error(kIllegalState, KM_ERROR_NOT_PERMITTED, "%s", kNotCaptured);
    }
    if (slot.capture_->origin != &slot) {
      return capture_error(kUnmatched, KM_ERROR_NOT_PERMITTED, "%s",
                           "the capture was begun in another stream, which alone can end it");
    }
    const Ref<Capture> capture = slot.capture_;
    const bool joined = is_joined(*capture, slot);
    const CaptureState state = capture->state;
    finish(*capture);
    if (state == CaptureState::kInvalidated) {
      Error error = invalidated();
      error.message = "an earlier call had invalidated the capture, which is over now";
      return error;
    }
    if (!joined) {
      return capture_error(kUnjoined, KM_ERROR_CAPTURE_UNJOINED, "%s",
                           "the stream does not wait for the work of another stream that joined "
                           "its capture: record an event there and wait for it before the end");
    }
    return capture->graph;
  }

  static km_capture_status status(const CaptureSlot& slot) {
    if (!slot.capture_) return KM_CAPTURE_STATUS_NONE;
    return slot.capture_->state == CaptureState::kActive ? KM_CAPTURE_STATUS_ACTIVE
                                                         : KM_CAPTURE_STATUS_INVALIDATED;
  }

  static CaptureInfo info(const CaptureSlot& slot) {
    if (!slot.capture_) return {};
    return {status(slot), slot.capture_->id, slot.capture_->graph, slot.tail_};
  }

  static Status depend_on(CaptureSlot& slot, std::span<const uint64_t> nodes, bool adds) {
    if (slot.capture_->state != CaptureState::kActive) return invalidated();
    for (const uint64_t node : nodes) KM_TRY(slot.capture_->graph->node(node));
    if (!adds) {
      slot.tail_.clear();
      slot.chain_ = ++last_chain;
    }
    append_missing(&slot.tail_, nodes);
    return {};
  }

  static Status add(CaptureSlot& slot, const SharedWork& work) {
    if (slot.capture_->state != CaptureState::kActive) return invalidated();
    Capture& capture = *slot.capture_;
    slot.tail_.reserve(1);
    std::vector<uint64_t> after = slot.tail_;
    capture.order.add_conflicts(*capture.graph, *work, slot.chain_, &after);
    const Result<uint64_t> node = capture.graph->add(after, work);
    if (!node) {
      capture.state = CaptureState::kInvalidated;
      return capture_error(kInvalidated, KM_ERROR_CAPTURE_INVALIDATED,
                           "a node that the next one has to run after is no longer in the graph, "
                           "and the capture is invalid now: %s",
                           node.error().message.c_str());
    }
    slot.tail_.assign(1, *node);
    capture.order.note(work, slot.chain_, *node);
    return {};
  }

  Status record(CaptureSlot& slot, EventCapture& mark) {
    if (slot.capture_->state != CaptureState::kActive) return invalidated();
    mark.nodes = slot.tail_;
    kept_ = std::exchange(mark.capture, slot.capture_);
    mark.is_set.store(true, std::memory_order_relaxed);
    return {};
  }

  void forget(EventCapture& mark) {
    mark.is_set.store(false, std::memory_order_relaxed);
    kept_ = std::move(mark.capture);
    mark.nodes.clear();
  }

  /// The event is not part of any capture.
  static Status wait_outside(CaptureSlot& slot, bool was_recorded) {
    if (slot.capture_->state != CaptureState::kActive) return invalidated();
    if (!was_recorded) return {};
    slot.capture_->state = CaptureState::kInvalidated;
    return capture_error(kIsolation, KM_ERROR_CAPTURE_UNSUPPORTED, "%s",
                         "a stream that is being captured cannot wait for an event that was "
                         "recorded outside of the capture; the capture is invalid now");
  }

  Status wait(CaptureSlot& slot, const EventCapture& mark) {
    Capture& theirs = *mark.capture;
    if (slot.capture_ && slot.capture_->state != CaptureState::kActive) return invalidated();
    if (theirs.state == CaptureState::kInvalidated) {
      if (slot.capture_) return invalidated();
      return capture_error(kInvalidValue, KM_ERROR_CAPTURE_INVALIDATED, "%s",
                           "the event was recorded in a capture that an earlier call has "
                           "invalidated; end that capture and record the event again");
    }
    if (theirs.state == CaptureState::kEnded) {
      if (slot.capture_) slot.capture_->state = CaptureState::kInvalidated;
      return capture_error(kInvalidValue, KM_ERROR_CAPTURE_UNSUPPORTED, "%s",
                           "the event was recorded in a capture that is over, so it marks no "
                           "work; record it again");
    }
    if (slot.capture_ && slot.capture_.get() != &theirs) {
      slot.capture_->state = theirs.state = CaptureState::kInvalidated;
      return capture_error(kMerge, KM_ERROR_CAPTURE_UNSUPPORTED, "%s",
                           "the event belongs to another capture, and two captures cannot be "
                           "joined; both are invalid now");
    }
    if (!slot.capture_) {
      join(slot, mark.capture, mark.nodes);
    } else {
      append_missing(&slot.tail_, mark.nodes);
    }
    return {};
  }

  static Error refuse(CaptureSlot& slot, const char* what) {
    if (slot.capture_->state != CaptureState::kActive) return invalidated();
    slot.capture_->state = CaptureState::kInvalidated;
    return capture_error(kUnsupported, KM_ERROR_CAPTURE_UNSUPPORTED,
                         "%s a stream that is being captured is not possible, because its work "
                         "does not run; the capture is invalid now",
                         what);
  }

  static Error refuse(EventCapture& mark, const char* what) {
    if (!mark.capture) {
      return make_error(KM_ERROR_NOT_PERMITTED,
                        "another thread is recording the event; call again when it is done");
    }
    CaptureState& state = mark.capture->state;
    const bool was_active = state == CaptureState::kActive;
    if (was_active) state = CaptureState::kInvalidated;
    // CUDA tells an event of a capture that goes on from one that marks nothing any more.
    return capture_error(was_active ? kCapturedEvent : kInvalidValue, KM_ERROR_CAPTURE_UNSUPPORTED,
                         "%s an event that was recorded in a capture is not possible, because it "
                         "marks no work that runs%s",
                         what, was_active ? "; the capture is invalid now" : "; record it again");
  }

  Status refuse_all(const char* what) {
    if (captures_.all.empty()) return {};
    for (const Ref<Capture>& capture : captures_.all) capture->state = CaptureState::kInvalidated;
    return capture_error(kUnsupported, KM_ERROR_CAPTURE_UNSUPPORTED,
                         "%s a context with streams that are being captured is not possible; "
                         "captures that are invalid now: %zu",
                         what, captures_.all.size());
  }

  void invalidate(const Graph& into) {
    for (const Ref<Capture>& capture : captures_.all) {
      if (capture->graph.get() == &into) capture->state = CaptureState::kInvalidated;
    }
  }

  void leave(CaptureSlot& slot) {
    if (!slot.capture_) return;
    kept_ = slot.capture_;
    if (kept_->origin == &slot) {
      finish(*kept_);  // nobody can end it any more
      return;
    }
    append_missing(&kept_->abandoned, slot.tail_);
    std::erase(kept_->members, &slot);
    clear(slot);
  }

  void drop_all() {
    all_kept_.swap(captures_.all);
    for (const Ref<Capture>& capture : all_kept_) finish(*capture);
  }

 private:
  static void join(CaptureSlot& slot, Ref<Capture> capture, std::span<const uint64_t> nodes) {
    capture->members.reserve(capture->members.size() + 1);  // so that nothing fails half way
    slot.tail_.assign(nodes.begin(), nodes.end());
    slot.chain_ = ++last_chain;
    capture->members.push_back(&slot);
    slot.capture_ = std::move(capture);
    slot.active_.store(true, std::memory_order_relaxed);
  }

  static void clear(CaptureSlot& slot) {
    slot.active_.store(false, std::memory_order_relaxed);
    slot.tail_.clear();
    slot.capture_ = nullptr;
  }

  static bool is_joined(const Capture& capture, const CaptureSlot& slot) {
    const auto covered = [&](const std::vector<uint64_t>& nodes) {
      return nodes.empty() || capture.graph->covers(slot.tail_, nodes);
    };
    return covered(capture.abandoned) &&
           std::all_of(capture.members.begin(), capture.members.end(),
                       [&](const CaptureSlot* member) { return covered(member->tail_); });
  }

  void finish(Capture& capture) {
    if (kept_.get() != &capture) kept_ = Ref<Capture>::share(capture);
    capture.state = CaptureState::kEnded;
    for (CaptureSlot* member : std::exchange(capture.members, {})) clear(*member);
    std::erase_if(captures_.all, [&](const Ref<Capture>& one) { return one.get() == &capture; });
    captures_.count.store(static_cast<uint32_t>(captures_.all.size()), std::memory_order_relaxed);
  }

  ContextCaptures& captures_;
  // Captures that may end with this object, after the lock is released: with a graph go the memory,
  // streams and pools that it uses, and those call back.
  Ref<Capture> kept_;
  std::vector<Ref<Capture>> all_kept_;
  const std::lock_guard<std::mutex> lock_;
};

Status begin_capture(Stream& stream) {
  KM_TRY(stream.context().sticky());
  return CaptureCalls(stream.context())
      .begin(make_ref<Graph>(stream.context()), stream.capture_slot(), {});
}

Status begin_capture_into(Stream& stream, Ref<Graph> graph, std::span<const uint64_t> nodes) {
  KM_TRY(stream.context().sticky());
  KM_TRY(require_same_context(stream.context(), graph->context(), "graph"));
  for (const uint64_t node : nodes) KM_TRY(graph->node(node));
  return CaptureCalls(stream.context()).begin(std::move(graph), stream.capture_slot(), nodes);
}

Status capture_depend_on(Stream& stream, std::span<const uint64_t> nodes, bool adds) {
  const CaptureCalls calls(stream.context());
  CaptureSlot& slot = stream.capture_slot();
  if (CaptureCalls::is_capturing(slot)) return CaptureCalls::depend_on(slot, nodes, adds);
  return capture_error(kIllegalState, KM_ERROR_NOT_PERMITTED, "%s", kNotCaptured);
}

Result<Ref<Graph>> end_capture(Stream& stream) {
  return CaptureCalls(stream.context()).end(stream.capture_slot());
}

km_capture_status capture_status(const Stream& stream) {
  if (!stream.is_capturing()) return KM_CAPTURE_STATUS_NONE;
  const CaptureCalls calls(stream.context());
  return CaptureCalls::status(stream.capture_slot());
}

CaptureInfo capture_info(const Stream& stream) {
  if (!stream.is_capturing()) return {};
  const CaptureCalls calls(stream.context());
  return CaptureCalls::info(stream.capture_slot());
}

static Error ended_meanwhile() {
  return capture_error(kIllegalState, KM_ERROR_NOT_PERMITTED, "%s",
                       "another thread has ended the capture of the stream meanwhile; begin again");
}

Status capture_work(Stream& stream, const SharedWork& work) {
  const CaptureCalls calls(stream.context());
  CaptureSlot& slot = stream.capture_slot();
  if (CaptureCalls::is_capturing(slot)) return CaptureCalls::add(slot, work);
  return ended_meanwhile();
}

Status capture_record(Event& event, Stream& stream) {
  CaptureCalls calls(stream.context());
  CaptureSlot& slot = stream.capture_slot();
  if (CaptureCalls::is_capturing(slot)) return calls.record(slot, event.captured());
  return ended_meanwhile();
}

Status capture_wait(Stream& stream, Event& event) {
  CaptureSlot& slot = stream.capture_slot();
  if (&stream.context() != &event.context()) {
    if (stream.is_capturing()) return refuse_capture(stream, "waiting for another context in");
    return refuse_captured_event(event, "waiting in another context for");
  }
  CaptureCalls calls(stream.context());
  if (event.captured().is_set.load(std::memory_order_relaxed)) {
    return calls.wait(slot, event.captured());
  }
  if (!CaptureCalls::is_capturing(slot)) return {};  // both were ended meanwhile
  return CaptureCalls::wait_outside(slot, event.was_recorded());
}

void forget_capture(Event& event) { CaptureCalls(event.context()).forget(event.captured()); }

Error refuse_capture(Stream& stream, const char* what) {
  const CaptureCalls calls(stream.context());
  CaptureSlot& slot = stream.capture_slot();
  if (CaptureCalls::is_capturing(slot)) return CaptureCalls::refuse(slot, what);
  return invalidated();
}

Error refuse_captured_event(Event& event, const char* what) {
  const CaptureCalls calls(event.context());
  return CaptureCalls::refuse(event.captured(), what);
}

void invalidate_captures(const Graph& into) {
  Context& context = into.context();
  if (context.captures().count.load(std::memory_order_relaxed) == 0) return;
  CaptureCalls(context).invalidate(into);
}

Status require_no_capture(Context& context, const char* what) {
  if (context.captures().count.load(std::memory_order_relaxed) == 0) return {};
  return CaptureCalls(context).refuse_all(what);
}

void leave_capture(Context& context, CaptureSlot& slot) {
  if (slot.is_active()) CaptureCalls(context).leave(slot);
}

void drop_captures(Context& context) { CaptureCalls(context).drop_all(); }

}  // namespace km
