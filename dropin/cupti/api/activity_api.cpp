// The activity API: kinds of records, buffers, ids of the program.
#include "dropin/cupti/activity/activity.h"

#include "dropin/cupti/activity/operations.h"
#include "dropin/cupti/activity/records.h"
#include "dropin/cupti/callback/subscriber.h"
#include "dropin/cupti/correlation/clock.h"

namespace km::cupti {

namespace {

/// Kinds of which no operation of this device ever makes a record: asking for them is no error.
bool is_without_records(CUpti_ActivityKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
    case CUPTI_ACTIVITY_KIND_MEMCPY2:  // between devices
    case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER:
    case CUPTI_ACTIVITY_KIND_PREEMPTION:
    case CUPTI_ACTIVITY_KIND_NVLINK:
    case CUPTI_ACTIVITY_KIND_PCIE:
    case CUPTI_ACTIVITY_KIND_CDP_KERNEL:
    case CUPTI_ACTIVITY_KIND_ENVIRONMENT:
      return true;
    default:
      return false;
  }
}

CUptiResult set_kind(const library::Driver& driver, CUpti_ActivityKind kind, bool on) {
  if (kind <= CUPTI_ACTIVITY_KIND_INVALID || kind >= kMostKinds) {
    return frame::fail(CUPTI_ERROR_INVALID_KIND, "kind is %d", kind);
  }
  if (record_bytes(kind, cuda_major()) == 0 && !is_without_records(kind)) {
    return unsupported("there are no records of kind %d", kind);
  }
  Activity& activity = Activity::instance();
  const bool is_kernel =
      kind == CUPTI_ACTIVITY_KIND_KERNEL || kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  const int32_t other = CUPTI_ACTIVITY_KIND_KERNEL + CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL - kind;
  if (on && is_kernel && activity.is_on(other)) {
    return frame::fail(CUPTI_ERROR_NOT_COMPATIBLE, "the other kind of kernels is on");
  }
  activity.set_on(kind, on);
  return follow_driver(driver);
}

CUptiResult set_kind(CUpti_ActivityKind kind, bool on,
                     const char* function = __builtin_FUNCTION()) {
  return call_driver([&](const library::Driver& driver) { return set_kind(driver, kind, on); },
                     function);
}

CUptiResult flush_all() {
  Activity::instance().flush();
  return CUPTI_SUCCESS;
}

/// Settings of buffers that this library does not have: it keeps them, so that they read as set.
struct Attribute {
  size_t size_bytes;
  std::atomic<uint64_t> value;
};
Attribute* attribute_of(CUpti_ActivityAttribute attribute) {
  static Attribute attributes[] = {{8, 8 << 20}, {8, 8 << 20}, {8, 250}, {8, 25000}, {8, 250},
                                   {1, 0},       {8, 3},       {8, 3},   {1, 0},     {1, 0}};
  const auto index = static_cast<size_t>(attribute);
  return index < std::size(attributes) ? &attributes[index] : nullptr;
}

/// Checks the arguments of calls that read or write a setting.
CUptiResult find_attribute(CUpti_ActivityAttribute attribute, const size_t* size_bytes,
                           Attribute** out) {
  *out = attribute_of(attribute);
  if (*out == nullptr) return unsupported("there is no attribute %d", attribute);
  size_t given = 0;
  if (!library::read_host(size_bytes, &given)) return invalid("valueSize is not readable");
  if (given < (*out)->size_bytes) {
    return frame::fail(CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT, "valueSize is %zu; it needs %zu",
                       given, (*out)->size_bytes);
  }
  return CUPTI_SUCCESS;
}

}  // namespace

extern "C" {

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) { return set_kind(kind, true); }
CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) { return set_kind(kind, false); }

CUptiResult cuptiActivityEnableAndDump(CUpti_ActivityKind kind) { return set_kind(kind, true); }

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc funcBufferRequested,
                                           CUpti_BuffersCallbackCompleteFunc funcBufferCompleted) {
  return call_driver([&](const library::Driver&) {
    return Activity::instance().use_buffers(funcBufferRequested, funcBufferCompleted);
  });
}

