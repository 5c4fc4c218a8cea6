// The vtable, and the start and end of the backend.
#include <cstdio>
#include <new>

#include "backends/vulkan/driver/driver_use.h"
#include "backends/vulkan/driver/entries.h"
#include "backends/vulkan/driver/loader.h"
#include "backends/vulkan/stream/scheduler.h"
#include "backends/vulkan/table/table.h"
#include "base/callback/callback_thread.h"
#include "base/log.h"
#include "base/memory/host_allocator.h"
#include "base/process/at_exit.h"
#include "base/thread/clock.h"
#include "km_version.h"

namespace km::vulkan {
namespace {

constexpr uint64_t kMostExitWaitNs = 10'000'000'000;

/// Called when the process ends: the driver's own end must find no work of ours, or it crashes.
void end_work(int) {
  const uint64_t deadline_ns = now_ns() + kMostExitWaitNs;
  Scheduler::instance().end(kMostExitWaitNs);
  end_callbacks(0);
  end_driver_uses(deadline_ns);
}

km_status initialize_backend(const kmb_host* host, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    set_log_sink(host->log);
    use_host_allocator_cell(static_cast<HostAllocatorCell*>(host->allocator_cell));
    use_thread_end(host->take_thread_end);
    KM_TRY(load_instance());
    if (!run_at_exit(end_work)) throw std::bad_alloc();
    return {};
  });
}

constexpr kmb_backend kTable = {
    .abi_major = KMB_ABI_MAJOR,
    .abi_minor = KMB_ABI_MINOR,
    .size = sizeof(kmb_backend),
    .name = "vulkan",
    .build_id = KM_BUILD_ID,
    .initialize = initialize_backend,
    .device_count = device_count,
    .device_open = device_open,
    .device_close = device_close,
    .device_info = device_info,
    .device_attribute = device_attribute,
    .context_create = context_create,
    .context_destroy = context_destroy,
    .context_synchronize = context_synchronize,
    .context_memory_info = context_memory_info,
    .context_reset = context_reset,
    .context_status = context_status,
    .context_set_output = context_set_output,
    .stream_create = stream_create,
    .stream_destroy = stream_destroy,
    .stream_synchronize = stream_synchronize,
    .stream_wait_event = stream_wait_event,
    .stream_add_callback = stream_add_callback,
    .event_create = event_create,
    .event_destroy = event_destroy,
    .event_record = event_record,
    .event_synchronize = event_synchronize,
    .event_elapsed = event_elapsed,
    .memory_create = memory_create,
    .memory_from_host = memory_from_host,
    .memory_share = memory_share,
    .memory_destroy = memory_destroy,
    .host_memory_create = host_memory_create,
    .host_memory_register = host_memory_register,
    .copy_to_device = copy_to_device,
    .copy_to_host = copy_to_host,
    .copy_on_device = copy_on_device,
    .fill = fill,
    .module_load = module_load,
    .module_unload = module_unload,
    .module_function_count = module_function_count,
    .module_function_at = module_function_at,
    .module_global = module_global,
    .function_info = function_info,
    .function_attribute_get = function_attribute_get,
    .function_attribute_set = function_attribute_set,
    .launch = launch,
    .stream_ticket = stream_ticket,
    .function_prepare = function_prepare,
    .stream_query_ticket = stream_query_ticket,
    .graph_create = graph_create,
    .graph_destroy = graph_destroy,
    .graph_update = graph_update,
    .graph_launch = graph_launch,
    .graph_upload = nullptr,
    .graph_restore = nullptr,
    .copy_3d = copy_3d,
    .fill_2d = fill_2d,
    .device_can_access_peer = device_can_access_peer,
    .context_set_peer_access = context_set_peer_access,
    .copy_peer = copy_peer,
    .module_load_object = nullptr,
    .module_save_object = nullptr,
    .context_profile = nullptr,
    .context_set_counters = nullptr,
    .context_limit_get = context_limit_get,
    .context_limit_set = context_limit_set,
    .blas_create = nullptr,
    .blas_destroy = nullptr,
    .blas_submit = nullptr,
    .stream_memory_ops = stream_memory_ops,
    .stream_wait_ticket = stream_wait_ticket,
    .context_set_checked = context_set_checked,
    .function_deferred_name = nullptr,
    .memory_reused = nullptr,
    .context_set_check = nullptr,
    .context_check_flags = nullptr,
    .context_add_finding = nullptr,
    .task_submit = nullptr,
    .fft_create = nullptr,
    .fft_destroy = nullptr,
    .library_submit = nullptr,
    .comm_id_create = nullptr,
    .comm_create = nullptr,
    .comm_split = nullptr,
    .comm_destroy = nullptr,
    .comm_abort = nullptr,
    .comm_status = nullptr,
    .comm_info = nullptr,
    .comm_group_begin = nullptr,
    .comm_group_end = nullptr,
};

}  // namespace

const kmb_backend* table_for(const DriverInterface& chosen) {
  static kmb_backend table = kTable;
  use_driver_interface(chosen);
  table.name = chosen.name;
  return &table;
}

}  // namespace km::vulkan
