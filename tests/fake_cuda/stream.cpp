// Streams and events.
#include <atomic>
#include <chrono>
#include <thread>

#include "fake_cuda/queue.h"

namespace km::cu {
namespace {

using Clock = std::chrono::steady_clock;

/// One record of an event: it may be recorded anew before the stream has got there.
struct Mark {
  std::atomic<bool> is_done{false};
  Clock::time_point time;
  void wait() const {
    while (!is_done) std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
};

struct Event {
  std::shared_ptr<Mark> mark;  // null: never recorded
  bool is_done() const { return !mark || mark->is_done; }
};

std::shared_ptr<Event> find_event(CUevent handle) {
  Object* object = find_object("event", handle);
  return object != nullptr ? std::static_pointer_cast<Event>(object->data) : nullptr;
}

}  // namespace

extern "C" {

CUresult cuStreamCreateWithPriority(CUstream* out, unsigned int, int) {
  KM_FAKE_CALL(context);
  *out = static_cast<CUstream>(
      add_object("stream", call.context().device, Queue::create(call.context())));
  return CUDA_SUCCESS;
}

CUresult cuStreamDestroy_v2(CUstream stream) {
  const Call call(__func__, Call::Needs::context);
  KM_FAKE_QUEUE(stream);
  queue->close();
  remove_object("stream", stream);
  return call.result();
}

CUresult cuStreamQuery(CUstream stream) {
  KM_FAKE_CALL(context);
  KM_FAKE_QUEUE(stream);
  return queue->is_idle() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult cuStreamSynchronize(CUstream stream) {
  KM_FAKE_CALL(context);
  KM_FAKE_QUEUE(stream);
  call.unlock();
  queue->wait();
  const std::lock_guard lock(state_mutex());
  return call.context().sticky;
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent handle, unsigned int) {
  KM_FAKE_CALL(context);
  KM_FAKE_QUEUE(stream);
  const std::shared_ptr<Event> event = find_event(handle);
  if (!event) return CUDA_ERROR_INVALID_HANDLE;
  const auto wait = [mark = event->mark](Context&) -> CUresult {
    if (mark) mark->wait();
    return CUDA_SUCCESS;
  };
  return queue->submit({.run = wait, .is_mark = true});
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* user_data) {
  KM_FAKE_CALL(context);
  KM_FAKE_QUEUE(stream);
  call.unlock();
  return queue->submit({.run = nullptr, .function = function, .user_data = user_data});
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
  KM_FAKE_QUEUE(stream);
  const std::shared_ptr<Event> event = find_event(handle);
  if (!event) return CUDA_ERROR_INVALID_HANDLE;
  const auto mark = [made = event->mark = std::make_shared<Mark>()](Context&) -> CUresult {
    made->time = Clock::now();
    made->is_done = true;
    return CUDA_SUCCESS;
  };
  return queue->submit({.run = mark, .is_mark = true});
}

CUresult cuEventQuery(CUevent handle) {
  KM_FAKE_CALL(context);
  const std::shared_ptr<Event> event = find_event(handle);
  if (!event) return CUDA_ERROR_INVALID_HANDLE;
  return event->is_done() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult cuEventSynchronize(CUevent handle) {
  KM_FAKE_CALL(context);
  const std::shared_ptr<Event> event = find_event(handle);
  if (!event) return CUDA_ERROR_INVALID_HANDLE;
  const std::shared_ptr<Mark> mark = event->mark;
  call.unlock();
  if (mark) mark->wait();
  const std::lock_guard lock(state_mutex());
  return call.context().sticky;
}

CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  KM_FAKE_CALL(context);
  const std::shared_ptr<Event> first = find_event(start);
  const std::shared_ptr<Event> second = find_event(end);
  if (!first || !second) return CUDA_ERROR_INVALID_HANDLE;
  if (!first->mark || !second->mark) return CUDA_ERROR_INVALID_HANDLE;
  if (!first->is_done() || !second->is_done()) return CUDA_ERROR_NOT_READY;
  *milliseconds =
      std::chrono::duration<float, std::milli>(second->mark->time - first->mark->time).count();
  return CUDA_SUCCESS;
}
}

}  // namespace km::cu