CUptiResult cuptiActivityFlushAll(uint32_t) { return call(flush_all); }
CUptiResult cuptiActivityFlush(CUcontext, uint32_t, uint32_t) { return call(flush_all); }

CUptiResult cuptiActivityFlushPeriod(uint32_t time) {
  return call([&] {
    Activity::instance().set_period(time);
    return CUPTI_SUCCESS;
  });
}

CUptiResult cuptiActivityGetNextRecord(uint8_t* buffer, size_t validBufferSizeBytes,
                                       CUpti_Activity** record) {
  return call([&]() -> CUptiResult {
    if (buffer == nullptr || record == nullptr) {
      return invalid("%s is null", buffer == nullptr ? "buffer" : "record");
    }
    return next_record(buffer, validBufferSizeBytes, record);
  });
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* dropped) {
  return call([&] { return give("dropped", dropped, Activity::instance().take_dropped()); });
}

CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
                                                   uint64_t id) {
  return call([&] { return push_external(kind, id); });
}

CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
                                                  uint64_t* lastId) {
  return call([&] { return pop_external(kind, lastId); });
}

CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId cbid, uint8_t enable) {
  return call([&]() -> CUptiResult {
    if (callback_name(CUPTI_CB_DOMAIN_DRIVER_API, cbid) == nullptr) {
      return invalid("the driver has no function %u", cbid);
    }
    set_recorded(frame::ApiDomain::kDriver, cbid, enable != 0);
    return CUPTI_SUCCESS;
  });
}

CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId cbid, uint8_t enable) {
  return call([&]() -> CUptiResult {
    if (callback_name(CUPTI_CB_DOMAIN_RUNTIME_API, cbid) == nullptr) {
      return invalid("the runtime has no function %u", cbid);
    }
    set_recorded(frame::ApiDomain::kRuntime, cbid, enable != 0);
    return CUPTI_SUCCESS;
  });
}

CUptiResult cuptiActivityEnableLatencyTimestamps(uint8_t enable) {
  return call([&]() -> CUptiResult {
    if (enable != 0) return unsupported("times of queueing and submission are not recorded");
    return CUPTI_SUCCESS;
  });
}

CUptiResult cuptiActivityEnableAllSyncRecords(uint8_t) {
  return call([] { return CUPTI_SUCCESS; });  // all waits are recorded
}

CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc funcTimestamp) {
  return call([&]() -> CUptiResult {
    if (funcTimestamp == nullptr) return invalid("funcTimestamp is null");
    use_clock(funcTimestamp);
    return CUPTI_SUCCESS;
  });
}

CUptiResult cuptiActivityGetAttribute(CUpti_ActivityAttribute attr, size_t* valueSize,
                                      void* value) {
  return call([&]() -> CUptiResult {
    Attribute* found = nullptr;
    LIB_TRY(find_attribute(attr, valueSize, &found));
    const uint64_t now = found->value;
    if (!library::write_host(value, &now, found->size_bytes))
      return invalid("value is not writable");
    return give("valueSize", valueSize, found->size_bytes);
  });
}

CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute attr, size_t* valueSize,
                                      void* value) {
  return call([&]() -> CUptiResult {
    Attribute* found = nullptr;
    LIB_TRY(find_attribute(attr, valueSize, &found));
    uint64_t set = 0;
    if (!library::read_host(&set, value, found->size_bytes))
      return invalid("value is not readable");
    found->value = set;
    return CUPTI_SUCCESS;
  });
}

CUptiResult cuptiFinalize() {
  return call_driver([](const library::Driver& driver) {
    Activity::instance().flush();
    Activity::instance().set_all_off();
    return follow_driver(driver);
  });
}

}  // extern "C"

}  // namespace km::cupti
