// Ordered queues of work.
#pragma once

#include "core/context.h"

namespace km {

class Event;

class Stream final : public ContextChild {
 public:
  static Result<Ref<Stream>> create(Context& context, km_stream_flags flags, int32_t priority);
  /// A further object for the context's default stream.
  static Result<Ref<Stream>> share_default(Context& context);

  kmb_stream* native() const { return native_; }
  int32_t priority() const { return priority_; }

  /// KM_TIMEOUT when the limit passes; KMB_WAIT_FOREVER: no limit.
  Status synchronize(uint64_t timeout_ns);
  /// KM_NOT_READY while work is left.
  Status query();
  Status wait_event(Event& event);
  Status add_callback(km_host_callback callback, void* user_data);

  /// What is queued becomes nodes of a graph (core/capture.h).
  bool is_capturing() const { return capture_->is_active(); }
  CaptureSlot& capture_slot() const { return *capture_; }
  /// Like synchronize() and query(), for the library itself: whatever a capture does.
  Status drain();
  bool is_idle();

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
  Status wait_for_work(uint64_t timeout_ns);
  Status ask_for_work();

  kmb_stream* native_ = nullptr;
  int32_t priority_ = 0;
  bool owns_native_ = true;
  bool uses_capture_ = true;
  const Ref<CaptureSlot> capture_;
};

/// Both objects must be of one context; says which is not.
Status require_same_context(const Context& expected, const Context& given, const char* what);

}  // namespace km
