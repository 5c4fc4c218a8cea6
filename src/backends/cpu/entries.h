// The entries of the vtable (backend/interface.h), one .cpp per kind of object, and what they
// share.
#pragma once

#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

#include "backend/interface.h"
#include "base/result.h"

namespace km::cpu {

class Context;
class Device;
class Event;
class Function;
class Graph;
class Memory;
class Module;
class Stream;

// The interface's opaque types are these classes.
inline Device* from(kmb_device* p) { return reinterpret_cast<Device*>(p); }
inline Context* from(kmb_context* p) { return reinterpret_cast<Context*>(p); }
inline Stream* from(kmb_stream* p) { return reinterpret_cast<Stream*>(p); }
inline Event* from(kmb_event* p) { return reinterpret_cast<Event*>(p); }
inline Memory* from(kmb_memory* p) { return reinterpret_cast<Memory*>(p); }
inline Module* from(kmb_module* p) { return reinterpret_cast<Module*>(p); }
inline Function* from(kmb_function* p) { return reinterpret_cast<Function*>(p); }
inline Graph* from(kmb_graph* p) { return reinterpret_cast<Graph*>(p); }
inline kmb_device* to(Device* p) { return reinterpret_cast<kmb_device*>(p); }
inline kmb_context* to(Context* p) { return reinterpret_cast<kmb_context*>(p); }
inline kmb_stream* to(Stream* p) { return reinterpret_cast<kmb_stream*>(p); }
inline kmb_event* to(Event* p) { return reinterpret_cast<kmb_event*>(p); }
inline kmb_memory* to(Memory* p) { return reinterpret_cast<kmb_memory*>(p); }
inline kmb_module* to(Module* p) { return reinterpret_cast<kmb_module*>(p); }
inline kmb_function* to(Function* p) { return reinterpret_cast<kmb_function*>(p); }
inline kmb_graph* to(Graph* p) { return reinterpret_cast<kmb_graph*>(p); }

/// Hands an error to the host.
km_status report(const Error& error, kmb_error* out_error);

/// Runs the body of an entry; no exception leaves it.
template <class Body>
km_status guarded(kmb_error* out_error, Body&& body) {
  try {
    Status status = std::forward<Body>(body)();
    return status ? KM_SUCCESS : report(status.error(), out_error);
  } catch (const std::bad_alloc&) {
    return report(Error{KM_ERROR_OUT_OF_HOST_MEMORY, {}, 0}, out_error);
  }
}

/// The same for entries with statuses that are no errors.
template <class Body>
km_status caught(kmb_error* out_error, Body&& body) {
  try {
    return std::forward<Body>(body)();
  } catch (const std::bad_alloc&) {
    return report(Error{KM_ERROR_OUT_OF_HOST_MEMORY, {}, 0}, out_error);
  }
}

/// The table itself.
const kmb_backend& backend_table();

/// Of the library and this plugin.
const char* build_id();

km_status backend_initialize(const kmb_host*, kmb_error*);
km_status device_count(uint32_t*, kmb_error*);
km_status device_open(uint32_t, kmb_device**, kmb_error*);
void device_close(kmb_device*);
km_status device_info(kmb_device*, km_device_info*, kmb_error*);
km_status device_attribute(kmb_device*, km_device_attribute, int64_t*, kmb_error*);

km_status context_create(kmb_device*, kmb_context**, kmb_error*);
void context_destroy(kmb_context*);
km_status context_synchronize(kmb_context*, kmb_error*);
km_status context_memory_info(kmb_context*, uint64_t*, uint64_t*, kmb_error*);
km_status context_reset(kmb_context*, kmb_error*);
km_status context_status(kmb_context*, kmb_error*);
km_status context_set_output(kmb_context*, km_output_callback, void*, kmb_error*);
km_status context_limit_get(kmb_context* context, km_context_limit limit, uint64_t* out_value,
                            kmb_error* error);
km_status context_limit_set(kmb_context* context, km_context_limit limit, uint64_t value,
                            kmb_error* error);
km_status context_profile(kmb_context*, uint32_t, kmb_profile_callback, void*, km_release_callback,
                          kmb_error*);

km_status stream_create(kmb_context*, km_stream_flags, int32_t, kmb_stream**, kmb_error*);
void stream_destroy(kmb_stream*);
km_status stream_synchronize(kmb_stream*, uint64_t, kmb_error*);
km_status stream_wait_event(kmb_stream*, kmb_event*, kmb_error*);
km_status stream_add_callback(kmb_stream*, km_host_callback, void*, kmb_error*);

km_status event_create(kmb_context*, km_event_flags, kmb_event**, kmb_error*);
void event_destroy(kmb_event*);
km_status event_record(kmb_event*, kmb_stream*, kmb_error*);
km_status event_synchronize(kmb_event*, uint64_t, kmb_error*);
km_status event_elapsed(kmb_event*, kmb_event*, int64_t*, kmb_error*);

km_status memory_create(kmb_context*, kmb_stream*, uint64_t, uint32_t, kmb_memory**,
                        kmb_memory_info*, kmb_error*);
km_status memory_from_host(kmb_context*, void*, uint64_t, km_release_callback, void*, kmb_memory**,
                           kmb_memory_info*, kmb_error*);
void memory_destroy(kmb_memory*, const kmb_use*, uint64_t);
km_status host_memory_create(kmb_context*, uint64_t, kmb_memory**, kmb_memory_info*, kmb_error*);
km_status host_memory_register(kmb_context*, void*, uint64_t, kmb_memory**, kmb_memory_info*,
                               kmb_error*);

km_status copy_to_device(kmb_stream*, uint64_t, const void*, uint64_t, uint32_t, uint64_t*,
                         kmb_error*);
km_status copy_to_host(kmb_stream*, void*, uint64_t, uint64_t, uint32_t, uint64_t*, kmb_error*);
km_status copy_on_device(kmb_stream*, uint64_t, uint64_t, uint64_t, uint64_t*, kmb_error*);
km_status fill(kmb_stream*, uint64_t, uint32_t, uint32_t, uint64_t, uint64_t*, kmb_error*);

km_status copy_3d(kmb_stream*, const kmb_copy_3d*, uint64_t*, kmb_error*);
km_status fill_2d(kmb_stream*, uint64_t, uint64_t, uint32_t, uint32_t, uint64_t, uint64_t,
                  uint64_t*, kmb_error*);
km_status copy_peer(kmb_stream*, kmb_context*, uint64_t, kmb_context*, uint64_t, uint64_t,
                    uint64_t*, kmb_error*);
km_status device_can_access_peer(kmb_device*, kmb_device*, uint32_t*, kmb_error*);
km_status context_set_peer_access(kmb_context*, kmb_context*, uint32_t, kmb_error*);

km_status module_load(kmb_context*, const char*, uint64_t, const char*, kmb_module**, kmb_error*);
km_status module_load_object(kmb_context*, const void*, uint64_t, const char*, kmb_module**,
                             kmb_error*);
km_status module_save_object(kmb_module*, const uint32_t*, uint64_t,
                             void (*receive)(void*, const void*, uint64_t), void*, kmb_error*);
void module_unload(kmb_module*, const kmb_use*, uint64_t);
km_status module_function_count(kmb_module*, uint32_t*, kmb_error*);
km_status module_function_at(kmb_module*, uint32_t, kmb_function**, kmb_error*);
km_status module_global(kmb_module*, const char*, kmb_global_info*, kmb_error*);
km_status function_info(kmb_function*, kmb_function_info*, kmb_error*);
km_status function_attribute_get(kmb_function*, km_function_attribute, int64_t*, kmb_error*);
km_status function_attribute_set(kmb_function*, km_function_attribute, int64_t, kmb_error*);
km_status function_prepare(kmb_function*, const uint32_t block[3], kmb_error*);
km_status launch(kmb_stream*, kmb_function*, const kmb_launch*, uint64_t*, kmb_error*);

km_status graph_create(kmb_context*, const kmb_graph_node*, uint64_t, kmb_graph**, kmb_error*);
void graph_destroy(kmb_graph*);
km_status graph_update(kmb_graph*, const uint32_t*, const kmb_graph_node*, uint64_t, kmb_error*);
km_status graph_launch(kmb_graph*, kmb_stream*, uint64_t*, kmb_error*);

km_status blas_create(kmb_context*, kmb_blas**, kmb_error*);
void blas_destroy(kmb_blas*);
km_status blas_submit(kmb_blas*, kmb_stream*, const kmb_blas_call*, uint64_t*, kmb_error*);

}  // namespace km::cpu
