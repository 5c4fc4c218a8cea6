#include "backends/null/entries.h"

namespace km::null {

km_status memory_create(kmb_context*, kmb_stream*, uint64_t, uint32_t, kmb_memory**,
                        kmb_memory_info*, kmb_error* error) {
  return unsupported("memory", error);
}

km_status memory_from_host(kmb_context*, void*, uint64_t, km_release_callback, void*, kmb_memory**,
                           kmb_memory_info*, kmb_error* error) {
  return unsupported("memory", error);
}

km_status memory_share(kmb_memory*, kmb_shared_memory*, kmb_error* error) {
  return unsupported("shared memory", error);
}

void memory_destroy(kmb_memory*, const kmb_use*, uint64_t) {}

km_status host_memory_create(kmb_context*, uint64_t, kmb_memory**, kmb_memory_info*,
                             kmb_error* error) {
  return unsupported("page-locked memory", error);
}

km_status host_memory_register(kmb_context*, void*, uint64_t, kmb_memory**, kmb_memory_info*,
                               kmb_error* error) {
  return unsupported("page-locked memory", error);
}

km_status copy_to_device(kmb_stream*, uint64_t, const void*, uint64_t, uint32_t, const kmb_queued*,
                         uint64_t*, kmb_error* error) {
  return unsupported("copies", error);
}

km_status copy_to_host(kmb_stream*, void*, uint64_t, uint64_t, uint32_t, const kmb_queued*,
                       uint64_t*, kmb_error* error) {
  return unsupported("copies", error);
}

km_status copy_on_device(kmb_stream*, uint64_t, uint64_t, uint64_t, uint64_t*, kmb_error* error) {
  return unsupported("copies", error);
}

km_status fill(kmb_stream*, uint64_t, uint32_t, uint32_t, uint64_t, uint64_t*, kmb_error* error) {
  return unsupported("fills", error);
}

km_status copy_3d(kmb_stream*, const kmb_copy_3d*, const kmb_queued*, uint64_t*, kmb_error* error) {
  return unsupported("copies", error);
}

km_status fill_2d(kmb_stream*, uint64_t, uint64_t, uint32_t, uint32_t, uint64_t, uint64_t,
                  uint64_t*, kmb_error* error) {
  return unsupported("fills", error);
}

km_status copy_peer(kmb_stream*, kmb_context*, uint64_t, kmb_context*, uint64_t, uint64_t,
                    uint64_t*, kmb_error* error) {
  return unsupported("copies", error);
}

}  // namespace km::null
