#include "core/stream/stream.h"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include "backend/stream_flags.h"
#include "base/assert.h"
#include "core/object/backend_call.h"
#include "core/object/callback.h"
#include "core/stream/event.h"
#include "core/stream/stream_capture.h"

namespace km {
namespace {

std::atomic<uint64_t> g_stream_count{0};

Status check_priority(const Device& device, int32_t priority) {
  KM_ASSIGN(const int64_t least, device.attribute(KM_DEVICE_ATTRIBUTE_STREAM_PRIORITY_LEAST));
  KM_ASSIGN(const int64_t greatest, device.attribute(KM_DEVICE_ATTRIBUTE_STREAM_PRIORITY_GREATEST));
  if (priority >= std::min(least, greatest) && priority <= std::max(least, greatest)) return {};
  return make_error(
      KM_ERROR_INVALID_ARGUMENT, "priority is %d; device %s has %lld (greatest) to %lld (least)",
      priority, device.info().uri, static_cast<long long>(greatest), static_cast<long long>(least));
}

}  // namespace

Status require_same_context(const Context& expected, const Context& given, const char* what) {
  if (&expected == &given) return {};
  return make_error(
      KM_ERROR_CONTEXT_MISMATCH,
      "%s belongs to another context (of device %s) than the rest of the call (of device %s)", what,
      given.device().info().uri, expected.device().info().uri);
}

uint64_t new_stream_number() { return ++g_stream_count; }

Result<Ref<Stream>> Stream::create(Context& context, km_stream_flags flags, int32_t priority) {
  // Every device supports priority 0, so the query of the device is skipped.
  if (priority != 0) KM_TRY(check_priority(context.device(), priority));
  Ref<Stream> stream = Ref<Stream>::adopt(new Stream(context, make_ref<CaptureSlot>()));
  stream->priority_ = priority;
  if (context.is_ordered()) flags |= KMB_STREAM_ORDERED;
  KM_TRY(call_backend(context.backend().stream_create, context.native(), flags, priority,
                      &stream->native_));
  stream->number_ = new_stream_number();
  KM_ASSERT(stream->native_ != nullptr && stream->number_ != 0, "a stream has its native one");
  return stream;
}

Result<Ref<Stream>> Stream::share_default(Context& context) {
  Ref<Stream> stream = Ref<Stream>::adopt(new Stream(context, context.default_capture_slot()));
  KM_ASSIGN(stream->default_, context.default_stream());
  stream->native_ = stream->default_->native;
  stream->number_ = stream->default_->number;
  KM_ASSERT(stream->native_ != nullptr && stream->number_ != 0,
            "a default stream that is shared has been made");
  return stream;
}

Stream::~Stream() {
  drop_capture();  // a stream without a handle never ran handle_gone()
  if (native_ != nullptr && !default_) backend().stream_destroy(native_);
}

void Stream::handle_gone() {
  drop_capture();
  unref();
}

void Stream::drop_capture() {
  if (!std::exchange(uses_capture_, false)) return;
  if (capture_->drop_user()) leave_capture(context().captures(), *capture_);
}

Status Stream::drain() {
  return call_backend(backend().stream_synchronize, native_, KMB_WAIT_FOREVER);
}

bool Stream::is_idle() {
  return static_cast<bool>(call_backend(backend().stream_synchronize, native_, uint64_t{0}));
}

Status Stream::synchronize(const MayBlock&, uint64_t timeout_ns) { return wait(timeout_ns); }
Status Stream::poll() { return wait(0); }

Status Stream::wait(uint64_t timeout_ns) {
  if (is_capturing()) [[unlikely]]
    return refuse_capture(*this, "waiting for");
  const ProfiledWait wait(context().profiler(), "synchronize stream");
  return wait_for_work(timeout_ns);
}

Status Stream::wait_for_work(uint64_t timeout_ns) {
  Status status = call_backend(backend().stream_synchronize, native_, timeout_ns);
  if (!status && status.error().status == KM_NOT_READY) status.error().status = KM_TIMEOUT;
  return status;
}

Status Stream::query() {
  if (is_capturing()) [[unlikely]]
    return refuse_capture(*this, "asking for the state of");
  return ask_for_work();
}

Status Stream::ask_for_work() {
  Status status = call_backend(backend().stream_synchronize, native_, uint64_t{0});
  if (!status && status.error().status == KM_TIMEOUT) status.error().status = KM_NOT_READY;
  return status;
}

Status Stream::wait_event(Event& event) {
  if (is_capturing() || event.is_captured()) [[unlikely]]
    return capture_wait(*this, event);
  if (&backend() != &event.backend()) {
    return make_error(KM_ERROR_CONTEXT_MISMATCH,
                      "the event belongs to device %s, the stream to %s of another backend",
                      event.context().device().info().uri, context().device().info().uri);
  }
  return call_backend(backend().stream_wait_event, native_, event.native());
}

bool Stream::awaits_already(uint64_t other_number, uint64_t ticket) {
  const std::lock_guard lock(awaited_lock_);
  return std::any_of(awaited_.begin(), awaited_.end(), [&](const Awaited& known) {
    return known.stream_number == other_number && known.ticket >= ticket;
  });
}

Status Stream::wait_for(const Stream& other, uint64_t ticket) {
  KM_ASSERT(&backend() == &other.backend(), "tickets are of one backend");
  KM_ASSERT(other.number() != number_, "a stream keeps its own order without waiting");
  if (awaits_already(other.number(), ticket)) return {};
  KM_TRY(call_backend(backend().stream_wait_ticket, native_, other.native(), &ticket));
  const std::lock_guard lock(awaited_lock_);
  for (Awaited& known : awaited_) {
    if (known.stream_number != other.number()) continue;
    known.ticket = std::max(known.ticket, ticket);
    return {};
  }
  awaited_[next_awaited_++ % awaited_.size()] = {other.number(), ticket};
  return {};
}

bool Stream::is_over(uint64_t ticket) noexcept {
  try {
    if (backend().stream_query_ticket == nullptr) return is_idle();
    return static_cast<bool>(call_backend(backend().stream_query_ticket, native_, ticket));
  } catch (const std::bad_alloc&) {
    return false;
  }
}

uint64_t Stream::last_ticket() noexcept {
  uint64_t ticket = 0;
  try {
    const auto ask = backend().stream_ticket;
    if (ask != nullptr && call_backend(ask, native_, &ticket)) return ticket;
    static_cast<void>(drain());
  } catch (const std::bad_alloc&) {
    return 0;
  }
  return 0;  // drain() has completed all work, so ticket 0 suffices
}

Status Stream::queue_callback(km_host_callback callback, void* user_data) {
  std::unique_ptr<HostCallbackBox> box(new HostCallbackBox{callback, user_data});
  KM_TRY(call_backend(backend().stream_add_callback, native_, &HostCallbackBox::run_and_delete,
                      static_cast<void*>(box.get())));
  static_cast<void>(box.release());  // the backend calls it once and deletes it
  return {};
}

}  // namespace km
