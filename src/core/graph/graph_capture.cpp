#include "core/graph/graph_capture.h"

#include <algorithm>

#include "base/assert.h"
#include "core/capture/capture_error.h"
#include "core/graph/capture_order.h"
#include "core/stream/stream_capture.h"

namespace km {

using namespace capturing;

namespace {

constexpr const char* kNotCaptured =
    "the stream is not being captured: no km_stream_begin_capture came before, or the capture has "
    "ended already";

/// A capture with the graph that it fills.
class GraphCapture final : public Capture {
 public:
  GraphCapture(Ref<Graph> into, const CaptureSlot* begun_by)
      : Capture(begun_by), graph(std::move(into)) {}

  const Ref<Graph> graph;
  CaptureOrder order;
};

/// The part of capture calls that works on the graph.
class GraphCaptureCalls : public CaptureCalls {
 public:
  explicit GraphCaptureCalls(Context& context) : CaptureCalls(context.captures()) {}

  Status begin(Ref<Graph> graph, CaptureSlot& slot, std::span<const uint64_t> nodes) {
    if (capture_of(slot)) {
      return capture_error(kIllegalState, KM_ERROR_NOT_PERMITTED, "%s",
                           "the stream is being captured already; km_stream_end_capture ends that "
                           "capture");
    }
    Ref<Capture> capture = Ref<Capture>::adopt(new GraphCapture(std::move(graph), &slot));
    kept_ = capture;
    // The room is reserved before the capture's state changes, so that nothing fails later.
    captures_.all.reserve(captures_.all.size() + 1);
    join(slot, capture, nodes);
    KM_ASSERT(captures_.all.size() < captures_.all.capacity(),
              "room was reserved before the change");
    captures_.all.push_back(std::move(capture));
    captures_.count.fetch_add(1, std::memory_order_relaxed);
    KM_ASSERT(captures_.count.load(std::memory_order_relaxed) == captures_.all.size(),
              "the count matches the captures");
    return {};
  }

  Result<Ref<Graph>> end(CaptureSlot& slot) {
    if (!capture_of(slot)) {
      return capture_error(kIllegalState, KM_ERROR_NOT_PERMITTED, "%s", kNotCaptured);
    }
    if (capture_of(slot)->origin != &slot) {
      return capture_error(kUnmatched, KM_ERROR_NOT_PERMITTED, "%s",
                           "the capture was begun in another stream, which alone can end it");
    }
    const Ref<Capture> capture = capture_of(slot);
    Ref<Graph> graph = graph_capture(slot).graph;
    const bool joined = is_joined(graph_capture(slot), slot);
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
    return graph;
  }

  static km_capture_status status(const CaptureSlot& slot) {
    if (!capture_of(slot)) return KM_CAPTURE_STATUS_NONE;
    return capture_of(slot)->state == CaptureState::kActive ? KM_CAPTURE_STATUS_ACTIVE
                                                            : KM_CAPTURE_STATUS_INVALIDATED;
  }

  static CaptureInfo info(const CaptureSlot& slot) {
    if (!capture_of(slot)) return {};
    return {status(slot), capture_of(slot)->id, graph_capture(slot).graph, tail_of(slot)};
  }

  static Status depend_on(CaptureSlot& slot, std::span<const uint64_t> nodes, bool adds) {
    KM_ASSERT(capture_of(slot), "the caller has seen the capture under the same lock");
    if (capture_of(slot)->state != CaptureState::kActive) return invalidated();
    for (const uint64_t node : nodes) KM_TRY(graph_capture(slot).graph->node(node));
    if (!adds) {
      tail_of(slot).clear();
      start_chain(slot);
    }
    append_missing(&tail_of(slot), nodes);
    return {};
  }

