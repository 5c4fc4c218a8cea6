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

 private:
  explicit Stream(Context& context) : ContextChild(context) {}
  ~Stream() override;

  kmb_stream* native_ = nullptr;
  int32_t priority_ = 0;
  bool owns_native_ = true;
};

/// Both objects must be of one context; says which is not.
Status require_same_context(const Context& expected, const Context& given, const char* what);

}  // namespace km
