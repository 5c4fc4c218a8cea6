#include "backends/vulkan/stream/stream.h"

#include "backends/vulkan/stream/context.h"
#include "backends/vulkan/stream/event.h"
#include "backends/vulkan/stream/scheduler.h"
#include "base/callback/callback_thread.h"

namespace km::vulkan {

Result<uint64_t> Stream::add(std::vector<Step> steps) {
  KM_TRY(Scheduler::instance().start());
  return Scheduler::instance().add(*this, std::move(steps));
}

Result<uint64_t> Stream::add(Step step) {
  std::vector<Step> steps;
  steps.push_back(std::move(step));
  return add(std::move(steps));
}

uint64_t Stream::last_ticket() const {
  return Scheduler::instance().locked([this] { return added_ticket_; });
}

bool Stream::is_over(uint64_t ticket) const {
  return epoch().has_failed() ||
         Scheduler::instance().locked([&] { return ticket <= over_ticket_; });
}

bool Stream::wait(uint64_t timeout_ns) const {
  const uint64_t last = last_ticket();
  return Scheduler::instance().wait(timeout_ns, [&] { return last <= over_ticket_; });
}

void Stream::wait_for(uint64_t ticket) const {
  Scheduler::instance().wait(KMB_WAIT_FOREVER, [&] { return ticket <= over_ticket_; });
}

km_status stream_create(kmb_context* context, km_stream_flags, int32_t, kmb_stream** out_stream,
                        kmb_error* error) {
  return guarded(error, [&]() -> Status {
    KM_ASSIGN(const std::shared_ptr<Stream> stream, from(context)->make_stream());
    stream->self = stream;
    *out_stream = to(stream.get());
    return {};
  });
}

void stream_destroy(kmb_stream* stream) {
  const std::shared_ptr<Stream> last = std::move(from(stream)->self);
}

km_status stream_synchronize(kmb_stream* handle, uint64_t timeout_ns, kmb_error* error) {
  return caught(error, [&]() -> km_status {
    const Stream& stream = *from(handle);
    const bool is_over = stream.wait(timeout_ns);
    if (is_over && timeout_ns != 0) stream.workspace().output->flush();
    if (stream.epoch().has_failed()) return report(stream.epoch().failure(), error);
    if (is_over) return KM_SUCCESS;
    return timeout_ns == 0 ? KM_NOT_READY : KM_TIMEOUT;
  });
}

km_status stream_wait_event(kmb_stream* stream, kmb_event* event, kmb_error* error) {
  uint64_t ticket = 0;
  return enqueue(stream, &ticket, error,
                 [&](Stream&) -> Result<Step> { return wait_for_mark(from(event)->latest()); });
}

km_status stream_wait_ticket(kmb_stream* stream, kmb_stream* other, uint64_t* inout_ticket,
                             kmb_error* error) {
  uint64_t ticket = 0;
  return enqueue(stream, &ticket, error, [&](Stream&) -> Result<Step> {
    auto mark = std::make_shared<Mark>();
    mark->stream = from(other)->shared_from_this();
    mark->ticket = *inout_ticket;
    return wait_for_mark(mark);
  });
}

km_status stream_add_callback(kmb_stream* stream, km_host_callback callback, void* user_data,
                              kmb_error* error) {
  uint64_t ticket = 0;
  return enqueue(stream, &ticket, error, [&](Stream&) { return host_call(callback, user_data); });
}

Result<Step> host_call(km_host_callback callback, void* user_data) {
  if (!start_callback_thread()) return no_callback_thread();
  Step step;
  step.follows_all = true;
  step.callback = [callback, user_data](km_status status) { callback(user_data, status); };
  return step;
}

km_status stream_ticket(kmb_stream* stream, uint64_t* out_ticket, kmb_error*) {
  *out_ticket = from(stream)->last_ticket();
  return KM_SUCCESS;
}

km_status stream_query_ticket(kmb_stream* stream, uint64_t ticket, kmb_error*) {
  return from(stream)->is_over(ticket) ? KM_SUCCESS : KM_NOT_READY;
}

}  // namespace km::vulkan
