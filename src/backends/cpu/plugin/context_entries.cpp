// Vtable entries for contexts.
#include "backends/cpu/command/check_report.h"
#include "backends/cpu/config/config.h"
#include "backends/cpu/device/context.h"
#include "backends/cpu/device/device.h"
#include "backends/cpu/device/entries.h"
#include "backends/cpu/fault/fault.h"
#include "backends/cpu/memory/heap.h"
#include "backends/cpu/order/stream_order.h"
#include "backends/cpu/plugin/watchdog.h"
#include "backends/cpu/stream/context_streams.h"
#include "backends/cpu/stream/thread_pool.h"
#include "base/memory/host_allocator.h"

namespace km::cpu {
namespace {

/// The tools that a context can have of those that are wanted.
Result<uint16_t> selected_tools(km_check_flags flags) {
  const bool follows_streams = StreamOrder::active() != nullptr;
  if ((flags & KM_CHECK_ALL) == KM_CHECK_ALL) {
    constexpr uint16_t kOthers = check_tool::kAll & ~check_tool::kStreams;
    return follows_streams ? check_tool::kAll : kOthers;
  }
  if ((flags & KM_CHECK_STREAMS) != 0 && !follows_streams) {
    return make_error(KM_ERROR_NOT_SUPPORTED,
                      "streams are followed from the first one on, or not at all: set KM_CHECK to "
                      "streams, too");
  }
  return static_cast<uint16_t>(flags & check_tool::kAll);
}

}  // namespace

km_status context_create(kmb_device* device, kmb_context** out_context, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    KM_TRY(install_fault_handler());
    put_handler_in_front(Look::all);
    KM_ASSIGN(ThreadPool * pool, from(device)->pool(ThreadPool::start));
    if (config().kernel_timeout_ms != 0) KM_TRY(start_watchdog(config().kernel_timeout_ms));
    *out_context = to(Context::make(from(device), pool));
    return {};
  });
}

km_status context_set_checked(kmb_context* context, uint32_t wanted, uint32_t* out_is_checked,
                              kmb_error*) {
  const CheckedMemory rule = config().checked;
  const bool is_checked =
      rule == CheckedMemory::as_contexts_say ? wanted != 0 : rule == CheckedMemory::always;
  from(context)->set_checked(is_checked);
  *out_is_checked = is_checked ? 1 : 0;
  return KM_SUCCESS;
}

km_status context_set_check(kmb_context* context, km_check_flags flags, uint64_t limit,
                            km_finding_callback callback, void* user_data, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    ContextChecks& checks = from(context)->checks();
    KM_ASSIGN(const uint16_t tools, selected_tools(flags));
    checks.set({.tools = static_cast<uint16_t>(tools | (checks.tools() & check_tool::kOfProcess)),
                .tells_same_values = (flags & KM_CHECK_SAME_VALUE) != 0,
                .limit = limit,
                .callback = callback,
                .user_data = user_data});
    return {};
  });
}

km_check_flags context_check_flags(kmb_context* context) {
  const ContextChecks& checks = from(context)->checks();
  return (checks.tools() & check_tool::kAll) |
         (checks.tells_same_values() ? KM_CHECK_SAME_VALUE : 0);
}

void context_add_finding(kmb_context* context, const km_finding* finding) {
  const HostMemoryNeeded needed;
  from(context)->checks().add(own_finding(*finding));
}

void context_destroy(kmb_context* handle) {
  Context* context = from(handle);
  // A worker that flushed later could call the host's callback after its data is gone.
  context->output().flush();
  if (context->abandon()) report_kernel_memory(*context);
  context->checks().drop_callback();
  context->release();
}

km_status context_synchronize(kmb_context* handle, kmb_error* error) {
  return caught(error, [&]() -> km_status {
    Context* context = from(handle);
    if (!context->failed()) drain(*context);
    const bool failed = context->failed();
    context->output().flush();
    return failed ? report(context->failure(), error) : KM_SUCCESS;
  });
}

km_status context_memory_info(kmb_context* context, uint64_t* out_free_bytes,
                              uint64_t* out_total_bytes, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    uint64_t free = 0, total = 0;
    Heap::instance().memory_info(&free, &total);
    from(context)->device()->share_memory(&free, &total);
    *out_free_bytes = free;
    *out_total_bytes = total;
    return {};
  });
}

km_status context_reset(kmb_context* context, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    reset(*from(context));
    return {};
  });
}

km_status context_status(kmb_context* handle, kmb_error* error) {
  Context* context = from(handle);
  if (!context->failed()) return KM_SUCCESS;
  return caught(error, [&]() -> km_status { return report(context->error(), error); });
}

km_status context_set_peer_access(kmb_context* context, kmb_context* peer, uint32_t enabled,
                                  kmb_error* error) {
  return guarded(error, [&]() -> Status {
    set_peer(*from(context), *from(peer), enabled != 0);
    return {};
  });
}

km_status context_set_output(kmb_context* context, km_output_callback callback, void* user_data,
                             kmb_error*) {
  from(context)->output().set_callback(callback, user_data);
  return KM_SUCCESS;
}

}  // namespace km::cpu