  static Status add(CaptureSlot& slot, const SharedWork& work) {
    KM_ASSERT(capture_of(slot), "the caller has seen the capture under the same lock");
    if (capture_of(slot)->state != CaptureState::kActive) return invalidated();
    GraphCapture& capture = graph_capture(slot);
    tail_of(slot).reserve(1);
    std::vector<uint64_t> after = tail_of(slot);
    capture.order.add_conflicts(*capture.graph, *work, chain_of(slot), &after);
    const Result<uint64_t> node = capture.graph->add(after, work);
    if (!node) {
      capture.state = CaptureState::kInvalidated;
      return capture_error(kInvalidated, KM_ERROR_CAPTURE_INVALIDATED,
                           "a node that the next one has to run after is no longer in the graph, "
                           "and the capture is invalid now: %s",
                           node.error().message.c_str());
    }
    KM_ASSERT(*node != 0, "nodes are numbered from 1");
    tail_of(slot).assign(1, *node);
    capture.order.note(work, chain_of(slot), *node);
    return {};
  }

  void invalidate(const Graph& into) {
    for (const Ref<Capture>& capture : captures_.all) {
      if (static_cast<const GraphCapture&>(*capture).graph.get() == &into)
        capture->state = CaptureState::kInvalidated;
    }
  }

 private:
  static GraphCapture& graph_capture(const CaptureSlot& slot) {
    return static_cast<GraphCapture&>(*capture_of(slot));
  }

  static bool is_joined(const GraphCapture& capture, const CaptureSlot& slot) {
    const auto covered = [&](const std::vector<uint64_t>& nodes) {
      return nodes.empty() || capture.graph->covers(tail_of(slot), nodes);
    };
    return covered(capture.abandoned) &&
           std::all_of(capture.members.begin(), capture.members.end(),
                       [&](const CaptureSlot* member) { return covered(tail_of(*member)); });
  }
};

}  // namespace

Status begin_capture(Stream& stream) {
  KM_TRY(stream.context().sticky());
  return GraphCaptureCalls(stream.context())
      .begin(make_ref<Graph>(stream.context()), stream.capture_slot(), {});
}

Status begin_capture_into(Stream& stream, Ref<Graph> graph, std::span<const uint64_t> nodes) {
  KM_TRY(stream.context().sticky());
  KM_TRY(require_same_context(stream.context(), graph->context(), "graph"));
  for (const uint64_t node : nodes) KM_TRY(graph->node(node));
  return GraphCaptureCalls(stream.context()).begin(std::move(graph), stream.capture_slot(), nodes);
}

Status capture_depend_on(Stream& stream, std::span<const uint64_t> nodes, bool adds) {
  const GraphCaptureCalls calls(stream.context());
  CaptureSlot& slot = stream.capture_slot();
  if (GraphCaptureCalls::is_capturing(slot)) return GraphCaptureCalls::depend_on(slot, nodes, adds);
  return capture_error(kIllegalState, KM_ERROR_NOT_PERMITTED, "%s", kNotCaptured);
}

Result<Ref<Graph>> end_capture(Stream& stream) {
  return GraphCaptureCalls(stream.context()).end(stream.capture_slot());
}

km_capture_status capture_status(const Stream& stream) {
  if (!stream.is_capturing()) return KM_CAPTURE_STATUS_NONE;
  const GraphCaptureCalls calls(stream.context());
  return GraphCaptureCalls::status(stream.capture_slot());
}

CaptureInfo capture_info(const Stream& stream) {
  if (!stream.is_capturing()) return {};
  const GraphCaptureCalls calls(stream.context());
  return GraphCaptureCalls::info(stream.capture_slot());
}

Status capture_work(Stream& stream, const SharedWork& work) {
  const GraphCaptureCalls calls(stream.context());
  CaptureSlot& slot = stream.capture_slot();
  if (GraphCaptureCalls::is_capturing(slot)) return GraphCaptureCalls::add(slot, work);
  return capture_ended_meanwhile();
}

Status capture_result(Stream& stream, Result<SharedWork> work) {
  if (!work) return std::move(work.error());
  return capture_work(stream, *work);
}

void invalidate_captures(const Graph& into) {
  Context& context = into.context();
  if (context.captures().count.load(std::memory_order_relaxed) == 0) return;
  GraphCaptureCalls(context).invalidate(into);
}

}  // namespace km
