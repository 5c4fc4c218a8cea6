// Calls that add nodes of graphs and set their parameters, with the same checks for both.
#include "core/graph/graph_work.h"

#include "api/graph/graph_target.h"
#include "api/guard.h"
#include "api/launch/kernel_call.h"
#include "api/output.h"
#include "api/places.h"

using namespace km;

namespace {

km_status put_kernel(const char* name, km_graph graph, const GraphTarget& target,
                     km_function function, const km_launch_config* config, const void* arguments,
                     uint64_t arguments_size_bytes, const km_launch_slice* slices,
                     uint64_t slice_count) noexcept {
  return guard(name, [&](Call& call) -> Status {
    KM_GET(into, call, graph);
    KM_GET(kernel, call, function);
    KM_REQUIRE(config);
    const KernelCall given{into->context(),      *kernel, shape_of(*config), arguments,
                           arguments_size_bytes, slices,  slice_count};
    KernelArguments resolved(given);
    KM_TRY(resolved.resolve<km_launch_slice>(call));
    return target.place(*into, kernel_work(resolved.launch()));
  });
}

km_status put_copy(const char* name, km_graph graph, const GraphTarget& target,
                   km_slice destination, uint64_t destination_offset_bytes, km_slice source,
                   uint64_t source_offset_bytes, uint64_t size_bytes) noexcept {
  return guard(name, [&](Call& call) -> Status {
    KM_GET(into, call, graph);
    KM_ASSIGN(const CopyPlaces places,
              copy_places(call, into->context(), destination, destination_offset_bytes, source,
                          source_offset_bytes, size_bytes));
    return target.place(*into, copy_work(places.destination, places.source, size_bytes));
  });
}

km_status put_upload(const char* name, km_graph graph, const GraphTarget& target,
                     km_slice destination, uint64_t offset_bytes, const void* source,
                     uint64_t size_bytes) noexcept {
  return guard(name, [&](Call& call) -> Status {
    KM_GET(into, call, graph);
    KM_ASSIGN(const DevicePlace place,
              destination_place(call, into->context(), destination, offset_bytes, size_bytes));
    return target.place(*into, upload_work(into->context(), place, source, size_bytes));
  });
}

km_status put_download(const char* name, km_graph graph, const GraphTarget& target, km_slice source,
                       uint64_t offset_bytes, void* destination, uint64_t size_bytes) noexcept {
  return guard(name, [&](Call& call) -> Status {
    KM_GET(into, call, graph);
    KM_ASSIGN(const DevicePlace place,
              source_place(call, into->context(), source, offset_bytes, size_bytes));
    return target.place(*into, download_work(into->context(), place, destination, size_bytes));
  });
}

km_status put_fill(const char* name, km_graph graph, const GraphTarget& target, km_slice slice,
                   uint64_t offset_bytes, uint32_t value, uint32_t value_size_bytes,
                   uint64_t count) noexcept {
  return guard(name, [&](Call& call) -> Status {
    KM_GET(into, call, graph);
    KM_ASSIGN(const DevicePlace place,
              fill_place(call, into->context(), slice, offset_bytes, value_size_bytes, count));
    return target.place(*into, fill_work(place, value, value_size_bytes, count));
  });
}

km_status put_host(const char* name, km_graph graph, const GraphTarget& target,
                   km_host_callback callback, void* user_data) noexcept {
  return guard(name, [&](Call& call) -> Status {
    KM_GET(into, call, graph);
    KM_REQUIRE(callback);
    return target.place(*into, host_work(callback, user_data));
  });
}

km_status put_child(const char* name, km_graph graph, const GraphTarget& target,
                    km_graph child) noexcept {
  return guard(name, [&](Call& call) -> Status {
    KM_GET(into, call, graph);
    KM_GET(inner, call, child);
    KM_TRY(require_same_context(into->context(), inner->context(), "child"));
    if (into == inner) {
      return make_error(KM_ERROR_INVALID_ARGUMENT, "a graph cannot be its own child");
    }
    return target.place(*into, child_work(inner->clone_as_child()));
  });
}

}  // namespace

km_status km_graph_add_kernel(km_graph graph, const uint64_t* dependencies,
                              uint64_t dependency_count, km_function function,
                              const km_launch_config* config, const void* arguments,
                              uint64_t arguments_size_bytes, const km_launch_slice* slices,
                              uint64_t slice_count, uint64_t* out_node) noexcept {
  return put_kernel(__func__, graph, {dependencies, dependency_count, out_node}, function, config,
                    arguments, arguments_size_bytes, slices, slice_count);
}

