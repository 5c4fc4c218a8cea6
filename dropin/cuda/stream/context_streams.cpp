#include "dropin/cuda/stream/context_streams.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/assert.h"
#include "core/stream/stream_capture.h"
#include "dropin/cuda/frame/find_or_make.h"

namespace km::dropin {

std::unique_ptr<ContextPart> ContextStreams::make(Context& context) {
  return std::make_unique<ContextStreams>(context);
}

ContextStreams& ContextStreams::of(const Context& context) {
  return static_cast<ContextStreams&>(context.streams_part());
}

CUresult ContextStreams::legacy(Ref<Stream>* out) {
  const std::lock_guard lock(mutex_);
  CU_TRY(context_.require_live());
  if (!legacy_) CU_TRY(Stream::create(context_, 0, 0, Stream::Kind::kLegacy, &legacy_));
  *out = legacy_;
  return CUDA_SUCCESS;
}

CUresult ContextStreams::per_thread(Ref<Stream>* out) {
  const uint64_t thread = number_of_thread();
  const std::lock_guard lock(mutex_);
  CU_TRY(context_.require_live());
  Ref<Stream>* stream = nullptr;
  CU_TRY(find_or_make(per_thread_, thread, &stream, [&](Ref<Stream>* made) {
    return Stream::create(context_, 0, 0, Stream::Kind::kPerThread, made);
  }));
  *out = *stream;
  return CUDA_SUCCESS;
}

void ContextStreams::all(std::vector<Ref<Stream>>* out) {
  table_of<Stream>().for_each_live([&](uint64_t, Object& object) {
    auto& stream = static_cast<Stream&>(object);
    if (&stream.context() == &context_ && stream.try_ref())
      out->push_back(Ref<Stream>::adopt(&stream));
  });
  const std::lock_guard lock(mutex_);
  if (legacy_) out->push_back(legacy_);
  for (const auto& [thread, stream] : per_thread_) out->push_back(stream);
}

namespace {

/// Moves the completed work out of the list.
std::vector<QueuedWork> take_over(std::vector<QueuedWork>& from) {
  const auto over = std::partition(from.begin(), from.end(),
                                   [](const QueuedWork& work) { return !work.is_over(); });
  std::vector<QueuedWork> taken(std::make_move_iterator(over), std::make_move_iterator(from.end()));
  from.erase(over, from.end());
  return taken;
}

}  // namespace

void ContextStreams::note_ending(km::Stream& stream) {
  const uint64_t ticket = stream.last_ticket();
  std::vector<QueuedWork> over;  // frees streams after the lock
  const std::lock_guard lock(mutex_);
  over = take_over(ending_);
  if (!stream.is_over(ticket)) ending_.push_back({Ref<km::Stream>::share(stream), ticket});
}

std::vector<QueuedWork> ContextStreams::queued_work() {
  std::vector<Ref<Stream>> streams;
  all(&streams);
  std::vector<QueuedWork> work;
  for (const Ref<Stream>& stream : streams) {
    const uint64_t ticket = stream->core().last_ticket();
    if (stream->core().is_over(ticket)) continue;
    work.push_back({Ref<km::Stream>::share(stream->core()), ticket});
  }
  std::vector<QueuedWork> over;  // frees streams after the lock
  const std::lock_guard lock(mutex_);
  over = take_over(ending_);
  work.insert(work.end(), ending_.begin(), ending_.end());
  return work;
}

void ContextStreams::add_blocking(Stream& stream) {
  KM_ASSERT(stream.mark_ && &stream.context() == &context_, "the order needs the stream's mark");
  const std::lock_guard lock(order_mutex_);
  KM_ASSERT(std::find(blocking_.begin(), blocking_.end(), &stream) == blocking_.end(),
            "a stream is listed once");
  blocking_.push_back(&stream);
  blocking_count_.store(blocking_.size());
}

void ContextStreams::remove_blocking(Stream& stream) {
  Ref<Stream> legacy;
  {
    const std::lock_guard lock(mutex_);
    legacy = legacy_;
  }
  const std::lock_guard lock(order_mutex_);
  KM_ASSERT(blocking_count_.load() == blocking_.size(), "the count matches the list");
  std::erase(blocking_, &stream);
  blocking_count_.store(blocking_.size());
  // The stream is removed, but the legacy stream must still wait for its work.
  if (!legacy || !stream.has_unjoined_work_ || !stream.mark_) return;
  if (stream.mark_->record(*stream.core_)) {
    static_cast<void>(legacy->core_->wait_event(*stream.mark_));
  }
}

bool ContextStreams::captures_blocking_stream() {
  if (blocking_count_.load() == 0) return false;
  const std::lock_guard lock(order_mutex_);
  return std::any_of(blocking_.begin(), blocking_.end(),
                     [](const Stream* stream) { return stream->core_->is_capturing(); });
}

/// Makes the legacy stream's next work wait for the work in the blocking streams.
CUresult ContextStreams::join_blocking(Stream& legacy) {
  if (blocking_count_.load() == 0) return CUDA_SUCCESS;
  const std::lock_guard lock(order_mutex_);
  KM_ASSERT(legacy.kind_ == Stream::Kind::kLegacy, "only the legacy stream waits for all others");
  for (Stream* stream : blocking_) {
    if (stream->core_->is_capturing()) {
      static_cast<void>(refuse_capture(*stream->core_, "work in the legacy stream beside"));
      return fail(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
                  "work in the legacy stream would have to wait for a stream that is captured; the "
                  "capture is invalid now");
    }
    if (!stream->has_unjoined_work_.exchange(false)) continue;
    CU_CHECK(stream->mark_->record(*stream->core_));
    CU_CHECK(legacy.core_->wait_event(*stream->mark_));
  }
  return CUDA_SUCCESS;
}

CUresult ContextStreams::order_before(Stream& stream) {
  KM_ASSERT(&stream.context() == &context_, "streams of one context have an order");
  if (stream.kind_ == Stream::Kind::kLegacy) return join_blocking(stream);
  if (!stream.is_blocking() || stream.core_->is_capturing()) return CUDA_SUCCESS;
  const uint64_t work = legacy_work_.load(std::memory_order_acquire);
  if (stream.seen_legacy_.load(std::memory_order_relaxed) == work) return CUDA_SUCCESS;
  Ref<Stream> legacy;
  CU_TRY(this->legacy(&legacy));
  const std::lock_guard lock(order_mutex_);
  CU_CHECK(legacy->mark_->record(*legacy->core_));
  CU_CHECK(stream.core_->wait_event(*legacy->mark_));
  stream.seen_legacy_.store(work, std::memory_order_relaxed);
  return CUDA_SUCCESS;
}

void ContextStreams::note_work(Stream& stream) {
  KM_ASSERT(&stream.context() == &context_, "streams of one context have an order");
  if (stream.kind_ == Stream::Kind::kLegacy) {
    legacy_work_.fetch_add(1, std::memory_order_release);
  } else if (stream.is_blocking()) {
    stream.has_unjoined_work_.store(true, std::memory_order_release);
  }
}

void ContextStreams::take_thread(uint64_t thread, std::vector<Ref<Object>>* out) {
  KM_ASSERT(thread != 0, "thread numbers start at 1");
  const std::lock_guard lock(mutex_);
  const auto found = per_thread_.find(thread);
  if (found == per_thread_.end()) return;
  out->push_back(Ref<Object>::adopt(found->second.release()));
  per_thread_.erase(found);
}

void ContextStreams::drop_ending() {
  std::vector<QueuedWork> over;  // frees streams after the lock
  const std::lock_guard lock(mutex_);
  std::swap(over, ending_);
}

void ContextStreams::drop_defaults() {
  KM_ASSERT(context_.is_destroyed(), "a live context keeps its default streams");
  std::unordered_map<uint64_t, Ref<Stream>> per_thread;
  Ref<Stream> legacy;
  const std::lock_guard lock(mutex_);
  std::swap(per_thread, per_thread_);
  std::swap(legacy, legacy_);
}

}  // namespace km::dropin
