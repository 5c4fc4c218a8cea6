#include <algorithm>
#include <chrono>
#include <thread>

#include "base/assert.h"
#include "core/object/callback.h"
#include "dropin/cuda/stream/capture_rules.h"
#include "dropin/cuda/stream/context_streams.h"

namespace km::dropin {
namespace {

std::atomic<uint64_t> last_number{2};  // 1 and 2 are the default streams' numbers

}  // namespace

Stream::Stream(Context& context, Ref<km::Stream> core, unsigned flags, Kind kind)
    : context_(Ref<Context>::share(context)),
      core_(std::move(core)),
      flags_(flags),
      kind_(kind),
      number_(kind == Kind::kLegacy ? 1 : ++last_number) {}

CUresult Stream::create(Context& context, unsigned flags, int priority, Kind kind,
                        Ref<Stream>* out) {
  const Ref<km::Context> owner = context.core();
  CU_ASSIGN(Ref<km::Stream> core, km::Stream::create(*owner, KM_STREAM_DEFAULT, priority));
  Ref<Stream> stream = Ref<Stream>::adopt(new Stream(context, std::move(core), flags, kind));
  if (stream->is_blocking()) {
    CU_ASSIGN(stream->mark_, km::Event::create(*owner, KM_EVENT_DISABLE_TIMING));
    if (kind != Kind::kLegacy) ContextStreams::of(context).add_blocking(*stream);
  }
  *out = std::move(stream);
  return CUDA_SUCCESS;
}

Stream::~Stream() {
  KM_ASSERT(core_, "a stream keeps its core stream until its end");
  note_capture_end(*this);
  if (mark_ && kind_ != Kind::kLegacy) ContextStreams::of(*context_).remove_blocking(*this);
  // A capture in progress keeps memory, and uses of that memory keep the stream alive. Ending the
  // handle breaks that cycle.
  core_.release()->handle_gone();
}

CUresult Stream::synchronize() {
  CU_ASSIGN(const MayBlock may_block, require_may_block());
  CU_CHECK(core_->synchronize(may_block, KMB_WAIT_FOREVER));
  context_hooks().has_waited();
  return CUDA_SUCCESS;
}

CUresult Stream::query() {
  CU_CHECK(core_->query());
  return CUDA_SUCCESS;
}

CUresult StreamUse::get(CUstream handle) {
  KM_ASSERT(stream_ == nullptr, "a use refers to one stream");
  const auto value = reinterpret_cast<uint64_t>(handle);
  if (value > 2) {
    pin_ = Pin<Stream>(handle);
    if (!pin_) return fail(CUDA_ERROR_INVALID_HANDLE, "the stream is not a live handle");
    stream_ = pin_.get();
    if (stream_->context().is_destroyed()) {
      return fail(CUDA_ERROR_CONTEXT_IS_DESTROYED, "the stream's context is destroyed");
    }
    if (stream_->green() != nullptr && stream_->green()->is_destroyed()) {
      return fail(CUDA_ERROR_STREAM_DETACHED, "the stream's green context is destroyed");
    }
    return CUDA_SUCCESS;
  }
  CU_CURRENT(context);
  ContextStreams& streams = ContextStreams::of(*context);
  CU_TRY(value == 2 ? streams.per_thread(&shared_) : streams.legacy(&shared_));
  stream_ = shared_.get();
  return CUDA_SUCCESS;
}

CUresult StreamUse::order() {
  KM_ASSERT(stream_ != nullptr && !is_for_work_, "get() is called first, and order() once");
  CU_TRY(ContextStreams::of(stream_->context()).order_before(*stream_));
  is_for_work_ = true;
  return CUDA_SUCCESS;
}

StreamUse::~StreamUse() {
  if (is_for_work_) ContextStreams::of(stream_->context()).note_work(*stream_);
}

CUresult Event::create(Context& context, unsigned flags, Ref<Event>* out) {
  const km_event_flags timing =
      (flags & CU_EVENT_DISABLE_TIMING) != 0 ? KM_EVENT_DISABLE_TIMING : 0;
  CU_ASSIGN(Ref<km::Event> core, km::Event::create(*context.core(), timing));
  *out = Ref<Event>::adopt(new Event(context, std::move(core), flags));
  return CUDA_SUCCESS;
}

CUresult Event::record(Stream& stream) {
  CU_CHECK(core_->record(stream.core()));
  if (shared_ == nullptr || core_->is_captured()) return CUDA_SUCCESS;
  return shared_->record(stream.core());
}

CUresult Event::wait_in(Stream& stream) {
  if (shared_ != nullptr && !core_->is_captured()) return shared_->wait(stream.core());
  CU_CHECK(stream.core().wait_event(*core_));
  return CUDA_SUCCESS;
}

CUresult Event::query() {
  // The core's answer for an interprocess event covers this context's faults only.
  const Status own = core_->query();
  const bool is_over = shared_ == nullptr || core_->is_captured() || shared_->is_complete();
  if (!own && (own.error().status != KM_NOT_READY || is_over)) return result_of(own.error());
  return is_over ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult Event::synchronize(const MayBlock& may_block) {
  if (shared_ == nullptr || core_->is_captured()) {
    CU_CHECK(core_->synchronize(may_block, KMB_WAIT_FOREVER));
    return CUDA_SUCCESS;
  }
  constexpr int kEagerTurns = 64;
  constexpr std::chrono::microseconds kPause{50};
  for (int turn = 0;; ++turn) {
    const CUresult found = query();
    if (found != CUDA_ERROR_NOT_READY) return found;
    if (turn < kEagerTurns) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(kPause);
    }
  }
}

CUresult clamp_priority(Context& context, int* priority) {
  const Ref<km::Context> core = context.core();
  km::Device& device = core->device();
  CU_ASSIGN(const int64_t least, device.attribute(KM_DEVICE_ATTRIBUTE_STREAM_PRIORITY_LEAST));
  CU_ASSIGN(const int64_t greatest, device.attribute(KM_DEVICE_ATTRIBUTE_STREAM_PRIORITY_GREATEST));
  *priority = static_cast<int>(std::max(greatest, std::min<int64_t>(least, *priority)));
  return CUDA_SUCCESS;
}

CUresult record_after(Context& context, const std::vector<Ref<Stream>>& streams, Event& event) {
  if (&event.context() != &context) {
    return fail(CUDA_ERROR_INVALID_HANDLE, "the event is of another context");
  }
  const Ref<km::Context> core = context.core();
  CU_ASSIGN(const Ref<km::Stream> last, km::Stream::create(*core, KM_STREAM_DEFAULT, 0));
  for (const Ref<Stream>& stream : streams) {
    CU_ASSIGN(const Ref<km::Event> mark, km::Event::create(*core, KM_EVENT_DISABLE_TIMING));
    CU_CHECK(mark->record(stream->core()));
    CU_CHECK(last->wait_event(*mark));
  }
  CU_CHECK(event.core().record(*last));
  return CUDA_SUCCESS;
}

CUresult make_wait(const std::vector<Ref<Stream>>& streams, Event& event) {
  for (const Ref<Stream>& stream : streams) CU_CHECK(stream->core().wait_event(event.core()));
  return CUDA_SUCCESS;
}

}  // namespace km::dropin
