// A context's streams: the default streams and the implicit order of the legacy stream.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "dropin/cuda/stream/stream.h"

namespace km::dropin {

/// A stream's work up to and including a ticket.
struct QueuedWork {
  Ref<km::Stream> stream;
  uint64_t ticket = 0;

  bool is_over() const { return stream->is_over(ticket); }
};

/// The streams of one context.
class ContextStreams final : public ContextPart {
 public:
  explicit ContextStreams(Context& context) : context_(context) {}
  /// The factory that ContextHooks pass to contexts.
  static std::unique_ptr<ContextPart> make(Context& context);
  static ContextStreams& of(const Context& context);

  /// CU_STREAM_LEGACY and the calling thread's CU_STREAM_PER_THREAD, created on first use.
  CUresult legacy(Ref<Stream>* out);
  CUresult per_thread(Ref<Stream>* out);

  // Adds a stream that is implicitly ordered with the legacy stream.
  void add_blocking(Stream& stream);
  void remove_blocking(Stream& stream);
  /// True if a stream that the legacy stream waits for is being captured.
  bool captures_blocking_stream();
  /// Called before work is queued: makes the stream wait for the work that CUDA's implicit order
  /// puts before it.
  CUresult order_before(Stream& stream);
  /// Called after work was queued.
  void note_work(Stream& stream);
  /// Streams with a handle, and the default streams if they were used.
  void all(std::vector<Ref<Stream>>* out);
  /// Called before a stream is destroyed: its queued work continues.
  void note_ending(km::Stream& stream);
  /// Uncompleted work in the context's streams, including destroyed streams.
  std::vector<QueuedWork> queued_work();

  void take_thread(uint64_t thread, std::vector<Ref<Object>>* out) override;
  // Called at the end of the context, when its work has completed.
  void drop_ending();
  void drop_defaults();

 private:
  CUresult join_blocking(Stream& legacy);

  Context& context_;
  std::mutex mutex_;  // guards the members below
  Ref<Stream> legacy_;
  std::unordered_map<uint64_t, Ref<Stream>> per_thread_;  // by thread number
  std::vector<QueuedWork> ending_;                        // work of destroyed streams
  std::mutex order_mutex_;                                // guards the members below
  std::vector<Stream*> blocking_;
  std::atomic<size_t> blocking_count_{0};  // blocking_.size(), readable without the lock
  // number of times that work was queued in the legacy stream
  std::atomic<uint64_t> legacy_work_{0};
};

}  // namespace km::dropin
