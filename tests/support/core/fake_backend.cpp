#include "support/core/fake_backend.h"

#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>

#include "km_version.h"
#include "support/core/fake_objects.h"

namespace km::test {
namespace {

constexpr uint64_t kTotalBytes = uint64_t{1} << 32;
std::atomic<bool> g_deferred{false};
std::atomic<int> g_calls_to_failure{-1};
std::atomic<km_status> g_failure{KM_SUCCESS};

int64_t now_ns() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

km_status initialize(const kmb_host* host, kmb_error* error) {
  return host->build_id != nullptr ? KM_SUCCESS : fail(KM_ERROR_INTERNAL, "no host", error);
}

km_status device_count(uint32_t* out_count, kmb_error*) {
  *out_count = 2;
  return KM_SUCCESS;
}

km_status device_open(uint32_t ordinal, kmb_device** out_device, kmb_error* error) {
  if (const km_status status = begin_call(error)) return status;
  *out_device = new kmb_device{ordinal};
  ++fake_counters().devices;
  return KM_SUCCESS;
}

void device_close(kmb_device* device) {
  delete device;
  --fake_counters().devices;
}

km_status device_info(kmb_device*, km_device_info* info, kmb_error*) {
  std::snprintf(info->name, sizeof info->name, "Fake");
  info->total_memory_bytes = kTotalBytes;
  info->compute_capability_major = 9;
  info->multiprocessor_count = 1;
  info->warp_size = 32;
  info->max_threads_per_block = 1024;
  for (int i = 0; i < 3; ++i) {
    info->max_block_dim[i] = i == 2 ? 64 : 1024;
    info->max_grid_dim[i] = i == 0 ? 0x7FFFFFFF : 65535;
  }
  info->shared_bytes_per_block = 48 << 10;
  info->shared_bytes_per_block_max = 227 << 10;
  return KM_SUCCESS;
}

km_status device_attribute(kmb_device*, km_device_attribute attribute, int64_t* out_value,
                           kmb_error*) {
  *out_value = attribute == KM_DEVICE_ATTRIBUTE_STREAM_PRIORITY_GREATEST ? -2 : 0;
  return KM_SUCCESS;
}

km_status context_create(kmb_device*, kmb_context** out_context, kmb_error* error) {
  if (const km_status status = begin_call(error)) return status;
  *out_context = new kmb_context;
  ++fake_counters().contexts;
  return KM_SUCCESS;
}

void context_destroy(kmb_context* context) { release_context(context); }

km_status context_synchronize(kmb_context* context, kmb_error* error) {
  return check_sticky(context, error);
}

km_status context_memory_info(kmb_context* context, uint64_t* out_free, uint64_t* out_total,
                              kmb_error*) {
  const std::lock_guard lock(context->mutex);
  *out_free = kTotalBytes - context->used_bytes;
  *out_total = kTotalBytes;
  return KM_SUCCESS;
}

km_status context_reset(kmb_context* context, kmb_error*) {
  const std::lock_guard lock(context->mutex);
  context->sticky = KM_SUCCESS;
  return KM_SUCCESS;
}

km_status context_status(kmb_context* context, kmb_error* error) {
  return check_sticky(context, error);
}

km_status context_set_output(kmb_context* context, km_output_callback callback, void* user_data,
                             kmb_error*) {
  const std::lock_guard lock(context->mutex);
  context->output = callback;
  context->output_data = user_data;
  return KM_SUCCESS;
}

km_status stream_create(kmb_context* context, km_stream_flags, int32_t, kmb_stream** out_stream,
                        kmb_error* error) {
  if (const km_status status = begin_call(error)) return status;
  if (const km_status status = check_sticky(context, error)) return status;
  const auto stream = std::make_shared<kmb_stream>(context);
  stream->self = stream;
  *out_stream = stream.get();
  const std::lock_guard lock(context->mutex);
  ++context->references;
  ++fake_counters().streams;
  return KM_SUCCESS;
}

void stream_destroy(kmb_stream* stream) {
  const std::shared_ptr<kmb_stream> last = std::move(stream->self);
  drain(stream);
  free_unused(stream->context, stream);
}

km_status stream_synchronize(kmb_stream* stream, uint64_t timeout_ns, kmb_error* error) {
  if (timeout_ns != 0) {
    drain(stream);  // what another thread adds meanwhile is not waited for
  } else {
    const std::lock_guard lock(stream->mutex);
    if (stream->completed < stream->enqueued) return KM_NOT_READY;
  }
  free_unused(stream->context, nullptr);
  return check_sticky(stream->context, error);
}

km_status stream_wait_event(kmb_stream* stream, kmb_event* event, kmb_error* error) {
  std::shared_ptr<kmb_stream> other;
  {
    const std::lock_guard lock(event->mutex);
    other = event->stream;
  }
  uint64_t ticket = 0;
  return enqueue(
      stream,
      [other](km_status) {
        // Work that is not deferred is done already.
        if (is_deferred() && other) drain(other.get());
      },
      &ticket, error);
}

km_status stream_add_callback(kmb_stream* stream, km_host_callback callback, void* user_data,
                              kmb_error* error) {
  uint64_t ticket = 0;
  return enqueue(stream, [=](km_status status) { callback(user_data, status); }, &ticket, error);
}

/// With work that is deferred, waiting is doing what the other stream has up to the ticket.
km_status stream_wait_ticket(kmb_stream* stream, kmb_stream* other, uint64_t* inout_ticket,
                             kmb_error* error) {
  ++fake_counters().ticket_waits;
  uint64_t ticket = 0;
  return enqueue(
      stream, [kept = other->self, until = *inout_ticket](km_status) { drain(kept.get(), until); },
      &ticket, error);
}

km_status stream_query_ticket(kmb_stream* stream, uint64_t ticket, kmb_error*) {
  const std::lock_guard lock(stream->mutex);
  return stream->completed >= ticket ? KM_SUCCESS : KM_NOT_READY;
}

km_status stream_ticket(kmb_stream* stream, uint64_t* out_ticket, kmb_error*) {
  const std::lock_guard lock(stream->mutex);
  *out_ticket = stream->enqueued;
  return KM_SUCCESS;
}

km_status event_create(kmb_context*, km_event_flags, kmb_event** out_event, kmb_error* error) {
  if (const km_status status = begin_call(error)) return status;
  const auto event = std::make_shared<kmb_event>();
  event->self = event;
  *out_event = event.get();
  ++fake_counters().events;
  return KM_SUCCESS;
}

void event_destroy(kmb_event* event) {
  const std::shared_ptr<kmb_event> last = std::move(event->self);
  --fake_counters().events;
}

km_status event_record(kmb_event* event, kmb_stream* stream, kmb_error* error) {
  {
    const std::lock_guard lock(event->mutex);
    event->stream = stream->self;
    ++event->recorded;
  }
  uint64_t ticket = 0;
  return enqueue(
      stream,
      [event = event->self](km_status) {
        const std::lock_guard lock(event->mutex);
        event->time_ns = now_ns();
        ++event->done;
      },
      &ticket, error);
}

km_status event_synchronize(kmb_event* event, uint64_t timeout_ns, kmb_error*) {
  std::shared_ptr<kmb_stream> stream;
  {
    const std::lock_guard lock(event->mutex);
    if (event->done == event->recorded) return KM_SUCCESS;
    stream = event->stream;
  }
  if (timeout_ns == 0) return KM_NOT_READY;
  drain(stream.get());
  return KM_SUCCESS;
}

km_status event_elapsed(kmb_event* start, kmb_event* end, int64_t* out_elapsed_ns,
                        kmb_error* error) {
  for (kmb_event* event : {start, end}) {
    const std::lock_guard lock(event->mutex);
    if (event->recorded == 0) return fail(KM_ERROR_INVALID_ARGUMENT, "never recorded", error);
    if (event->done != event->recorded) return KM_NOT_READY;
  }
  *out_elapsed_ns = end->time_ns - start->time_ns;
  return KM_SUCCESS;
}

km_status add_memory(kmb_context* context, kmb_memory* memory, kmb_memory** out_memory,
                     kmb_memory_info* out_info) {
  const std::lock_guard lock(context->mutex);
  context->used_bytes += memory->info.size_bytes;
  ++context->references;
  ++fake_counters().memories;
  *out_memory = memory;
  *out_info = memory->info;
  return KM_SUCCESS;
}

km_status memory_create(kmb_context* context, kmb_stream*, uint64_t size_bytes, uint32_t,
                        kmb_memory** out_memory, kmb_memory_info* out_info, kmb_error* error) {
  if (const km_status status = begin_call(error)) return status;
  if (const km_status status = check_sticky(context, error)) return status;
  if (size_bytes > kTotalBytes) {
    return fail(KM_ERROR_OUT_OF_DEVICE_MEMORY, "the fake device has 4 GiB", error);
  }
  auto owned = std::unique_ptr<char[]>(new char[size_bytes + 256]());
  const uint64_t address = (reinterpret_cast<uint64_t>(owned.get()) + 255) & ~uint64_t{255};
  const kmb_memory_info info{address, reinterpret_cast<void*>(address), size_bytes, 0};
  return add_memory(context, new kmb_memory{context, info, std::move(owned), nullptr, nullptr},
                    out_memory, out_info);
}

km_status memory_from_host(kmb_context* context, void* pointer, uint64_t size_bytes,
                           km_release_callback release, void* user_data, kmb_memory** out_memory,
                           kmb_memory_info* out_info, kmb_error* error) {
  if (const km_status status = begin_call(error)) return status;
  const kmb_memory_info info{reinterpret_cast<uint64_t>(pointer), pointer, size_bytes, 0};
  return add_memory(context, new kmb_memory{context, info, nullptr, release, user_data}, out_memory,
                    out_info);
}

km_status memory_share(kmb_memory*, kmb_shared_memory*, kmb_error*) {
  return KM_ERROR_NOT_SUPPORTED;
}

void memory_destroy(kmb_memory* memory, const kmb_use* uses, uint64_t use_count) {
  kmb_context* context = memory->context;
  {
    const std::lock_guard lock(context->mutex);
    context->freed.push_back({memory, {uses, uses + use_count}});
    ++context->references;
  }
  free_unused(context, nullptr);
  release_context(context);
}

km_status host_memory_create(kmb_context* context, uint64_t size_bytes, kmb_memory** out_memory,
                             kmb_memory_info* out_info, kmb_error* error) {
  return memory_create(context, nullptr, size_bytes, 0, out_memory, out_info, error);
}

km_status host_memory_register(kmb_context* context, void* pointer, uint64_t size_bytes,
                               kmb_memory** out_memory, kmb_memory_info* out_info,
                               kmb_error* error) {
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t inside = reinterpret_cast<uint64_t>(pointer) % page;
  if (msync(static_cast<char*>(pointer) - inside, size_bytes + inside, MS_ASYNC) != 0) {
    return fail(KM_ERROR_INVALID_ARGUMENT, "the memory is not mapped", error);
  }
  return memory_from_host(context, pointer, size_bytes, nullptr, nullptr, out_memory, out_info,
                          error);
}

km_status copy_bytes(kmb_stream* stream, void* destination, const void* source, uint64_t size,
                     bool wait, const kmb_queued* queued, uint64_t* out_ticket, kmb_error* error) {
  const km_status status = enqueue(
      stream, [=](km_status) { std::memcpy(destination, source, size); }, out_ticket, error);
  if (wait && queued != nullptr) queued->call(queued->user_data, *out_ticket);
  if (wait) drain(stream);
  return status;
}

km_status copy_to_device(kmb_stream* stream, uint64_t destination, const void* source,
                         uint64_t size_bytes, uint32_t pinned, const kmb_queued* queued,
                         uint64_t* out_ticket, kmb_error* error) {
  return copy_bytes(stream, reinterpret_cast<void*>(destination), source, size_bytes, pinned == 0,
                    queued, out_ticket, error);
}

km_status copy_to_host(kmb_stream* stream, void* destination, uint64_t source, uint64_t size_bytes,
                       uint32_t pinned, const kmb_queued* queued, uint64_t* out_ticket,
                       kmb_error* error) {
  return copy_bytes(stream, destination, reinterpret_cast<const void*>(source), size_bytes,
                    pinned == 0, queued, out_ticket, error);
}

km_status copy_on_device(kmb_stream* stream, uint64_t destination, uint64_t source,
                         uint64_t size_bytes, uint64_t* out_ticket, kmb_error* error) {
  return copy_bytes(stream, reinterpret_cast<void*>(destination),
                    reinterpret_cast<const void*>(source), size_bytes, false, nullptr, out_ticket,
                    error);
}

km_status fill(kmb_stream* stream, uint64_t destination, uint32_t value, uint32_t value_size_bytes,
               uint64_t count, uint64_t* out_ticket, kmb_error* error) {
  return enqueue(
      stream,
      [=](km_status) {
        for (uint64_t i = 0; i < count; ++i) {
          std::memcpy(reinterpret_cast<char*>(destination) + i * value_size_bytes, &value,
                      value_size_bytes);
        }
      },
      out_ticket, error);
}

/// Calls `move(destination, source)` for each row.
template <class Move>
void for_rows(const kmb_copy_3d& copy, Move move) {
  for (uint64_t z = 0; z < copy.depth; ++z) {
    for (uint64_t y = 0; y < copy.height; ++y) {
      move(reinterpret_cast<char*>(copy.destination) +
               (z * copy.destination_layer_rows + y) * copy.destination_pitch_bytes,
           reinterpret_cast<const char*>(copy.source) +
               (z * copy.source_layer_rows + y) * copy.source_pitch_bytes);
    }
  }
}

km_status copy_3d(kmb_stream* stream, const kmb_copy_3d* copy, const kmb_queued* queued,
                  uint64_t* out_ticket, kmb_error* error) {
  const km_status status = enqueue(
      stream,
      [copy = *copy](km_status) {
        for_rows(copy,
                 [&](char* to, const char* from) { std::memcpy(to, from, copy.width_bytes); });
      },
      out_ticket, error);
  if (copy->source_space == KMB_SPACE_HOST || copy->destination_space == KMB_SPACE_HOST) {
    if (queued != nullptr) queued->call(queued->user_data, *out_ticket);
    drain(stream);
  }
  return status;
}

km_status fill_2d(kmb_stream* stream, uint64_t destination, uint64_t pitch_bytes, uint32_t value,
                  uint32_t value_size_bytes, uint64_t width_count, uint64_t height,
                  uint64_t* out_ticket, kmb_error* error) {
  kmb_copy_3d rows{};
  rows.destination = destination;
  rows.destination_pitch_bytes = pitch_bytes;
  rows.height = height;
  rows.depth = 1;
  return enqueue(
      stream,
      [=](km_status) {
        for_rows(rows, [&](char* to, const char*) {
          for (uint64_t i = 0; i < width_count; ++i) {
            std::memcpy(to + i * value_size_bytes, &value, value_size_bytes);
          }
        });
      },
      out_ticket, error);
}

km_status copy_peer(kmb_stream* stream, kmb_context*, uint64_t destination, kmb_context*,
                    uint64_t source, uint64_t size_bytes, uint64_t* out_ticket, kmb_error* error) {
  return copy_on_device(stream, destination, source, size_bytes, out_ticket, error);
}

km_status device_can_access_peer(kmb_device* device, kmb_device* peer, uint32_t* out_can_access,
                                 kmb_error*) {
  *out_can_access = device->ordinal != peer->ordinal;
  return KM_SUCCESS;
}

km_status context_set_peer_access(kmb_context*, kmb_context*, uint32_t, kmb_error* error) {
  return begin_call(error);
}

km_status launch(kmb_stream* stream, kmb_function* function, const kmb_launch* launch,
                 uint64_t* out_ticket, kmb_error* error) {
  const char* bytes = static_cast<const char*>(launch->arguments);
  std::vector<char> arguments(bytes, bytes + launch->arguments_size_bytes);
  return enqueue(
      stream,
      [stream, function, arguments = std::move(arguments)](km_status) {
        const km_status status = run_kernel(*function, arguments);
        if (status == KM_SUCCESS) return;
        const std::lock_guard lock(stream->context->mutex);
        stream->context->sticky = status;
        stream->context->sticky_text = "kernel '" + function->name + "' executed trap";
      },
      out_ticket, error);
}

kmb_backend make_table() {
  kmb_backend table = module_entries();
  table.abi_major = KMB_ABI_MAJOR;
  table.abi_minor = KMB_ABI_MINOR;
  table.size = sizeof table;
  table.name = "fake";
  table.build_id = KM_BUILD_ID;
  table.initialize = initialize;
  table.device_count = device_count;
  table.device_open = device_open;
  table.device_close = device_close;
  table.device_info = device_info;
  table.device_attribute = device_attribute;
  table.context_create = context_create;
  table.context_destroy = context_destroy;
  table.context_synchronize = context_synchronize;
  table.context_memory_info = context_memory_info;
  table.context_reset = context_reset;
  table.context_status = context_status;
  table.context_set_output = context_set_output;
  table.stream_create = stream_create;
  table.stream_destroy = stream_destroy;
  table.stream_synchronize = stream_synchronize;
  table.stream_wait_event = stream_wait_event;
  table.stream_add_callback = stream_add_callback;
  table.stream_ticket = stream_ticket;
  table.stream_query_ticket = stream_query_ticket;
  table.stream_wait_ticket = stream_wait_ticket;
  table.event_create = event_create;
  table.event_destroy = event_destroy;
  table.event_record = event_record;
  table.event_synchronize = event_synchronize;
  table.event_elapsed = event_elapsed;
  table.memory_create = memory_create;
  table.memory_from_host = memory_from_host;
  table.memory_share = memory_share;
  table.memory_destroy = memory_destroy;
  table.host_memory_create = host_memory_create;
  table.host_memory_register = host_memory_register;
  table.copy_to_device = copy_to_device;
  table.copy_to_host = copy_to_host;
  table.copy_on_device = copy_on_device;
  table.fill = fill;
  table.copy_3d = copy_3d;
  table.fill_2d = fill_2d;
  table.copy_peer = copy_peer;
  table.device_can_access_peer = device_can_access_peer;
  table.context_set_peer_access = context_set_peer_access;
  table.launch = launch;
  add_graph_entries(&table);
  add_blas_entries(&table);
  return table;
}

}  // namespace

FakeCounters& fake_counters() {
  static FakeCounters counters;
  return counters;
}

void fake_set_deferred(bool deferred) { g_deferred = deferred; }
}  // namespace km::test

kmb_stream::~kmb_stream() {
  --km::test::fake_counters().streams;
  km::test::release_context(context);
}

namespace km::test {

bool is_deferred() { return g_deferred; }

void fake_fail_call(int after, km_status status) {
  g_failure = status;
  g_calls_to_failure = after;
}

km_status begin_call(kmb_error* error) {
  ++fake_counters().calls;
  if (g_calls_to_failure < 0 || g_calls_to_failure-- != 0) return KM_SUCCESS;
  return fail(g_failure, "made to fail", error);
}

km_status fail(km_status status, const char* text, kmb_error* error) {
  std::snprintf(error->message, sizeof error->message, "%s", text);
  error->native_code = 7;
  return status;
}

km_status check_sticky(kmb_context* context, kmb_error* error) {
  const std::lock_guard lock(context->mutex);
  if (context->sticky == KM_SUCCESS) return KM_SUCCESS;
  return fail(context->sticky, context->sticky_text.c_str(), error);
}

const kmb_backend& fake_backend() {
  static const kmb_backend table = make_table();
  return table;
}

}  // namespace km::test
