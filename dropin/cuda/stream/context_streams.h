// The streams of a context: the default ones, and the implicit order of the legacy stream.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "dropin/cuda/stream/stream.h"

namespace km::dropin {

/// A stream's work up to a ticket.
struct QueuedWork {
  Ref<km::Stream> stream;
  uint64_t ticket = 0;

  bool is_over() const { return stream->is_over(ticket); }
};

/// The streams of one context.
class ContextStreams final : public ContextPart {
 public:
  explicit ContextStreams(Context& context) : context_(context) {}
  /// For ContextHooks.
  static std::unique_ptr<ContextPart> make(Context& context);
  static ContextStreams& of(const Context& context);

  /// CU_STREAM_LEGACY and, for the calling thread, CU_STREAM_PER_THREAD.
  CUresult legacy(Ref<Stream>* out);
  CUresult per_thread(Ref<Stream>* out);

  // The implicit order of the legacy stream and the blocking ones.
  void add_blocking(Stream& stream);
  void remove_blocking(Stream& stream);
  /// A stream that the legacy one waits for is captured.
  bool captures_blocking_stream();
  /// To be called before work is queued: makes the stream wait for what CUDA says it waits for.
  CUresult order_before(Stream& stream);
  /// To be called after it was queued.
  void note_work(Stream& stream);
  /// Those with a handle and the default ones, as far as they were used.
  void all(std::vector<Ref<Stream>>* out);
  /// The stream is about to be destroyed: its work goes on.
  void note_ending(km::Stream& stream);
  /// Work that the context's streams have queued and that is not over, of destroyed streams too.
  std::vector<QueuedWork> queued_work();

  void take_thread(uint64_t thread, std::vector<Ref<Object>>* out) override;
  // At the end of the context: its work is over.
  void drop_ending();
  void drop_defaults();

 private:
  CUresult join_blocking(Stream& legacy);

  Context& context_;
  std::mutex mutex_;  // guards what follows
  Ref<Stream> legacy_;
  std::unordered_map<uint64_t, Ref<Stream>> per_thread_;  // by thread
  std::vector<QueuedWork> ending_;                        // of destroyed streams
  std::mutex order_mutex_;                                // guards what follows
  std::vector<Stream*> blocking_;
  std::atomic<size_t> blocking_count_{0};  // the same without the lock
  std::atomic<uint64_t> legacy_work_{0};   // how often work was queued in the legacy stream
};

}  // namespace km::dropin
