// Records of operations and of calls.
#pragma once

#include "dropin/cupti/frame/cupti.h"
#include "dropin/frame/api_listener.h"

namespace km::cupti {

/// The OperationListener: makes the record of an operation that has ended.
void record_operation(uint64_t context_number, uint32_t device_ordinal,
                      const kmb_profile_record& record);

/// Makes the record of a call that ends.
void record_call(const frame::ApiCall& call, uint64_t begin_ns, uint64_t end_ns,
                 uint32_t correlation);

/// Makes the records of the ids that the program has pushed, for a call that another one does not
/// contain.
void record_external_ids(uint32_t correlation);

/// The record of a wait of the host, from CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_*.
struct HostWait {
  int32_t type;
  uint32_t context;
  uint32_t stream = UINT32_MAX, event = UINT32_MAX;  // numbers; UINT32_MAX: none
};
void record_wait(const HostWait& wait, uint64_t begin_ns, uint64_t end_ns, uint32_t correlation);

/// The number of a stream in records, by the driver's key of it.
uint32_t stream_number(uint64_t key);

/// Pushes or pops the program's ids of calls of this thread. CUPTI_ERROR_QUEUE_EMPTY if there is
/// none to pop.
CUptiResult push_external(int32_t kind, uint64_t id);
CUptiResult pop_external(int32_t kind, uint64_t* last);

/// Turns records of single functions on or off, while their domain's kind is on.
void set_recorded(frame::ApiDomain domain, uint32_t number, bool on);

}  // namespace km::cupti
