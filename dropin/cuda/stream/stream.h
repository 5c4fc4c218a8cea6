// Streams and events of the driver API.
#pragma once

#include <atomic>

#include "base/assert.h"
#include "core/stream/event.h"
#include "core/stream/stream.h"
#include "dropin/cuda/context/context.h"
#include "dropin/cuda/context/green_context.h"
#include "dropin/cuda/ipc/ipc.h"
#include "dropin/cuda/stream/attribute_set.h"

namespace km::dropin {

class Stream final : public Handled {
 public:
  enum class Kind : uint8_t { kCreated, kLegacy, kPerThread };

  static CUresult create(Context& context, unsigned flags, int priority, Kind kind,
                         Ref<Stream>* out);

  Context& context() const { return *context_; }
  km::Stream& core() const { return *core_; }
  Kind kind() const { return kind_; }
  unsigned flags() const { return flags_; }
  bool is_blocking() const { return (flags_ & CU_STREAM_NON_BLOCKING) == 0; }
  uint64_t number() const { return number_; }
  AttributeSet& attributes() { return attributes_; }
  /// The green context in which the stream was made; null if there is none.
  GreenContext* green() const { return green_.get(); }
  /// Called before the stream has a handle.
  void set_green(Ref<GreenContext> green) {
    KM_ASSERT(id() == 0 && !green_, "a stream gets its green context before it is published");
    KM_ASSERT(&green->context() == &context(), "a green context is a part of the stream's context");
    green_ = std::move(green);
  }

  CUresult synchronize();
  CUresult query();

 private:
  friend class ContextStreams;
  Stream(Context& context, Ref<km::Stream> core, unsigned flags, Kind kind);
  ~Stream() override;

  const Ref<Context> context_;
  Ref<km::Stream> core_;
  const unsigned flags_;
  const Kind kind_;
  const uint64_t number_;
  // Orders the stream with the legacy stream (ContextStreams::order_before).
  Ref<km::Event> mark_;
  std::atomic<uint64_t> seen_legacy_{0};
  std::atomic<bool> has_unjoined_work_{false};
  AttributeSet attributes_;
  Ref<GreenContext> green_;
};

/// A call's stream argument, which stays alive until the call returns.
class StreamUse {
 public:
  StreamUse() = default;
  ~StreamUse();
  StreamUse(const StreamUse&) = delete;
  StreamUse& operator=(const StreamUse&) = delete;

  /// 0 and CU_STREAM_LEGACY give the current context's legacy stream, CU_STREAM_PER_THREAD the
  /// calling thread's stream.
  CUresult get(CUstream handle);
  Stream* operator->() const { return stream_; }
  Stream& operator*() const { return *stream_; }
  km::Stream& core() const { return stream_->core(); }
  /// Called before work is queued; the destructor notes the queued work.
  CUresult order();

 private:
  Pin<Stream> pin_;
  Ref<Stream> shared_;
  Stream* stream_ = nullptr;
  bool is_for_work_ = false;
};

/// Maps handles for functions compiled with per-thread default streams.
inline CUstream per_thread(CUstream handle) {
  return handle == nullptr ? reinterpret_cast<CUstream>(2) : handle;
}

class Event final : public Handled {
 public:
  static CUresult create(Context& context, unsigned flags, Ref<Event>* out);
  Context& context() const { return *context_; }
  km::Event& core() const { return *core_; }
  unsigned flags() const { return flags_; }
  /// The counters that other processes map; null if the event is not shared.
  SharedMarks* shared() const { return shared_.get(); }
  /// Called before the event has a handle.
  void share(std::unique_ptr<SharedMarks> marks) {
    KM_ASSERT(id() == 0 && shared_ == nullptr, "an event becomes shared before it is published");
    shared_ = std::move(marks);
  }
  CUresult record(Stream& stream);
  /// Makes the stream wait for the event's latest record.
  CUresult wait_in(Stream& stream);
  CUresult query();
  CUresult synchronize(const MayBlock& may_block);

 private:
  Event(Context& context, Ref<km::Event> core, unsigned flags)
      : context_(Ref<Context>::share(context)), core_(std::move(core)), flags_(flags) {}

  const Ref<Context> context_;
  const Ref<km::Event> core_;
  const unsigned flags_;
  std::unique_ptr<SharedMarks> shared_;
};

/// Clamps a stream's priority to the range of the context's device, as CUDA does.
CUresult clamp_priority(Context& context, int* priority);

/// Records the event after all work of these streams of the context, in a stream that waits for
/// them.
CUresult record_after(Context& context, const std::vector<Ref<Stream>>& streams, Event& event);
/// Makes all of the streams wait for the event.
CUresult make_wait(const std::vector<Ref<Stream>>& streams, Event& event);

}  // namespace km::dropin

/// Declares `variable`, the stream of a handle ready for new work, or returns why there is none.
#define CU_STREAM_FOR_WORK(variable, handle) \
  ::km::dropin::StreamUse variable;          \
  CU_TRY((variable).get(handle));            \
  CU_TRY((variable).order())
