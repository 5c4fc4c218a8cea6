#include "backends/cuda/stream/stream.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <vector>

#include "backends/cuda/context/host_call.h"
#include "backends/cuda/context/wait.h"
#include "backends/cuda/driver/let_go.h"
#include "backends/cuda/driver/reaper.h"
#include "backends/cuda/stream/held_streams.h"
#include "base/assert.h"
#include "base/env.h"

namespace km::cuda {
Result<std::shared_ptr<Stream>> Stream::create(const Context& context, int32_t priority) {
  std::shared_ptr<Epoch> epoch = context.epoch();
  KM_TRY(epoch->require_alive());
  const Current current(*epoch);
  KM_TRY(require_current(*epoch, current));
  std::shared_ptr<Stream> stream = share(std::unique_ptr<Stream>(new Stream(context, epoch)));
  // The streams are non-blocking: the host program's legacy default stream does not wait for them,
  // nor they for it.
  KM_TRY(epoch->check(
      driver().cuStreamCreateWithPriority(&stream->handle_, cu::CU_STREAM_NON_BLOCKING, priority)));
  return stream;
}

Stream::~Stream() {
  const Alive alive(*epoch_);
  if (handle_ == nullptr || !alive) return;
  const Current current(*epoch_);
  for (const cu::CUevent event : {marker_, order_}) {
    if (event != nullptr) check_destroyed(driver().cuEventDestroy_v2(event));
  }
  check_destroyed(driver().cuStreamDestroy_v2(handle_));  // queued work still completes
}

void Stream::hold_tickets(const char* call) {
  const std::lock_guard lock(marker_mutex_);
  HeldStreams::instance().hold(this, call);
  if (holder_count_++ == 0) held_ticket_ = last_ticket();
}

void Stream::release_tickets() {
  const std::lock_guard lock(marker_mutex_);
  HeldStreams::instance().release(this);
  if (--holder_count_ == 0) released_.notify_all();
}

/// The last ticket whose work, and all before it, is in the driver's stream. The caller holds the
/// lock.
uint64_t Stream::queued_ticket() const { return holder_count_ == 0 ? last_ticket() : held_ticket_; }

/// Records order_ in the stream's own context, so that it completes after the ticket. The caller
/// holds the lock.
Status Stream::record_order(uint64_t ticket) {
  if (order_ticket_ >= ticket) return {};
  const Current current(*epoch_);
  KM_TRY(require_current(*epoch_, current));
  if (order_ == nullptr) {
    cu::CUevent made = nullptr;
    KM_TRY(epoch_->check(driver().cuEventCreate(&made, cu::CU_EVENT_DISABLE_TIMING)));
    order_ = made;
  }
  const uint64_t queued = queued_ticket();
  KM_TRY(epoch_->check(driver().cuEventRecord(order_, handle_)));
  order_ticket_ = queued;
  return {};
}

namespace {

/// The error of a thread that would wait for one that waits for it.
Error would_wait_for_each_other(const HeldStreams::Holder& holder) {
  const std::optional<HeldStreams::Holder> own = HeldStreams::instance().own_hold();
  return make_error(KM_ERROR_IO,
                    "%s in a group of thread %u and %s in a group of thread %u would wait for each "
                    "other: groups that use the same memory, each in several streams, have to be "
                    "made one after the other",
                    own ? own->call : "a call", thread_number(), holder.call, holder.number);
}

/// The error of a thread that has waited for the limit.
Error has_waited(uint64_t limit_s, const HeldStreams::Holder& holder) {
  return make_error(KM_ERROR_IO,
                    "thread %u has waited %llu s (KM_COMM_TIMEOUT_S) for %s in a group of thread "
                    "%u, which has not ended",
                    thread_number(), static_cast<unsigned long long>(limit_s), holder.call,
                    holder.number);
}

}  // namespace

/// Waits until the groups that hold the ticket have ended, unless one of them waits for the calling
/// thread's. The caller holds the lock.
Status Stream::await_queued(uint64_t ticket, std::unique_lock<std::mutex>& lock) {
  const auto is_queued = [&] { return ticket <= queued_ticket(); };
  if (is_queued()) return {};
  HeldStreams& held = HeldStreams::instance();
  if (held.is_held_here(this)) {
    return make_error(KM_ERROR_INVALID_ARGUMENT,
                      "operations of one group use the same memory, or wait for each other");
  }
  KM_ASSIGN(const uint64_t limit_s, env_comm_timeout_s());
  if (const auto blocking = held.begin_wait(this)) return would_wait_for_each_other(*blocking);
  const bool is_over = released_.wait_for(lock, std::chrono::seconds(limit_s), is_queued);
  held.end_wait();
  if (is_over) return {};
  return has_waited(limit_s, held.holder_of(this));
}

Status Stream::wait_for(Stream& other, uint64_t* inout_ticket) {
  const Alive alive(*other.epoch_);
  if (!alive) return {};
  std::unique_lock lock(other.marker_mutex_);
  if (*inout_ticket <= other.over_ticket_) return {};
  KM_TRY(other.await_queued(*inout_ticket, lock));
  const Status recorded = other.record_order(*inout_ticket);
  if (other.epoch_->has_failed()) return {};
  if (!recorded) return recorded.error();
  const Current current(*epoch_);
  KM_TRY(require_current(*epoch_, current));
  KM_TRY(epoch_->check(driver().cuStreamWaitEvent(handle_, other.order_, 0)));
  *inout_ticket = other.order_ticket_;
  return {};
}

/// Queues a marker event. The caller holds the lock, and the context is current.
bool Stream::set_marker() {
  const uint64_t ticket = queued_ticket();
  if (marker_ == nullptr) {
    cu::CUevent made = nullptr;
    if (!epoch_->check(driver().cuEventCreate(&made, cu::CU_EVENT_DISABLE_TIMING))) return false;
    marker_ = made;
  }
  if (!epoch_->check(driver().cuEventRecord(marker_, handle_))) return false;
  marker_ticket_ = ticket;
  return true;
}

bool Stream::is_over(uint64_t ticket) {
  const Alive alive(*epoch_);
  if (!alive) return true;
  const std::lock_guard lock(marker_mutex_);
  if (ticket <= over_ticket_) return true;
  // A ticket that was noted for a call that failed is never given: only held ones are waited for.
  if (holder_count_ != 0 && ticket > queued_ticket()) return false;
  const Current current(*epoch_);
  // The loop runs at most twice: an existing marker may be older than the ticket.
  while (true) {
    const uint64_t last = queued_ticket();
    if (marker_ticket_ == 0 && driver().cuStreamQuery(handle_).ok()) {
      over_ticket_ = last;
      return true;
    }
    if (marker_ticket_ == 0 && !set_marker()) break;
    const Called called = driver().cuEventQuery(marker_);
    if (called.result == cu::CUDA_ERROR_NOT_READY) return false;
    if (!called.ok()) {
      static_cast<void>(epoch_->check(called));
      break;
    }
    over_ticket_ = std::max(over_ticket_, std::exchange(marker_ticket_, 0));
    if (ticket <= over_ticket_) return true;
  }
  if (epoch_->has_failed()) return true;
  marker_ticket_ = 0;
  return driver().cuStreamQuery(handle_).ok();
}

void Stream::note_over(uint64_t ticket) {
  const std::lock_guard lock(marker_mutex_);
  over_ticket_ = std::max(over_ticket_, std::min(ticket, queued_ticket()));
}

void when_over(std::span<const kmb_use> uses, std::function<void()> action) {
  struct Use {
    std::shared_ptr<Stream> stream;
    uint64_t ticket;
  };
  std::vector<Use> left;
  for (const kmb_use& use : uses) {
    left.push_back({from(use.stream)->shared_from_this(), use.ticket});
  }
  const auto are_over = [left = std::move(left)]() mutable {
    std::erase_if(left, [](const Use& use) { return use.stream->is_over(use.ticket); });
    return left.empty();
  };
  std::function<bool()> ask(are_over);
  if (!in_host_function() && ask()) {
    action();
    return;
  }
  const bool is_posted = post_job([ask, action] {
    if (!ask()) return false;
    action();
    return true;
  });
  if (is_posted) return;
  for (const kmb_use& use : uses) {  // without a thread, waiting here is the only way
    static_cast<void>(driver().cuStreamSynchronize(from(use.stream)->handle()));
  }
  action();
}

km_status stream_create(kmb_context* context, km_stream_flags, int32_t priority,
                        kmb_stream** out_stream, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    KM_ASSIGN(const std::shared_ptr<Stream> stream, Stream::create(*from(context), priority));
    stream->self = stream;
    *out_stream = to(stream.get());
    return {};
  });
}

