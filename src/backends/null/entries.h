// The entries of this backend, one .cpp per kind of object.
#pragma once

#include "backend/interface.h"

namespace km::null {

/// Every entry that is still to be written ends in this.
km_status unsupported(const char* what, kmb_error* error);

km_status initialize(const kmb_host* host, kmb_error* error);
km_status device_count(uint32_t* out_count, kmb_error* error);
km_status device_open(uint32_t ordinal, kmb_device** out_device, kmb_error* error);
void device_close(kmb_device* device);
km_status device_info(kmb_device* device, km_device_info* out_info, kmb_error* error);
km_status device_attribute(kmb_device* device, km_device_attribute attribute, int64_t* out_value,
                           kmb_error* error);

km_status context_create(kmb_device* device, kmb_context** out_context, kmb_error* error);
void context_destroy(kmb_context* context);
km_status context_synchronize(kmb_context* context, kmb_error* error);
km_status context_memory_info(kmb_context* context, uint64_t* out_free_bytes,
                              uint64_t* out_total_bytes, kmb_error* error);
km_status context_reset(kmb_context* context, kmb_error* error);
km_status context_status(kmb_context* context, kmb_error* error);
km_status context_set_output(kmb_context* context, km_output_callback callback, void* user_data,
                             kmb_error* error);

km_status context_limit_get(kmb_context* context, km_context_limit limit, uint64_t* out_value,
                            kmb_error* error);
km_status context_limit_set(kmb_context* context, km_context_limit limit, uint64_t value,
                            kmb_error* error);
km_status context_profile(kmb_context* context, uint32_t on, kmb_profile_callback callback,
                          void* user_data, km_release_callback release, kmb_error* error);

km_status stream_create(kmb_context* context, km_stream_flags flags, int32_t priority,
                        kmb_stream** out_stream, kmb_error* error);
void stream_destroy(kmb_stream* stream);
km_status stream_synchronize(kmb_stream* stream, uint64_t timeout_ns, kmb_error* error);
km_status stream_wait_event(kmb_stream* stream, kmb_event* event, kmb_error* error);
km_status stream_add_callback(kmb_stream* stream, km_host_callback callback, void* user_data,
                              kmb_error* error);
km_status stream_ticket(kmb_stream* stream, uint64_t* out_ticket, kmb_error* error);
km_status stream_query_ticket(kmb_stream* stream, uint64_t ticket, kmb_error* error);

km_status event_create(kmb_context* context, km_event_flags flags, kmb_event** out_event,
                       kmb_error* error);
void event_destroy(kmb_event* event);
km_status event_record(kmb_event* event, kmb_stream* stream, kmb_error* error);
km_status event_synchronize(kmb_event* event, uint64_t timeout_ns, kmb_error* error);
km_status event_elapsed(kmb_event* start, kmb_event* end, int64_t* out_elapsed_ns,
                        kmb_error* error);

km_status memory_create(kmb_context* context, kmb_stream* stream, uint64_t size_bytes,
                        uint32_t zeroed, kmb_memory** out_memory, kmb_memory_info* out_info,
                        kmb_error* error);
km_status memory_from_host(kmb_context* context, void* pointer, uint64_t size_bytes,
                           km_release_callback release, void* user_data, kmb_memory** out_memory,
                           kmb_memory_info* out_info, kmb_error* error);
void memory_destroy(kmb_memory* memory, const kmb_use* uses, uint64_t use_count);
km_status host_memory_create(kmb_context* context, uint64_t size_bytes, kmb_memory** out_memory,
                             kmb_memory_info* out_info, kmb_error* error);
km_status host_memory_register(kmb_context* context, void* pointer, uint64_t size_bytes,
                               kmb_memory** out_memory, kmb_memory_info* out_info,
                               kmb_error* error);
km_status copy_to_device(kmb_stream* stream, uint64_t destination, const void* source,
                         uint64_t size_bytes, uint32_t pinned, uint64_t* out_ticket,
                         kmb_error* error);
km_status copy_to_host(kmb_stream* stream, void* destination, uint64_t source, uint64_t size_bytes,
                       uint32_t pinned, uint64_t* out_ticket, kmb_error* error);
km_status copy_on_device(kmb_stream* stream, uint64_t destination, uint64_t source,
                         uint64_t size_bytes, uint64_t* out_ticket, kmb_error* error);
km_status fill(kmb_stream* stream, uint64_t destination, uint32_t value, uint32_t value_size_bytes,
               uint64_t count, uint64_t* out_ticket, kmb_error* error);

km_status copy_3d(kmb_stream* stream, const kmb_copy_3d* copy, uint64_t* out_ticket,
                  kmb_error* error);
km_status fill_2d(kmb_stream* stream, uint64_t destination, uint64_t pitch_bytes, uint32_t value,
                  uint32_t value_size_bytes, uint64_t width_count, uint64_t height,
                  uint64_t* out_ticket, kmb_error* error);
km_status device_can_access_peer(kmb_device* device, kmb_device* peer, uint32_t* out_can_access,
                                 kmb_error* error);
km_status context_set_peer_access(kmb_context* context, kmb_context* peer, uint32_t enabled,
                                  kmb_error* error);
km_status copy_peer(kmb_stream* stream, kmb_context* destination_context, uint64_t destination,
                    kmb_context* source_context, uint64_t source, uint64_t size_bytes,
                    uint64_t* out_ticket, kmb_error* error);

km_status module_load(kmb_context* context, const char* ptx, uint64_t ptx_size_bytes,
                      const char* name, kmb_module** out_module, kmb_error* error);
km_status module_load_object(kmb_context* context, const void* data, uint64_t size_bytes,
                             const char* name, kmb_module** out_module, kmb_error* error);
km_status module_save_object(kmb_module* module, const uint32_t* blocks, uint64_t block_count,
                             void (*receive)(void* user_data, const void* data,
                                             uint64_t size_bytes),
                             void* user_data, kmb_error* error);
void module_unload(kmb_module* module, const kmb_use* uses, uint64_t use_count);
km_status module_function_count(kmb_module* module, uint32_t* out_count, kmb_error* error);
km_status module_function_at(kmb_module* module, uint32_t index, kmb_function** out_function,
                             kmb_error* error);
km_status module_global(kmb_module* module, const char* name, kmb_global_info* out_info,
                        kmb_error* error);
km_status function_info(kmb_function* function, kmb_function_info* out_info, kmb_error* error);
km_status function_attribute_get(kmb_function* function, km_function_attribute attribute,
                                 int64_t* out_value, kmb_error* error);
km_status function_attribute_set(kmb_function* function, km_function_attribute attribute,
                                 int64_t value, kmb_error* error);
km_status function_prepare(kmb_function* function, const uint32_t block[3], kmb_error* error);
km_status launch(kmb_stream* stream, kmb_function* function, const kmb_launch* launch,
                 uint64_t* out_ticket, kmb_error* error);

km_status graph_create(kmb_context* context, const kmb_graph_node* nodes, uint64_t node_count,
                       kmb_graph** out_graph, kmb_error* error);
void graph_destroy(kmb_graph* graph);
km_status graph_update(kmb_graph* graph, const uint32_t* indices, const kmb_graph_node* nodes,
                       uint64_t count, kmb_error* error);
km_status graph_launch(kmb_graph* graph, kmb_stream* stream, uint64_t* out_ticket,
                       kmb_error* error);

km_status blas_create(kmb_context* context, kmb_blas** out_blas, kmb_error* error);
void blas_destroy(kmb_blas* blas);
km_status blas_submit(kmb_blas* blas, kmb_stream* stream, const kmb_blas_call* call,
                      uint64_t* out_ticket, kmb_error* error);

}  // namespace km::null
