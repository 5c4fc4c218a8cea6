#include "backends/null/entries.h"

namespace km::null {

km_status event_create(kmb_context*, km_event_flags, kmb_event**, kmb_error* error) {
  return unsupported("events", error);
}

void event_destroy(kmb_event*) {}

km_status event_record(kmb_event*, kmb_stream*, kmb_error* error) {
  return unsupported("events", error);
}

km_status event_synchronize(kmb_event*, uint64_t, kmb_error* error) {
  return unsupported("events", error);
}

km_status event_elapsed(kmb_event*, kmb_event*, int64_t*, kmb_error* error) {
  return unsupported("events", error);
}

}  // namespace km::null