void stream_destroy(kmb_stream* stream) {
  const std::shared_ptr<Stream> last = std::move(from(stream)->self);
}

km_status stream_synchronize(kmb_stream* stream, uint64_t timeout_ns, kmb_error* error) {
  Stream& target = *from(stream);
  const auto ask = [&] { return driver().cuStreamQuery(target.handle()); };
  const auto wait = [&] { return driver().cuStreamSynchronize(target.handle()); };
  const uint64_t last = target.last_ticket();
  const km_status status = wait_for(*target.epoch(), timeout_ns, ask, wait, error);
  // Callbacks of the stream's work are over when a wait for it ends, whether it failed or not.
  if (timeout_ns == KMB_WAIT_FOREVER && target.epoch()->has_failed()) {
    target.epoch()->finish_lost_calls();
  }
  if (status == KM_SUCCESS) {
    target.note_over(last);
    if (target.profile().is_on()) target.profile().collect();
    if (timeout_ns != 0) wake_reaper();
  }
  return status;
}

km_status stream_wait_event(kmb_stream* stream, kmb_event* event, kmb_error* error) {
  uint64_t ticket = 0;
  return enqueue(stream, &ticket, error, [&](Stream& target) -> Status {
    if (from(event)->epoch()->has_failed()) return {};  // a failed context has nothing to wait for
    return target.epoch()->check(
        driver().cuStreamWaitEvent(target.handle(), from(event)->handle(), 0));
  });
}

km_status stream_wait_ticket(kmb_stream* stream, kmb_stream* other, uint64_t* inout_ticket,
                             kmb_error* error) {
  uint64_t ticket = 0;
  return enqueue(stream, &ticket, error,
                 [&](Stream& target) { return target.wait_for(*from(other), inout_ticket); });
}

km_status stream_add_callback(kmb_stream* stream, km_host_callback callback, void* user_data,
                              kmb_error* error) {
  uint64_t ticket = 0;
  return enqueue(stream, &ticket, error, [&](Stream& target) -> Status {
    const auto call = std::make_shared<HostCall>(target.epoch(), callback, user_data, nullptr);
    const ProfiledOperation profiled(target.profile(), target.epoch(), target.handle(),
                                     KM_PROFILE_KIND_CALLBACK, stream, 0);
    return HostCall::queue(target.epoch(), target.handle(), call);
  });
}

km_status stream_ticket(kmb_stream* stream, uint64_t* out_ticket, kmb_error*) {
  *out_ticket = from(stream)->last_ticket();
  return KM_SUCCESS;
}

km_status stream_query_ticket(kmb_stream* stream, uint64_t ticket, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    if (from(stream)->is_over(ticket)) return {};
    return Error{KM_NOT_READY, {}, 0};
  });
}

}  // namespace km::cuda
