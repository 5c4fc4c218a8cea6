#include <cmath>

#include "backends/cuda/context/wait.h"
#include "backends/cuda/driver/let_go.h"
#include "backends/cuda/stream/stream.h"

namespace km::cuda {

Result<std::unique_ptr<Event>> Event::create(std::shared_ptr<Epoch> epoch, unsigned flags) {
  std::unique_ptr<Event> event(new Event(std::move(epoch)));
  KM_TRY(event->epoch_->check(driver().cuEventCreate(&event->handle_, flags)));
  return event;
}

Event::~Event() {
  const Alive alive(*epoch_);
  if (handle_ == nullptr || !alive) return;
  const Current current(*epoch_);
  check_destroyed(driver().cuEventDestroy_v2(handle_));
}

km_status event_create(kmb_context* context, km_event_flags flags, kmb_event** out_event,
                       kmb_error* error) {
  return guarded(error, [&]() -> Status {
    KM_ASSIGN(const std::shared_ptr<Epoch> epoch, live_epoch(context));
    const Current current(*epoch);
    KM_TRY(require_current(*epoch, current));
    const unsigned native =
        (flags & KM_EVENT_DISABLE_TIMING) != 0 ? cu::CU_EVENT_DISABLE_TIMING : cu::CU_EVENT_DEFAULT;
    KM_ASSIGN(std::unique_ptr<Event> event, Event::create(epoch, native));
    *out_event = to(event.release());
    return {};
  });
}

void event_destroy(kmb_event* event) { let_go(std::unique_ptr<Event>(from(event))); }

km_status event_record(kmb_event* event, kmb_stream* stream, kmb_error* error) {
  uint64_t ticket = 0;
  return enqueue(stream, &ticket, error, [&](Stream& target) {
    return target.epoch()->check(driver().cuEventRecord(from(event)->handle(), target.handle()));
  });
}

km_status event_synchronize(kmb_event* event, uint64_t timeout_ns, kmb_error* error) {
  const cu::CUevent handle = from(event)->handle();
  const auto ask = [&] { return driver().cuEventQuery(handle); };
  const auto wait = [&] { return driver().cuEventSynchronize(handle); };
  return wait_for(*from(event)->epoch(), timeout_ns, ask, wait, error);
}

km_status event_elapsed(kmb_event* start, kmb_event* end, int64_t* out_elapsed_ns,
                        kmb_error* error) {
  return guarded(error, [&]() -> Status {
    Epoch& epoch = *from(start)->epoch();
    KM_TRY(epoch.require_alive());
    const Current current(epoch);
    KM_TRY(require_current(epoch, current));
    float milliseconds = 0;
    const Called called =
        driver().cuEventElapsedTime(&milliseconds, from(start)->handle(), from(end)->handle());
    if (called.result == cu::CUDA_ERROR_NOT_READY) return Error{KM_NOT_READY, {}, 0};
    if (called.result == cu::CUDA_ERROR_INVALID_HANDLE) {
      return Error{KM_ERROR_INVALID_ARGUMENT, "one of the events was never recorded",
                   called.result};
    }
    KM_TRY(epoch.check(called));
    *out_elapsed_ns = std::llround(double{milliseconds} * 1e6);
    return {};
  });
}

}  // namespace km::cuda
