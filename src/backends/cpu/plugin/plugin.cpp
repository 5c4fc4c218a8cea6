// The vtable, the plugin's one exported entry point, and the start and end of the backend.
#include "backends/cpu/plugin/plugin.h"

#include <new>

#include "backends/cpu/check/findings.h"
#include "backends/cpu/command/check_report.h"
#include "backends/cpu/config/config.h"
#include "backends/cpu/device/context.h"
#include "backends/cpu/device/entries.h"
#include "backends/cpu/module/sample_dump.h"
#include "backends/cpu/order/stream_order.h"
#include "backends/cpu/stream/stream.h"
#include "base/callback/callback_thread.h"
#include "base/log.h"
#include "base/memory/host_allocator.h"
#include "base/process/at_exit.h"
#include "km_version.h"

namespace km::cpu {
namespace {

km_status stream_ticket(kmb_stream* stream, uint64_t* out_ticket, kmb_error*) {
  *out_ticket = from(stream)->submitted();
  return KM_SUCCESS;
}

km_status stream_query_ticket(kmb_stream* stream, uint64_t ticket, kmb_error*) {
  return from(stream)->is_complete(ticket) ? KM_SUCCESS : KM_NOT_READY;
}

constexpr kmb_backend kTable = {
    .abi_major = KMB_ABI_MAJOR,
    .abi_minor = KMB_ABI_MINOR,
    .size = sizeof(kmb_backend),
    .name = "cpu",
    .build_id = KM_BUILD_ID,
    .initialize = backend_initialize,
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
    .graph_upload = graph_upload,
    .graph_restore = graph_restore,
    .copy_3d = copy_3d,
    .fill_2d = fill_2d,
    .device_can_access_peer = device_can_access_peer,
    .context_set_peer_access = context_set_peer_access,
    .copy_peer = copy_peer,
    .module_load_object = module_load_object,
    .module_save_object = module_save_object,
    .context_profile = context_profile,
    .context_set_counters = context_set_counters,
    .context_limit_get = context_limit_get,
    .context_limit_set = context_limit_set,
    .blas_create = blas_create,
    .blas_destroy = blas_destroy,
    .blas_submit = blas_submit,
    .stream_memory_ops = stream_memory_ops,
    .stream_wait_ticket = stream_wait_ticket,
    .context_set_checked = context_set_checked,
    .function_deferred_name = function_deferred_name,
    .memory_reused = memory_reused,
    .context_set_check = context_set_check,
    .context_check_flags = context_check_flags,
    .context_add_finding = context_add_finding,
    .task_submit = task_submit,
    .fft_create = fft_create,
    .fft_destroy = fft_destroy,
    .library_submit = library_submit,
    .comm_id_create = comm_id_create,
    .comm_create = comm_create,
    .comm_split = comm_split,
    .comm_destroy = comm_destroy,
    .comm_abort = comm_abort,
    .comm_status = comm_status,
    .comm_info = comm_info,
    .comm_group_begin = nullptr,  // calls of several streams wait for each other
    .comm_group_end = nullptr,
};

}  // namespace

const kmb_backend& backend_table() { return kTable; }

namespace {

/// Lets kernels that the checker watches come to their end, because programs that return from main
/// without a wait have defects too. The wait is bounded: a callback may be what ends the process.
void finish_checks() {
  constexpr uint64_t kMostNs = 10'000'000'000;
  const HostMemoryNeeded needed;
  for (Context* const context : Context::retain_all()) {
    // A callback's data may be gone at exit.
    if (!context->checks().is_used() || context->checks().has_callback()) continue;
    for (Stream* const stream : context->streams()) stream->wait(stream->submitted(), kMostNs);
    if (is_idle(*context)) report_kernel_memory(*context);
  }
  Findings::instance().finish();
}

/// Called when the process ends.
void end_work(int) {
  if (ContextChecks::is_any_used()) finish_checks();
  Context::stop_all();
  print_samples_at_exit();
}

}  // namespace

km_status backend_initialize(const kmb_host* host, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    if (host != nullptr && host->log != nullptr) set_log_sink(host->log);
    if (host != nullptr && host->allocator_cell != nullptr) {
      use_host_allocator_cell(static_cast<HostAllocatorCell*>(host->allocator_cell));
    }
    if (host != nullptr && host->take_thread_end != nullptr) {
      use_thread_end(host->take_thread_end);
    }
    KM_TRY(load_config());
    if (config().checks_streams()) StreamOrder::activate();
    // A kernel that outlived main() would use memory of the host's static objects during their
    // destruction.
    if (!run_at_exit(end_work)) throw std::bad_alloc();
    return {};
  });
}

}  // namespace km::cpu

extern "C" __attribute__((visibility("default"))) const kmb_backend* km_backend_plugin() {
  return &km::cpu::backend_table();
}
