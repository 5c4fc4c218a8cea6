#include "backends/cuda/table/cuda.h"

#include "backends/cuda/driver/driver.h"
#include "backends/cuda/driver/entries.h"
#include "km_version.h"

namespace km {
namespace cuda {

km_status initialize(const kmb_host*, kmb_error* error) {
  return guarded(error, [] { return load_driver(); });
}

}  // namespace cuda

// tidy: function: one line for each entry
const kmb_backend& cuda_backend() {
  static constexpr kmb_backend kTable{
      .abi_major = KMB_ABI_MAJOR,
      .abi_minor = KMB_ABI_MINOR,
      .size = sizeof(kmb_backend),
      .name = "cuda",
      .build_id = KM_BUILD_ID,
      .initialize = cuda::initialize,
      .device_count = cuda::device_count,
      .device_open = cuda::device_open,
      .device_close = cuda::device_close,
      .device_info = cuda::device_info,
      .device_attribute = cuda::device_attribute,
      .context_create = cuda::context_create,
      .context_destroy = cuda::context_destroy,
      .context_synchronize = cuda::context_synchronize,
      .context_memory_info = cuda::context_memory_info,
      .context_reset = cuda::context_reset,
      .context_status = cuda::context_status,
      .context_set_output = cuda::context_set_output,
      .stream_create = cuda::stream_create,
      .stream_destroy = cuda::stream_destroy,
      .stream_synchronize = cuda::stream_synchronize,
      .stream_wait_event = cuda::stream_wait_event,
      .stream_add_callback = cuda::stream_add_callback,
      .event_create = cuda::event_create,
      .event_destroy = cuda::event_destroy,
      .event_record = cuda::event_record,
      .event_synchronize = cuda::event_synchronize,
      .event_elapsed = cuda::event_elapsed,
      .memory_create = cuda::memory_create,
      .memory_from_host = cuda::memory_from_host,
      .memory_share = cuda::memory_share,
      .memory_destroy = cuda::memory_destroy,
      .host_memory_create = cuda::host_memory_create,
      .host_memory_register = cuda::host_memory_register,
      .copy_to_device = cuda::copy_to_device,
      .copy_to_host = cuda::copy_to_host,
      .copy_on_device = cuda::copy_on_device,
      .fill = cuda::fill,
      .module_load = cuda::module_load,
      .module_unload = cuda::module_unload,
      .module_function_count = cuda::module_function_count,
      .module_function_at = cuda::module_function_at,
      .module_global = cuda::module_global,
      .function_info = cuda::function_info,
      .function_attribute_get = cuda::function_attribute_get,
      .function_attribute_set = cuda::function_attribute_set,
      .launch = cuda::launch,
      .stream_ticket = cuda::stream_ticket,
      .function_prepare = nullptr,  // the driver has generated the code when the module is loaded
      .stream_query_ticket = cuda::stream_query_ticket,
      .graph_create = cuda::graph_create,
      .graph_destroy = cuda::graph_destroy,
      .graph_update = cuda::graph_update,
      .graph_launch = cuda::graph_launch,
      .graph_upload = nullptr,   // kernels' launches use the program's own driver calls
      .graph_restore = nullptr,  // kernels change nodes by the program's own driver calls too
      .copy_3d = cuda::copy_3d,
      .fill_2d = cuda::fill_2d,
      .device_can_access_peer = cuda::device_can_access_peer,
      .context_set_peer_access = cuda::context_set_peer_access,
      .copy_peer = cuda::copy_peer,
      .module_load_object = cuda::module_load_object,
      .module_save_object = cuda::module_save_object,
      .context_profile = cuda::context_profile,
      .context_set_counters = nullptr,
      .context_limit_get = cuda::context_limit_get,
      .context_limit_set = cuda::context_limit_set,
      .blas_create = cuda::blas_create,
      .blas_destroy = cuda::blas_destroy,
      .blas_submit = cuda::blas_submit,
      .stream_memory_ops = cuda::stream_memory_ops,
      .stream_wait_ticket = cuda::stream_wait_ticket,
      .context_set_checked = nullptr,  // compute-sanitizer does this, outside the library
      .function_deferred_name = nullptr,
      .memory_reused = nullptr,
      .context_set_check = nullptr,
      .context_check_flags = nullptr,
      .context_add_finding = nullptr,
      .task_submit = nullptr,  // the device's memory is not the host's
      .fft_create = cuda::fft_create,
      .fft_destroy = cuda::fft_destroy,
      .library_submit = cuda::library_submit,
      .comm_id_create = cuda::comm_id_create,
      .comm_create = cuda::comm_create,
      .comm_split = cuda::comm_split,
      .comm_destroy = cuda::comm_destroy,
      .comm_abort = cuda::comm_abort,
      .comm_status = cuda::comm_status,
      .comm_info = cuda::comm_info,
      .comm_group_begin = cuda::comm_group_begin,
      .comm_group_end = cuda::comm_group_end,
  };
  return kTable;
}

}  // namespace km
