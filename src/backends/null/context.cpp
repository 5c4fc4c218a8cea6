#include "backends/null/entries.h"

namespace km::null {

km_status context_create(kmb_device*, kmb_context**, kmb_error* error) {
  return unsupported("contexts", error);
}

void context_destroy(kmb_context*) {}

km_status context_synchronize(kmb_context*, kmb_error* error) {
  return unsupported("contexts", error);
}

km_status context_memory_info(kmb_context*, uint64_t*, uint64_t*, kmb_error* error) {
  return unsupported("contexts", error);
}

km_status context_reset(kmb_context*, kmb_error* error) { return unsupported("contexts", error); }

km_status context_status(kmb_context*, kmb_error* error) { return unsupported("contexts", error); }

km_status context_set_output(kmb_context*, km_output_callback, void*, kmb_error* error) {
  return unsupported("contexts", error);
}

km_status context_set_peer_access(kmb_context*, kmb_context*, uint32_t, kmb_error* error) {
  return unsupported("peers", error);
}

km_status context_profile(kmb_context*, uint32_t, kmb_profile_callback, void*, km_release_callback,
                          kmb_error* error) {
  return unsupported("profiles", error);
}

km_status context_limit_get(kmb_context*, km_context_limit, uint64_t*, kmb_error* error) {
  return unsupported("limits", error);
}

km_status context_limit_set(kmb_context*, km_context_limit, uint64_t, kmb_error* error) {
  return unsupported("limits", error);
}

}  // namespace km::null
