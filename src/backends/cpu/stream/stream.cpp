// Entries of streams, and waits for several tickets.
#include "backends/cpu/stream/stream.h"

#include <memory>

#include "backend/stream_flags.h"
#include "backends/cpu/device/context.h"
#include "backends/cpu/device/entries.h"
#include "backends/cpu/order/stream_order.h"
#include "backends/cpu/stream/event.h"
#include "backends/cpu/stream/marker.h"
#include "backends/cpu/threads/futex.h"
#include "base/callback/callback_thread.h"
#include "base/memory/host_allocator.h"

namespace km::cpu {

void when_all_complete(std::span<const kmb_use> uses, std::function<void()> action) {
  struct Countdown {
    std::atomic<size_t> left;
    std::function<void()> action;
  };
  // The caller counts too, so that the action does not run before all tickets are registered.
  auto countdown = std::make_shared<Countdown>(uses.size() + 1, std::move(action));
  auto one_less = [countdown] {
    if (countdown->left.fetch_sub(1, std::memory_order_acq_rel) == 1) countdown->action();
  };
  for (const kmb_use& use : uses) from(use.stream)->when_complete(use.ticket, one_less);
  one_less();
}

void wait_for_all(std::span<const kmb_use> uses) noexcept {
  const HostMemoryNeeded needed;
  for (const kmb_use& use : uses) from(use.stream)->wait(use.ticket, kForever);
}

Command* new_command(Stream* stream, CommandKind kind) {
  Command* command = stream->allocate();
  if (command == nullptr) throw std::bad_alloc();
  command->kind = kind;
  return command;
}

km_status stream_create(kmb_context* context, km_stream_flags flags, int32_t priority,
                        kmb_stream** out_stream, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    KM_TRY(from(context)->check());
    Stream* const stream = Stream::open(from(context), priority);
    stream->set_ordered((flags & KMB_STREAM_ORDERED) != 0);
    *out_stream = to(stream);
    return {};
  });
}

void stream_destroy(kmb_stream* stream) { from(stream)->close(); }

km_status stream_synchronize(kmb_stream* handle, uint64_t timeout_ns, kmb_error* error) {
  return caught(error, [&]() -> km_status {
    Stream* stream = from(handle);
    Context* context = stream->context();
    const StreamOrder::Clock known = stream->known_order();
    bool done = context->failed() || stream->wait(stream->submitted(), timeout_ns);
    const bool failed = context->failed();
    if (!done && !failed) return timeout_ns == 0 ? KM_NOT_READY : KM_TIMEOUT;
    if (!failed) StreamOrder::note_wait(known);
    if (timeout_ns != 0) context->output().flush();
    return failed ? report(context->failure(), error) : KM_SUCCESS;
  });
}

km_status stream_wait_event(kmb_stream* handle, kmb_event* event, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    Stream* stream = from(handle);
    KM_TRY(stream->context()->check());
    if (const StreamOrder::Clock known = from(event)->order()) [[unlikely]]
      StreamOrder::active()->wait(stream->order_number(), *known);
    Marker* marker = from(event)->latest();
    if (marker == nullptr) return {};
    if (marker->done() || marker->stream() == stream) {
      marker->release();
      return {};
    }
    Command* command = new_command(stream, CommandKind::wait);
    command->marker = marker;
    stream->submit(command);
    return {};
  });
}

km_status stream_wait_ticket(kmb_stream* handle, kmb_stream* other_handle, uint64_t* inout_ticket,
                             kmb_error* error) {
  return guarded(error, [&]() -> Status {
    Stream* stream = from(handle);
    Stream* other = from(other_handle);
    KM_TRY(stream->context()->check());
    if (const StreamOrder::Clock known = other->known_order()) [[unlikely]]
      StreamOrder::active()->wait(stream->order_number(), *known);
    if (other == stream || other->is_complete(*inout_ticket)) return {};
    Command* command = new_command(stream, CommandKind::wait);
    try {
      command->marker = Marker::make(other);
    } catch (const std::bad_alloc&) {
      stream->discard(command);
      throw;
    }
    command->marker->restart(other, *inout_ticket);
    stream->submit(command);
    return {};
  });
}

km_status stream_add_callback(kmb_stream* handle, km_host_callback callback, void* user_data,
                              kmb_error* error) {
  return guarded(error, [&]() -> Status {
    Stream* stream = from(handle);
    KM_TRY(stream->context()->check());
    if (!start_callback_thread()) return no_callback_thread();
    Command* command = new_command(stream, CommandKind::callback);
    command->callback = callback;
    command->user_data = user_data;
    stream->submit_light(command);
    return {};
  });
}

}  // namespace km::cpu
