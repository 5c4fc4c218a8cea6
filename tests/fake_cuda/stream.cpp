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

/// Waits with the others of one list; without locks, because somebody has to end the wait.
void do_memory_op(const CUstreamBatchMemOpParams& op) {
  const bool is_wide = op.operation == CU_STREAM_MEM_OP_WAIT_VALUE_64 ||
                       op.operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
  auto* narrow_place = reinterpret_cast<std::atomic<uint32_t>*>(op.memory.address);
  auto* wide_place = reinterpret_cast<std::atomic<uint64_t>*>(op.memory.address);
  if (op.operation == CU_STREAM_MEM_OP_WRITE_VALUE_32) {
    narrow_place->store(static_cast<uint32_t>(op.memory.value));
    return;
  }
  if (op.operation == CU_STREAM_MEM_OP_WRITE_VALUE_64) {
    wide_place->store(op.memory.value);
    return;
  }
  const int unused_bits = is_wide ? 0 : 32;
  const auto is_met = [&] {
    const uint64_t found = is_wide ? wide_place->load() : narrow_place->load();
    const uint64_t value = op.memory.value;
    switch (op.memory.flags) {
      case CU_STREAM_WAIT_VALUE_EQ:
        return found == value;
      case CU_STREAM_WAIT_VALUE_AND:
        return (found & value) != 0;
      case CU_STREAM_WAIT_VALUE_NOR:
        return (~(found | value) << unused_bits) != 0;
      default:
        return static_cast<int64_t>((found - value) << unused_bits) >= 0;
    }
  };
  while (!is_met()) std::this_thread::sleep_for(std::chrono::microseconds(20));
}

}  // namespace

void do_memory_ops(const std::vector<CUstreamBatchMemOpParams>& ops) {
  for (const CUstreamBatchMemOpParams& op : ops) do_memory_op(op);
}

/// An H200 with driver 580 refuses these.
CUresult check_memory_ops(const std::vector<CUstreamBatchMemOpParams>& ops) {
  for (const CUstreamBatchMemOpParams& op : ops) {
    const bool is_write = op.operation == CU_STREAM_MEM_OP_WRITE_VALUE_32 ||
                          op.operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
    if (is_beyond_memory_ops(op.memory.address)) return CUDA_ERROR_INVALID_VALUE;
    if (is_write && op.memory.flags != 0) return CUDA_ERROR_INVALID_VALUE;
    if (!is_write && op.memory.flags == CU_STREAM_WAIT_VALUE_NOR) return CUDA_ERROR_NOT_SUPPORTED;
  }
  return CUDA_SUCCESS;
}

extern "C" {

CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned int count, CUstreamBatchMemOpParams* ops,
                               unsigned int flags) {
  KM_FAKE_CALL(context);
  KM_FAKE_QUEUE(stream);
  if (flags != 0 || count > 256) return misuse(CUDA_ERROR_INVALID_VALUE, "memory operations");
  const std::vector<CUstreamBatchMemOpParams> all(ops, ops + count);
  if (const CUresult bad = check_memory_ops(all)) return bad;
  call.unlock();
  return queue->submit({.run = [all](Context&) -> CUresult {
                          do_memory_ops(all);
                          return CUDA_SUCCESS;
                        },
                        .is_mark = true});
}

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
  return queue->submit({.run = mark, .is_mark = true, .is_record = true});
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
