// Ordered queues of work.
#pragma once

#include <array>

#include "core/context/context.h"
#include "core/object/spin_lock.h"

namespace km {

class Event;

class Stream final : public ContextChild {
 public:
  static Result<Ref<Stream>> create(Context& context, km_stream_flags flags, int32_t priority);
  /// A further object for the context's default stream.
  static Result<Ref<Stream>> share_default(Context& context);

  kmb_stream* native() const { return native_; }
  /// The number among all streams that there have been, from 1; equal for all objects of a default
  /// stream.
  uint64_t number() const { return number_; }
  int32_t priority() const { return priority_; }

  /// KM_TIMEOUT when the limit passes; KMB_WAIT_FOREVER: no limit.
  Status synchronize(const MayBlock& may_block, uint64_t timeout_ns);
  /// Like synchronize() with no time to wait, which asks nobody.
  Status poll();
  /// KM_NOT_READY while work is left.
  Status query();
  Status wait_event(Event& event);
  /// A callback for a stream that is not captured; a capture that has just begun does not see it.
  Status queue_callback(km_host_callback callback, void* user_data);
  /// Has what is queued from now on wait for an operation of another stream of the backend.
  Status wait_for(const Stream& other, uint64_t ticket);

  /// True while work queued becomes nodes of a graph (core/capture/capture.h).
  bool is_capturing() const { return capture_->is_active(); }
  CaptureSlot& capture_slot() const { return *capture_; }
  /// Like synchronize() and query(), for the library itself: whatever a capture does.
  Status drain();
  bool is_idle();
  /// True when the operation with this ticket is over. Works after errors too.
  bool is_over(uint64_t ticket) noexcept;
  /// The ticket of what is queued so far. Works after errors too.
  uint64_t last_ticket() noexcept;

  /// Nobody can end its capture any more, although what is captured may keep the stream.
  void handle_gone() override;

 private:
  Stream(Context& context, Ref<CaptureSlot> capture)
      : ContextChild(context), capture_(std::move(capture)) {
    capture_->add_user();
  }
  ~Stream() override;
  void drop_capture();
  // Each with one result, which needs no move.
  Status wait(uint64_t timeout_ns);
  Status wait_for_work(uint64_t timeout_ns);
  Status ask_for_work();

  bool awaits_already(uint64_t other_number, uint64_t ticket);

  kmb_stream* native_ = nullptr;
  uint64_t number_ = 0;
  int32_t priority_ = 0;
  bool uses_capture_ = true;
  const Ref<CaptureSlot> capture_;
  Context::SharedDefaultStream default_;  // null: the native stream is its own

  /// Up to which ticket of another stream this one waits already: some of the latest waits.
  struct Awaited {
    uint64_t stream_number = 0, ticket = 0;
  };
  SpinLock awaited_lock_;  // guards what follows
  std::array<Awaited, 8> awaited_{};
  uint32_t next_awaited_ = 0;
};

/// Both objects must be of one context; says which is not.
Status require_same_context(const Context& expected, const Context& given, const char* what);

}  // namespace km
