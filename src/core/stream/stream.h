// Streams: ordered queues of work.
#pragma once

#include <array>

#include "base/thread/spin_lock.h"
#include "core/context/context.h"

namespace km {

class Event;

class Stream final : public ContextChild {
 public:
  static Result<Ref<Stream>> create(Context& context, km_stream_flags flags, int32_t priority);
  /// Creates another object for the context's default stream.
  static Result<Ref<Stream>> share_default(Context& context);

  kmb_stream* native() const { return native_; }
  /// A number from 1 that no other stream of the process has had; all objects of a default stream
  /// share one.
  uint64_t number() const { return number_; }
  int32_t priority() const { return priority_; }

  /// Returns KM_TIMEOUT when the limit passes; KMB_WAIT_FOREVER is no limit.
  Status synchronize(const MayBlock& may_block, uint64_t timeout_ns);
  /// Like synchronize() with a timeout of 0, but allowed on threads that may not block.
  Status poll();
  /// Returns KM_NOT_READY while work is left.
  Status query();
  Status wait_event(Event& event);
  /// Queues a callback on a stream that is not captured; a capture that begins concurrently does
  /// not contain it.
  Status queue_callback(km_host_callback callback, void* user_data);
  /// Makes work that is queued from now on wait for an operation of another stream of this backend.
  Status wait_for(const Stream& other, uint64_t ticket);

  /// True while queued work becomes nodes of a graph (core/capture/capture.h).
  bool is_capturing() const { return capture_->is_active(); }
  CaptureSlot& capture_slot() const { return *capture_; }
  /// Like synchronize() and query(), but for the library itself: a capture does not refuse it.
  Status drain();
  bool is_idle();
  /// True if the operation with this ticket is over. Works after errors too.
  bool is_over(uint64_t ticket) noexcept;
  /// The ticket of the last queued operation. Works after errors too.
  uint64_t last_ticket() noexcept;

  /// Ends the capture, which nobody can end any more although the captured nodes may keep the
  /// stream.
  void handle_gone() override;

 private:
  Stream(Context& context, Ref<CaptureSlot> capture)
      : ContextChild(context), capture_(std::move(capture)) {
    capture_->add_user();
  }
  ~Stream() override;
  void drop_capture();
  // One result for each function avoids a move.
  Status wait(uint64_t timeout_ns);
  Status wait_for_work(uint64_t timeout_ns);
  Status ask_for_work();

  bool awaits_already(uint64_t other_number, uint64_t ticket);

  kmb_stream* native_ = nullptr;
  uint64_t number_ = 0;
  int32_t priority_ = 0;
  bool uses_capture_ = true;
  const Ref<CaptureSlot> capture_;
  Context::SharedDefaultStream default_;  // null: the native stream belongs to this object

  /// A ticket of another stream that this one waits for already; the latest waits are kept.
  struct Awaited {
    uint64_t stream_number = 0, ticket = 0;
  };
  SpinLock awaited_lock_;  // guards the members below
  std::array<Awaited, 8> awaited_{};
  uint32_t next_awaited_ = 0;
};

/// Fails if the objects belong to different contexts; `what` names the given one in the message.
Status require_same_context(const Context& expected, const Context& given, const char* what);

}  // namespace km
