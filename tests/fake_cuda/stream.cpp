// Streams, which work at once, and events.
#include <chrono>
#include <cmath>

#include "fake_cuda/state.h"

namespace km::cu {
namespace {

using Clock = std::chrono::steady_clock;

struct Event {
  bool is_recorded = false;
  Clock::time_point time;
};

Event* find_event(CUevent handle) {
  Object* object = find_object("event", handle);
  return object != nullptr ? static_cast<Event*>(object->data.get()) : nullptr;
}

CUresult check_stream(CUstream stream) {
  return find_object("stream", stream) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

}  // namespace

extern "C" {

CUresult cuStreamCreateWithPriority(CUstream* out, unsigned int, int) {
  KM_FAKE_CALL(context);
  *out = static_cast<CUstream>(add_object("stream", call.context().device));
  return CUDA_SUCCESS;
}

CUresult cuStreamDestroy_v2(CUstream stream) {
  const Call call(__func__, Call::Needs::context);
  return remove_object("stream", stream) ? call.result() : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuStreamQuery(CUstream stream) {
  KM_FAKE_CALL(context);
  return check_stream(stream);
}

CUresult cuStreamSynchronize(CUstream stream) {
  KM_FAKE_CALL(context);
  return check_stream(stream);
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int) {
  KM_FAKE_CALL(context);
  return find_event(event) != nullptr ? check_stream(stream) : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* user_data) {
  {
    KM_FAKE_CALL(context);
    if (const CUresult bad = check_stream(stream)) return bad;
  }
  run_host_function(function, user_data);
  return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent* out, unsigned int) {
  KM_FAKE_CALL(context);
  *out =
      static_cast<CUevent>(add_object("event", call.context().device, std::make_shared<Event>()));
  return CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent event) {
  const Call call(__func__, Call::Needs::context);
  return remove_object("event", event) ? call.result() : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuEventRecord(CUevent handle, CUstream stream) {
  KM_FAKE_CALL(context);
  Event* event = find_event(handle);
  if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  *event = {true, Clock::now()};
  return check_stream(stream);
}

CUresult cuEventQuery(CUevent event) {
  KM_FAKE_CALL(context);
  return find_event(event) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuEventSynchronize(CUevent event) {
  KM_FAKE_CALL(context);
  return find_event(event) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  KM_FAKE_CALL(context);
  const Event* first = find_event(start);
  const Event* second = find_event(end);
  if (first == nullptr || second == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (!first->is_recorded || !second->is_recorded) return CUDA_ERROR_INVALID_HANDLE;
  *milliseconds = std::chrono::duration<float, std::milli>(second->time - first->time).count();
  return CUDA_SUCCESS;
}
}

}  // namespace km::cu