km_status km_graph_set_kernel(km_graph graph, uint64_t node, km_function function,
                              const km_launch_config* config, const void* arguments,
                              uint64_t arguments_size_bytes, const km_launch_slice* slices,
                              uint64_t slice_count) noexcept {
  return put_kernel(__func__, graph, GraphTarget(node), function, config, arguments,
                    arguments_size_bytes, slices, slice_count);
}

km_status km_graph_add_copy(km_graph graph, const uint64_t* dependencies, uint64_t dependency_count,
                            km_slice destination, uint64_t destination_offset_bytes,
                            km_slice source, uint64_t source_offset_bytes, uint64_t size_bytes,
                            uint64_t* out_node) noexcept {
  return put_copy(__func__, graph, {dependencies, dependency_count, out_node}, destination,
                  destination_offset_bytes, source, source_offset_bytes, size_bytes);
}

km_status km_graph_set_copy(km_graph graph, uint64_t node, km_slice destination,
                            uint64_t destination_offset_bytes, km_slice source,
                            uint64_t source_offset_bytes, uint64_t size_bytes) noexcept {
  return put_copy(__func__, graph, GraphTarget(node), destination, destination_offset_bytes, source,
                  source_offset_bytes, size_bytes);
}

km_status km_graph_add_upload(km_graph graph, const uint64_t* dependencies,
                              uint64_t dependency_count, km_slice destination,
                              uint64_t offset_bytes, const void* source, uint64_t size_bytes,
                              uint64_t* out_node) noexcept {
  return put_upload(__func__, graph, {dependencies, dependency_count, out_node}, destination,
                    offset_bytes, source, size_bytes);
}

km_status km_graph_set_upload(km_graph graph, uint64_t node, km_slice destination,
                              uint64_t offset_bytes, const void* source,
                              uint64_t size_bytes) noexcept {
  return put_upload(__func__, graph, GraphTarget(node), destination, offset_bytes, source,
                    size_bytes);
}

km_status km_graph_add_download(km_graph graph, const uint64_t* dependencies,
                                uint64_t dependency_count, km_slice source, uint64_t offset_bytes,
                                void* destination, uint64_t size_bytes,
                                uint64_t* out_node) noexcept {
  return put_download(__func__, graph, {dependencies, dependency_count, out_node}, source,
                      offset_bytes, destination, size_bytes);
}

km_status km_graph_set_download(km_graph graph, uint64_t node, km_slice source,
                                uint64_t offset_bytes, void* destination,
                                uint64_t size_bytes) noexcept {
  return put_download(__func__, graph, GraphTarget(node), source, offset_bytes, destination,
                      size_bytes);
}

km_status km_graph_add_fill(km_graph graph, const uint64_t* dependencies, uint64_t dependency_count,
                            km_slice slice, uint64_t offset_bytes, uint32_t value,
                            uint32_t value_size_bytes, uint64_t count,
                            uint64_t* out_node) noexcept {
  return put_fill(__func__, graph, {dependencies, dependency_count, out_node}, slice, offset_bytes,
                  value, value_size_bytes, count);
}

km_status km_graph_set_fill(km_graph graph, uint64_t node, km_slice slice, uint64_t offset_bytes,
                            uint32_t value, uint32_t value_size_bytes, uint64_t count) noexcept {
  return put_fill(__func__, graph, GraphTarget(node), slice, offset_bytes, value, value_size_bytes,
                  count);
}

km_status km_graph_add_host(km_graph graph, const uint64_t* dependencies, uint64_t dependency_count,
                            km_host_callback callback, void* user_data,
                            uint64_t* out_node) noexcept {
  return put_host(__func__, graph, {dependencies, dependency_count, out_node}, callback, user_data);
}

km_status km_graph_set_host(km_graph graph, uint64_t node, km_host_callback callback,
                            void* user_data) noexcept {
  return put_host(__func__, graph, GraphTarget(node), callback, user_data);
}

km_status km_graph_add_child(km_graph graph, const uint64_t* dependencies,
                             uint64_t dependency_count, km_graph child,
                             uint64_t* out_node) noexcept {
  return put_child(__func__, graph, {dependencies, dependency_count, out_node}, child);
}

km_status km_graph_set_child(km_graph graph, uint64_t node, km_graph child) noexcept {
  return put_child(__func__, graph, GraphTarget(node), child);
}

km_status km_graph_add_empty(km_graph graph, const uint64_t* dependencies,
                             uint64_t dependency_count, uint64_t* out_node) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(into, call, graph);
    return GraphTarget(dependencies, dependency_count, out_node).place(*into, empty_work());
  });
}
