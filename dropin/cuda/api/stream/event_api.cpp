// Events.
#include "core/object/callback.h"
#include "dropin/cuda/graph/graph_params.h"
#include "dropin/cuda/stream/capture_rules.h"

namespace km::cu {

using namespace km::dropin;  // NOLINT

namespace {

constexpr unsigned kEventFlags =
    CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;

CUresult record_event(CUevent event_handle, CUstream handle, unsigned flags = 0) {
  CU_GET(Event, event, event_handle);
  CU_STREAM_FOR_WORK(stream, handle);
  if (&event->context() != &stream->context()) {
    return fail(CUDA_ERROR_INVALID_HANDLE, "the event and the stream are of different contexts");
  }
  if ((flags & CU_EVENT_RECORD_EXTERNAL) != 0) {
    if (!stream.core().is_capturing()) {
      return fail(CUDA_ERROR_INVALID_VALUE, "an external record needs a stream that is captured");
    }
    return capture_event(*stream, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event_handle);
  }
  return event->record(*stream);
}

CUresult elapsed_time(float* milliseconds, CUevent start_handle, CUevent end_handle) {
  CU_REQUIRE(milliseconds);
  CU_GET(Event, start, start_handle);
  CU_GET(Event, end, end_handle);
  if (&start->context() != &end->context()) {
    return fail(CUDA_ERROR_INVALID_HANDLE, "the events are of different contexts");
  }
  if (((start->flags() | end->flags()) & CU_EVENT_DISABLE_TIMING) != 0) {
    return fail(CUDA_ERROR_INVALID_HANDLE, "the event records no times");
  }
  for (const km::Event* event : {&start->core(), &end->core()}) {
    if (event->was_recorded() || event->is_captured()) continue;
    return fail(CUDA_ERROR_INVALID_HANDLE, "the event was never recorded");
  }
  CU_ASSIGN(const int64_t elapsed_ns, start->core().elapsed_ns(end->core()));
  *milliseconds = static_cast<float>(static_cast<double>(elapsed_ns) * 1e-6);
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuEventCreate(CUevent* out, unsigned int flags) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    CU_CURRENT(context);
    if ((flags & ~kEventFlags) != 0) {
      return fail(CUDA_ERROR_INVALID_VALUE, "flags 0x%x has unknown bits", flags);
    }
    const bool is_shared = (flags & CU_EVENT_INTERPROCESS) != 0;
    if (is_shared && (flags & CU_EVENT_DISABLE_TIMING) == 0) {
      return fail(CUDA_ERROR_INVALID_VALUE, "an event for other processes must not record times");
    }
    Ref<dropin::Event> event;
    CU_TRY(dropin::Event::create(*context, flags, &event));
    if (is_shared) {
      std::unique_ptr<SharedMarks> marks;
      CU_TRY(SharedMarks::create(*context, &marks));
      event->share(std::move(marks));
    }
    return publish_in(*context, std::move(event), out);
  });
}

CUresult cuEventDestroy_v2(CUevent handle) {
  return guard(__func__, [&]() -> CUresult {
    if (!retire<dropin::Event>(handle)) {
      return fail(CUDA_ERROR_INVALID_HANDLE, "the event is not a live handle");
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuEventDestroy(CUevent handle) { return cuEventDestroy_v2(handle); }

CUresult cuEventRecord(CUevent event, CUstream stream) {
  return guard_light(__func__, [&] { return record_event(event, stream); });
}

CUresult cuEventRecord_ptsz(CUevent event, CUstream stream) {
  return cuEventRecord(event, per_thread(stream));
}

CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned int flags) {
  return guard(__func__, [&]() -> CUresult {
    if ((flags & ~1U) != 0) return fail(CUDA_ERROR_INVALID_VALUE, "flags is %u", flags);
    return record_event(event, stream, flags);
  });
}

CUresult cuEventRecordWithFlags_ptsz(CUevent event, CUstream stream, unsigned int flags) {
  return cuEventRecordWithFlags(event, per_thread(stream), flags);
}

CUresult cuEventQuery(CUevent handle) {
  return guard_light(__func__, [&]() -> CUresult {
    CU_GET(Event, event, handle);
    if (!event->core().is_captured()) CU_TRY(require_no_capture_of("asking for an event"));
    return event->query();
  });
}

CUresult cuEventSynchronize(CUevent handle) {
  return guard_light(__func__, [&]() -> CUresult {
    CU_ASSIGN(const MayBlock may_block, require_may_block());
    CU_GET(Event, event, handle);
    if (!event->core().is_captured()) CU_TRY(require_no_capture_of("waiting for an event"));
    return event->synchronize(may_block);
  });
}

CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return guard(__func__, [&] { return elapsed_time(milliseconds, start, end); });
}

CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent start, CUevent end) {
  return guard(__func__, [&] { return elapsed_time(milliseconds, start, end); });
}

}  // extern "C"

}  // namespace km::cu
