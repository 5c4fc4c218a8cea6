// Nodes that copy and fill rows, or copy between contexts.
#include "api/graph/graph_target.h"
#include "api/places.h"
#include "core/graph/graph_work.h"

using namespace km;

namespace {

km_status put_copy_3d(const char* name, km_graph graph, const GraphTarget& target,
                      km_slice destination, km_slice source, const km_copy_3d* copy) noexcept {
  return guard(name, [&](Call& call) -> Status {
    KM_GET(into, call, graph);
    KM_ASSIGN(const RowsPlaces rows, rows_places(call, into->context(), destination, source, copy));
    return target.place(*into, copy_3d_work(rows.destination, rows.source, rows.shape));
  });
}

km_status put_upload_3d(const char* name, km_graph graph, const GraphTarget& target,
                        km_slice destination, const void* source, const km_copy_3d* copy) noexcept {
  return guard(name, [&](Call& call) -> Status {
    KM_GET(into, call, graph);
    KM_ASSIGN(const RowsPlace rows, destination_rows(call, into->context(), destination, copy));
    return target.place(*into, upload_3d_work(into->context(), rows.place, source, rows.shape));
  });
}

km_status put_download_3d(const char* name, km_graph graph, const GraphTarget& target,
                          km_slice source, void* destination, const km_copy_3d* copy) noexcept {
  return guard(name, [&](Call& call) -> Status {
    KM_GET(into, call, graph);
    KM_ASSIGN(const RowsPlace rows, source_rows(call, into->context(), source, copy));
    return target.place(*into,
                        download_3d_work(into->context(), rows.place, destination, rows.shape));
  });
}

km_status put_fill_2d(const char* name, km_graph graph, const GraphTarget& target, km_slice slice,
                      uint64_t offset_bytes, uint64_t pitch_bytes, uint32_t value,
                      uint32_t value_size_bytes, uint64_t width_count, uint64_t height) noexcept {
  return guard(name, [&](Call& call) -> Status {
    KM_GET(into, call, graph);
    KM_ASSIGN(const FillRows rows,
              fill_rows(call, into->context(), slice, offset_bytes,
                        Fill2d::make(pitch_bytes, value, value_size_bytes, width_count, height)));
    return target.place(*into, fill_2d_work(rows.place, rows.shape));
  });
}

km_status put_copy_peer(const char* name, km_graph graph, const GraphTarget& target,
                        km_slice destination, uint64_t destination_offset_bytes, km_slice source,
                        uint64_t source_offset_bytes, uint64_t size_bytes) noexcept {
  return guard(name, [&](Call& call) -> Status {
    KM_GET(into, call, graph);
    KM_ASSIGN(const CopyPlaces places, peer_places(call, destination, destination_offset_bytes,
                                                   source, source_offset_bytes, size_bytes));
    return target.place(
        *into, copy_peer_work(into->context(), places.destination, places.source, size_bytes));
  });
}

}  // namespace

km_status km_graph_add_copy_3d(km_graph graph, const uint64_t* dependencies,
                               uint64_t dependency_count, km_slice destination, km_slice source,
                               const km_copy_3d* copy, uint64_t* out_node) noexcept {
  return put_copy_3d(__func__, graph, {dependencies, dependency_count, out_node}, destination,
                     source, copy);
}

km_status km_graph_set_copy_3d(km_graph graph, uint64_t node, km_slice destination, km_slice source,
                               const km_copy_3d* copy) noexcept {
  return put_copy_3d(__func__, graph, GraphTarget(node), destination, source, copy);
}

km_status km_graph_add_upload_3d(km_graph graph, const uint64_t* dependencies,
                                 uint64_t dependency_count, km_slice destination,
                                 const void* source, const km_copy_3d* copy,
                                 uint64_t* out_node) noexcept {
  return put_upload_3d(__func__, graph, {dependencies, dependency_count, out_node}, destination,
                       source, copy);
}

km_status km_graph_set_upload_3d(km_graph graph, uint64_t node, km_slice destination,
                                 const void* source, const km_copy_3d* copy) noexcept {
  return put_upload_3d(__func__, graph, GraphTarget(node), destination, source, copy);
}

km_status km_graph_add_download_3d(km_graph graph, const uint64_t* dependencies,
                                   uint64_t dependency_count, km_slice source, void* destination,
                                   const km_copy_3d* copy, uint64_t* out_node) noexcept {
  return put_download_3d(__func__, graph, {dependencies, dependency_count, out_node}, source,
                         destination, copy);
}

km_status km_graph_set_download_3d(km_graph graph, uint64_t node, km_slice source,
                                   void* destination, const km_copy_3d* copy) noexcept {
  return put_download_3d(__func__, graph, GraphTarget(node), source, destination, copy);
}

km_status km_graph_add_fill_2d(km_graph graph, const uint64_t* dependencies,
                               uint64_t dependency_count, km_slice slice, uint64_t offset_bytes,
                               uint64_t pitch_bytes, uint32_t value, uint32_t value_size_bytes,
                               uint64_t width_count, uint64_t height, uint64_t* out_node) noexcept {
  return put_fill_2d(__func__, graph, {dependencies, dependency_count, out_node}, slice,
                     offset_bytes, pitch_bytes, value, value_size_bytes, width_count, height);
}

km_status km_graph_set_fill_2d(km_graph graph, uint64_t node, km_slice slice, uint64_t offset_bytes,
                               uint64_t pitch_bytes, uint32_t value, uint32_t value_size_bytes,
                               uint64_t width_count, uint64_t height) noexcept {
  return put_fill_2d(__func__, graph, GraphTarget(node), slice, offset_bytes, pitch_bytes, value,
                     value_size_bytes, width_count, height);
}

km_status km_graph_add_copy_peer(km_graph graph, const uint64_t* dependencies,
                                 uint64_t dependency_count, km_slice destination,
                                 uint64_t destination_offset_bytes, km_slice source,
                                 uint64_t source_offset_bytes, uint64_t size_bytes,
                                 uint64_t* out_node) noexcept {
  return put_copy_peer(__func__, graph, {dependencies, dependency_count, out_node}, destination,
                       destination_offset_bytes, source, source_offset_bytes, size_bytes);
}

km_status km_graph_set_copy_peer(km_graph graph, uint64_t node, km_slice destination,
                                 uint64_t destination_offset_bytes, km_slice source,
                                 uint64_t source_offset_bytes, uint64_t size_bytes) noexcept {
  return put_copy_peer(__func__, graph, GraphTarget(node), destination, destination_offset_bytes,
                       source, source_offset_bytes, size_bytes);
}
