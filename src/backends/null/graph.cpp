#include "backends/null/entries.h"

namespace km::null {

km_status graph_create(kmb_context*, const kmb_graph_node*, uint64_t, kmb_graph**,
                       kmb_error* error) {
  return unsupported("graphs", error);
}

void graph_destroy(kmb_graph*) {}

km_status graph_update(kmb_graph*, const uint32_t*, const kmb_graph_node*, uint64_t,
                       kmb_error* error) {
  return unsupported("graphs", error);
}

km_status graph_launch(kmb_graph*, kmb_stream*, uint64_t*, kmb_error* error) {
  return unsupported("graphs", error);
}

km_status graph_upload(kmb_graph*, uint64_t, const kmb_graph_node*, uint64_t, kmb_error* error) {
  return unsupported("graphs", error);
}

km_status graph_restore(kmb_graph*, kmb_stream*, uint64_t*, kmb_error* error) {
  return unsupported("graphs", error);
}

}  // namespace km::null
