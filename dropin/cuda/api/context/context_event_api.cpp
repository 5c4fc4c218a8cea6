// Events of a whole context, which all its streams record or wait for. Exec affinity.
#include "dropin/cuda/device/device_attributes.h"
#include "dropin/cuda/stream/context_streams.h"

namespace km::cu {

using namespace km::dropin;  // NOLINT

namespace {

/// The context and streams for a call on all streams; fails if one of them is being captured.
CUresult find_streams(CUcontext handle, const dropin::Event& event, Pin<dropin::Context>* out,
                      std::vector<Ref<dropin::Stream>>* out_streams) {
  *out = Pin<dropin::Context>(handle);
  if (!*out || (*out)->is_destroyed()) {
    return fail(CUDA_ERROR_INVALID_CONTEXT, "the context is not a live handle");
  }
  if (&event.context() != out->get()) {
    return fail(CUDA_ERROR_INVALID_HANDLE, "the event is of another context");
  }
  ContextStreams::of(**out).all(out_streams);
  for (const Ref<dropin::Stream>& stream : *out_streams) {
    if (!stream->core().is_capturing()) continue;
    return fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "a stream of the context is captured");
  }
  return CUDA_SUCCESS;
}

CUresult record_in_all(CUcontext context_handle, CUevent event_handle) {
  CU_GET(Event, event, event_handle);
  Pin<dropin::Context> context;
  std::vector<Ref<dropin::Stream>> streams;
  CU_TRY(find_streams(context_handle, *event, &context, &streams));
  return record_after(*context, streams, *event);
}

CUresult wait_in_all(CUcontext context_handle, CUevent event_handle) {
  CU_GET(Event, event, event_handle);
  Pin<dropin::Context> context;
  std::vector<Ref<dropin::Stream>> streams;
  CU_TRY(find_streams(context_handle, *event, &context, &streams));
  return make_wait(streams, *event);
}

}  // namespace

extern "C" {

CUresult cuCtxGetExecAffinity(CUexecAffinityParam* out, CUexecAffinityType type) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    CU_CURRENT(context);
    if (type != CU_EXEC_AFFINITY_TYPE_SM_COUNT) {
      return fail(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY, "there is no exec affinity %d", type);
    }
    int count = 0;  // the whole device: contexts share it
    CU_TRY(device_attribute(context->device(), CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &count));
    *out = {type, static_cast<unsigned>(count)};
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxRecordEvent(CUcontext context, CUevent event) {
  return guard(__func__, [&] { return record_in_all(context, event); });
}

CUresult cuCtxWaitEvent(CUcontext context, CUevent event) {
  return guard(__func__, [&] { return wait_in_all(context, event); });
}

}  // extern "C"

}  // namespace km::cu
