#include "dropin/cupti/activity/operations.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <set>
#include <vector>

#include "dropin/cupti/activity/activity.h"
#include "dropin/cupti/activity/records.h"
#include "dropin/cupti/correlation/calls.h"
#include "dropin/cupti/correlation/clock.h"
#include "dropin/cupti/correlation/numbers.h"

namespace km::cupti {
namespace {

constexpr int32_t kExternalKinds = CUPTI_EXTERNAL_CORRELATION_KIND_SIZE;
using ExternalIds = std::array<std::vector<uint64_t>, kExternalKinds>;

/// The ids that the program has pushed on this thread.
ExternalIds& external_ids() {
  thread_local ExternalIds ids;
  return ids;
}

/// Tables that threads of the engine may use until the process has ended.
struct Tables {
  std::mutex mutex;                                    // guards the members below
  std::set<std::pair<uint32_t, uint32_t>> unrecorded;  // domain and number
};
Tables& tables() {
  union Forever {
    Tables tables;
    Forever() : tables() {}
    ~Forever() {}
  };
  static Forever forever;
  return forever.tables;
}

bool is_recorded(const frame::ApiCall& call) {
  const std::lock_guard lock(tables().mutex);
  return !tables().unrecorded.contains({static_cast<uint32_t>(call.domain), call.number});
}

/// A record with the members that all records of operations have.
template <class Record>
Record new_record(int32_t kind, uint64_t context_number, uint32_t device,
                  const kmb_profile_record& from, Launched* launched = nullptr) {
  Record record{};
  record.kind = kind;
  record.begin_ns = stamp_of(from.begin_ns);
  record.end_ns = stamp_of(from.end_ns);
  record.device = device;
  record.context = static_cast<uint32_t>(context_number);
  record.stream = stream_number(reinterpret_cast<uint64_t>(from.stream));
  // The operation was queued before the call ended, and the call's time is that of its end if the
  // profile began during it.
  const QueuingCall call = AllCalls::instance().at(from.host_thread, from.call_begin_ns);
  record.correlation = call.correlation;
  record.graph = from.is_of_graph != 0 ? call.launched.graph : 0;
  if (launched != nullptr && from.is_of_graph == 0) *launched = call.launched;
  return record;
}

void record_kernel(int32_t kind, uint64_t context, uint32_t device,
                   const kmb_profile_record& from) {
  constexpr uint32_t kMostRegisters = UINT16_MAX;
  Launched kernel;
  auto record = new_record<KernelRecord>(kind, context, device, from, &kernel);
  record.completed_ns = record.end_ns;
  record.registers = static_cast<uint16_t>(std::min(kernel.registers, kMostRegisters));
  record.static_shared_bytes = static_cast<int32_t>(kernel.static_shared_bytes);
  record.local_bytes_per_thread = kernel.local_bytes;
  std::copy_n(from.grid, 3, record.grid);
  std::copy_n(from.block, 3, record.block);
  record.dynamic_shared_bytes = static_cast<int32_t>(from.shared_bytes);
  record.shared_executed_bytes =
      kernel.static_shared_bytes + static_cast<uint32_t>(from.shared_bytes);
  record.name = Activity::instance().keep_name(from.name != nullptr ? from.name : "");
  Activity::instance().add(kind, &record, sizeof record);
}

void record_copy(uint64_t context, uint32_t device, const kmb_profile_record& from) {
  auto record = new_record<CopyRecord>(CUPTI_ACTIVITY_KIND_MEMCPY, context, device, from);
  constexpr uint8_t kHost = CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
  constexpr uint8_t kDevice = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  record.source_kind = record.destination_kind = kDevice;
  record.copy_kind = CUPTI_ACTIVITY_MEMCPY_KIND_DTOD;
  if (from.kind == KM_PROFILE_KIND_UPLOAD) {
    record.source_kind = kHost;
    record.copy_kind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
  } else if (from.kind == KM_PROFILE_KIND_DOWNLOAD) {
    record.destination_kind = kHost;
    record.copy_kind = CUPTI_ACTIVITY_MEMCPY_KIND_DTOH;
  }
  record.size_bytes = from.size_bytes;
  record.copies = 1;
  Activity::instance().add(record.kind, &record, sizeof record);
}

void record_fill(uint64_t context, uint32_t device, const kmb_profile_record& from) {
  auto record = new_record<FillRecord>(CUPTI_ACTIVITY_KIND_MEMSET, context, device, from);
  record.size_bytes = from.size_bytes;
  record.memory_kind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  Activity::instance().add(record.kind, &record, sizeof record);
}

}  // namespace

void record_operation(uint64_t context_number, uint32_t device_ordinal,
                      const kmb_profile_record& record) {
  const Activity& activity = Activity::instance();
  if (record.stream == nullptr) return;  // a compilation
  switch (record.kind) {
    case KM_PROFILE_KIND_KERNEL:
      for (const int32_t kind :
           {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_KERNEL}) {
        if (activity.is_on(kind)) {
          return record_kernel(kind, context_number, device_ordinal, record);
        }
      }
      return;
    case KM_PROFILE_KIND_COPY:
    case KM_PROFILE_KIND_UPLOAD:
    case KM_PROFILE_KIND_DOWNLOAD:
      if (!activity.is_on(CUPTI_ACTIVITY_KIND_MEMCPY)) return;
      return record_copy(context_number, device_ordinal, record);
    case KM_PROFILE_KIND_FILL:
      if (!activity.is_on(CUPTI_ACTIVITY_KIND_MEMSET)) return;
      return record_fill(context_number, device_ordinal, record);
    default:
      return;
  }
}

void record_external_ids(uint32_t correlation) {
  Activity& activity = Activity::instance();
  if (!activity.is_on(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION)) return;
  const ExternalIds& ids = external_ids();
  for (int32_t kind = 0; kind < kExternalKinds; ++kind) {
    const std::vector<uint64_t>& of_kind = ids[static_cast<size_t>(kind)];
    if (of_kind.empty()) continue;
    const ExternalRecord record = {CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, kind, of_kind.back(),
                                   correlation, 0};
    activity.add(record.kind, &record, sizeof record);
  }
}

void record_call(const frame::ApiCall& call, uint64_t begin_ns, uint64_t end_ns,
                 uint32_t correlation) {
  const int32_t kind = call.domain == frame::ApiDomain::kDriver ? CUPTI_ACTIVITY_KIND_DRIVER
                                                                : CUPTI_ACTIVITY_KIND_RUNTIME;
  if (!Activity::instance().is_on(kind) || !is_recorded(call)) return;
  uint32_t result = 0;
  if (call.result != nullptr) result = *static_cast<const uint32_t*>(call.result);
  const ApiRecord record = {kind,
                            call.number,
                            stamp_of(begin_ns),
                            stamp_of(end_ns),
                            static_cast<uint32_t>(getpid()),
                            thread_id(),
                            correlation,
                            result};
  Activity::instance().add(kind, &record, sizeof record);
}

void record_wait(const HostWait& wait, uint64_t begin_ns, uint64_t end_ns, uint32_t correlation) {
  if (!Activity::instance().is_on(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION)) return;
  const WaitRecord record = {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
                             wait.type,
                             stamp_of(begin_ns),
                             stamp_of(end_ns),
                             correlation,
                             wait.context,
                             wait.stream,
                             wait.event,
                             0,
                             0,
                             0};
  Activity::instance().add(record.kind, &record, sizeof record);
}

uint32_t stream_number(uint64_t key) { return numbers_of<cu::CUstream>().of(key); }

CUptiResult push_external(int32_t kind, uint64_t id) {
  if (kind <= 0 || kind >= kExternalKinds) return invalid("kind is %d", kind);
  external_ids()[static_cast<size_t>(kind)].push_back(id);
  return CUPTI_SUCCESS;
}

CUptiResult pop_external(int32_t kind, uint64_t* last) {
  if (kind <= 0 || kind >= kExternalKinds) return invalid("kind is %d", kind);
  std::vector<uint64_t>& ids = external_ids()[static_cast<size_t>(kind)];
  if (ids.empty()) return CUPTI_ERROR_QUEUE_EMPTY;
  const uint64_t popped = ids.back();
  ids.pop_back();
  return last == nullptr ? CUPTI_SUCCESS : give("lastId", last, popped);
}

void set_recorded(frame::ApiDomain domain, uint32_t number, bool on) {
  const std::lock_guard lock(tables().mutex);
  const std::pair<uint32_t, uint32_t> function{static_cast<uint32_t>(domain), number};
  if (on) {
    tables().unrecorded.erase(function);
  } else {
    tables().unrecorded.insert(function);
  }
}

}  // namespace km::cupti
