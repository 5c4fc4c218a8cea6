#include "backends/null/entries.h"

namespace km::null {

km_status stream_create(kmb_context*, km_stream_flags, int32_t, kmb_stream**, kmb_error* error) {
  return unsupported("streams", error);
}

void stream_destroy(kmb_stream*) {}

km_status stream_synchronize(kmb_stream*, uint64_t, kmb_error* error) {
  return unsupported("streams", error);
}

km_status stream_wait_event(kmb_stream*, kmb_event*, kmb_error* error) {
  return unsupported("streams", error);
}

km_status stream_add_callback(kmb_stream*, km_host_callback, void*, kmb_error* error) {
  return unsupported("streams", error);
}

km_status stream_memory_ops(kmb_stream*, const kmb_memory_op*, uint64_t, uint64_t*,
                            kmb_error* error) {
  return unsupported("streams", error);
}

km_status stream_ticket(kmb_stream*, uint64_t*, kmb_error* error) {
  return unsupported("streams", error);
}

km_status stream_wait_ticket(kmb_stream*, kmb_stream*, uint64_t*, kmb_error* error) {
  return unsupported("streams", error);
}

km_status stream_query_ticket(kmb_stream*, uint64_t, kmb_error* error) {
  return unsupported("streams", error);
}

}  // namespace km::null
