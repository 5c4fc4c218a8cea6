#include "backends/null/null.h"

#include <cstdio>

#include "backends/null/entries.h"
#include "km_version.h"

namespace km {

km_status null::unsupported(const char* what, kmb_error* error) {
  std::snprintf(error->message, sizeof error->message,
                "the null backend has no %s; it is a skeleton and runs nothing", what);
  return KM_ERROR_NOT_SUPPORTED;
}

km_status null::initialize(const kmb_host*, kmb_error*) { return KM_SUCCESS; }

// tidy: function: one line for each entry
const kmb_backend& null_backend() {
  static constexpr kmb_backend kTable{
      .abi_major = KMB_ABI_MAJOR,
      .abi_minor = KMB_ABI_MINOR,
      .size = sizeof(kmb_backend),
      .name = "null",
      .build_id = KM_BUILD_ID,
      .initialize = null::initialize,
      .device_count = null::device_count,
      .device_open = null::device_open,
      .device_close = null::device_close,
      .device_info = null::device_info,
      .device_attribute = null::device_attribute,
      .context_create = null::context_create,
      .context_destroy = null::context_destroy,
      .context_synchronize = null::context_synchronize,
      .context_memory_info = null::context_memory_info,
      .context_reset = null::context_reset,
      .context_status = null::context_status,
      .context_set_output = null::context_set_output,
      .stream_create = null::stream_create,
      .stream_destroy = null::stream_destroy,
      .stream_synchronize = null::stream_synchronize,
      .stream_wait_event = null::stream_wait_event,
      .stream_add_callback = null::stream_add_callback,
      .event_create = null::event_create,
      .event_destroy = null::event_destroy,
      .event_record = null::event_record,
      .event_synchronize = null::event_synchronize,
      .event_elapsed = null::event_elapsed,
      .memory_create = null::memory_create,
      .memory_from_host = null::memory_from_host,
      .memory_share = null::memory_share,
      .memory_destroy = null::memory_destroy,
      .host_memory_create = null::host_memory_create,
      .host_memory_register = null::host_memory_register,
      .copy_to_device = null::copy_to_device,
      .copy_to_host = null::copy_to_host,
      .copy_on_device = null::copy_on_device,
      .fill = null::fill,
      .module_load = null::module_load,
      .module_unload = null::module_unload,
      .module_function_count = null::module_function_count,
      .module_function_at = null::module_function_at,
      .module_global = null::module_global,
      .function_info = null::function_info,
      .function_attribute_get = null::function_attribute_get,
      .function_attribute_set = null::function_attribute_set,
      .launch = null::launch,
      .stream_ticket = null::stream_ticket,
      .function_prepare = null::function_prepare,
      .stream_query_ticket = null::stream_query_ticket,
      .graph_create = null::graph_create,
      .graph_destroy = null::graph_destroy,
      .graph_update = null::graph_update,
      .graph_launch = null::graph_launch,
      .graph_upload = null::graph_upload,
      .graph_restore = null::graph_restore,
      .copy_3d = null::copy_3d,
      .fill_2d = null::fill_2d,
      .device_can_access_peer = null::device_can_access_peer,
      .context_set_peer_access = null::context_set_peer_access,
      .copy_peer = null::copy_peer,
      .module_load_object = null::module_load_object,
      .module_save_object = null::module_save_object,
      .context_profile = null::context_profile,
      .context_set_counters = nullptr,
      .context_limit_get = null::context_limit_get,
      .context_limit_set = null::context_limit_set,
      .blas_create = null::blas_create,
      .blas_destroy = null::blas_destroy,
      .blas_submit = null::blas_submit,
      .stream_memory_ops = null::stream_memory_ops,
      .stream_wait_ticket = null::stream_wait_ticket,
      .context_set_checked = nullptr,
      .function_deferred_name = nullptr,
      .memory_reused = nullptr,
      .context_set_check = nullptr,
      .context_check_flags = nullptr,
      .context_add_finding = nullptr,
      .task_submit = null::task_submit,
      .fft_create = null::fft_create,
      .fft_destroy = null::fft_destroy,
      .library_submit = null::library_submit,
      .comm_id_create = null::comm_id_create,
      .comm_create = null::comm_create,
      .comm_split = null::comm_split,
      .comm_destroy = null::comm_destroy,
      .comm_abort = null::comm_abort,
      .comm_status = null::comm_status,
      .comm_info = null::comm_info,
      .comm_group_begin = null::comm_group_begin,
      .comm_group_end = null::comm_group_end,
  };
  return kTable;
}

}  // namespace km
