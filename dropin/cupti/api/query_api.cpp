// Times, versions, numbers of contexts, devices and streams, and texts.
#include "dropin/cupti/activity/activity.h"
#include "dropin/cupti/activity/operations.h"
#include "dropin/cupti/correlation/clock.h"
#include "dropin/cupti/correlation/numbers.h"

namespace km::cupti {

namespace {

/// Makes a context current while it lives.
class Entered {
 public:
  Entered(const library::Driver& driver, CUcontext context) : driver_(driver) {
    is_entered_ = driver.cuCtxPushCurrent_v2(context) == cu::CUDA_SUCCESS;
  }
  ~Entered() {
    cu::CUcontext popped = nullptr;
    if (is_entered_) driver_.cuCtxPopCurrent_v2(&popped);
  }
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;
  bool is_entered() const { return is_entered_; }

 private:
  const library::Driver& driver_;
  bool is_entered_;
};

CUptiResult invalid_context() {
  return frame::fail(CUPTI_ERROR_INVALID_CONTEXT, "the context is not live");
}

CUptiResult give_stream(const library::Driver& driver, CUcontext context, CUstream stream,
                        uint32_t* number) {
  cu::CUcontext chosen = context;
  if (chosen == nullptr) driver.cuCtxGetCurrent(&chosen);
  const Entered entered(driver, chosen);
  if (!entered.is_entered()) return invalid_context();
  const uint64_t key = driver.table->stream_key(stream);
  if (key == 0) return frame::fail(CUPTI_ERROR_INVALID_STREAM, "the stream is not live");
  return give("streamId", number, stream_number(key));
}

/// Gives the number of a handle, whose objects are told of by callbacks.
template <class Handle, class Number>
CUptiResult give_number(const char* name, Handle handle, Number* out) {
  if (handle == nullptr) return invalid("the handle is null");
  return give(name, out, Number{numbers_of<Handle>().of(reinterpret_cast<uint64_t>(handle))});
}

std::atomic<int32_t> thread_id_type{CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT};

}  // namespace

extern "C" {

CUptiResult cuptiGetVersion(uint32_t* version) {
  return call([&] { return give("version", version, cuda_major() >= 13 ? 130500U : 28U); });
}

CUptiResult cuptiGetTimestamp(uint64_t* timestamp) {
  return call([&] { return give("timestamp", timestamp, stamp_now()); });
}

CUptiResult cuptiGetContextId(CUcontext context, uint32_t* contextId) {
  return call_driver([&](const library::Driver& driver) -> CUptiResult {
    const uint64_t number = driver.table->context_number(context);
    if (number == 0) return invalid_context();
    return give("contextId", contextId, static_cast<uint32_t>(number));
  });
}

CUptiResult cuptiGetDeviceId(CUcontext context, uint32_t* deviceId) {
  return call_driver([&](const library::Driver& driver) -> CUptiResult {
    const Entered entered(driver, context);
    cu::CUdevice device = 0;
    if (!entered.is_entered() || driver.cuCtxGetDevice(&device) != cu::CUDA_SUCCESS) {
      return invalid_context();
    }
    return give("deviceId", deviceId, static_cast<uint32_t>(device));
  });
}

CUptiResult cuptiGetStreamId(CUcontext context, CUstream stream, uint32_t* streamId) {
  return call_driver([&](const library::Driver& driver) {
    return give_stream(driver, context, stream, streamId);
  });
}

CUptiResult cuptiGetStreamIdEx(CUcontext context, CUstream stream, uint8_t perThreadStream,
                               uint32_t* streamId) {
  return call_driver([&](const library::Driver& driver) {
    const bool is_per_thread = stream == nullptr && perThreadStream != 0;
    CUstream const chosen = is_per_thread ? reinterpret_cast<CUstream>(2) : stream;
    return give_stream(driver, context, chosen, streamId);
  });
}

CUptiResult cuptiGetGraphId(CUgraph graph, uint32_t* pId) {
  return call([&] { return give_number("pId", graph, pId); });
}
CUptiResult cuptiGetGraphExecId(CUgraphExec graphExec, uint32_t* pId) {
  return call([&] { return give_number("pId", graphExec, pId); });
}
CUptiResult cuptiGetGraphNodeId(CUgraphNode node, uint64_t* nodeId) {
  return call([&] { return give_number("nodeId", node, nodeId); });
}

CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type) {
  return call([&]() -> CUptiResult {
    if (type < 0 || type >= CUPTI_ACTIVITY_THREAD_ID_TYPE_SIZE) return invalid("type is %d", type);
    thread_id_type = type;  // both are the system's ids here
    return CUPTI_SUCCESS;
  });
}

CUptiResult cuptiGetThreadIdType(CUpti_ActivityThreadIdType* type) {
  return call([&] {
    return give("type", type, static_cast<CUpti_ActivityThreadIdType>(thread_id_type.load()));
  });
}

CUptiResult cuptiGetResultString(CUptiResult result, const char** str) {
  return call([&]() -> CUptiResult {
    const char* const name = result_name(result);
    if (name == nullptr) return invalid("there is no result %d", result);
    return give("str", str, name);
  });
}

CUptiResult cuptiGetErrorMessage(CUptiResult result, const char** str) {
  return call([&]() -> CUptiResult {
    const char* const name = result_name(result);
    if (name == nullptr) return invalid("there is no result %d", result);
    return give("str", str, name);
  });
}

CUptiResult cuptiGetLastError() { return take_last_error(); }

CUptiResult cuptiDeviceSupported(CUdevice, int* support) {
  return call([&] { return give("support", support, 1); });
}

}  // extern "C"

}  // namespace km::cupti
