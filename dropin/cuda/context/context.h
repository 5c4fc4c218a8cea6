// Contexts of the driver API, and which one is current on a thread.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "core/context/context.h"
#include "dropin/cuda/device/driver_state.h"

namespace km {
class Graph;
}

namespace km::dropin {

/// A stream's work up to a ticket.
struct QueuedWork {
  Ref<km::Stream> stream;
  uint64_t ticket = 0;

  bool is_over() const { return stream->is_over(ticket); }
};

class Context final : public Handled {
 public:
  static CUresult create(DeviceState& device, unsigned flags, bool is_primary, Ref<Context>* out);

  DeviceState& device() const { return device_; }
  /// A reference, because a primary context gets another core when it begins again.
  Ref<km::Context> core() const;
  bool is_primary() const { return is_primary_; }
  /// A number that no other context has, nor this one before a reset.
  uint64_t life() const { return life_.load(std::memory_order_relaxed); }
  bool is_destroyed() const { return destroyed_.load(std::memory_order_acquire); }
  unsigned flags() const { return flags_.load(std::memory_order_relaxed); }
  void set_flags(unsigned flags) { flags_.store(flags, std::memory_order_relaxed); }
  std::atomic<int>& cache_config() { return cache_config_; }
  std::atomic<int>& shared_config() { return shared_config_; }

  /// One more user of a created context (cuCtxAttach).
  void attach() { users_.fetch_add(1, std::memory_order_relaxed); }
  /// One user less; true: that was the last.
  bool detach() { return users_.fetch_sub(1, std::memory_order_relaxed) <= 1; }
  /// Work goes to its end, memory goes, and handles of what belongs to it are dead.
  void destroy(const MayBlock& may_block);
  /// Ends a primary context, whose own handle stays.
  void deactivate(const MayBlock& may_block);
  /// A primary context that was never active, or was deactivated, begins again.
  CUresult activate();
  CUresult synchronize();
  /// For finders and makers of what a context owns, with the lock under which its end drops that.
  CUresult require_live() const;
  /// True when the context lives, and with this core: what was made with it may stay.
  bool has_core(const km::Context& core) const;

  /// CU_STREAM_LEGACY and, for the calling thread, CU_STREAM_PER_THREAD.
  CUresult legacy_stream(Ref<Stream>* out);
  CUresult per_thread_stream(Ref<Stream>* out);

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
  void all_streams(std::vector<Ref<Stream>>* out);
  /// The stream is about to be destroyed: its work goes on.
  void note_ending(km::Stream& stream);
  /// Work that the context's streams have queued and that is not over, of destroyed streams too.
  std::vector<QueuedWork> queued_work();
  /// The stream of a thread that is gone.
  void take_thread(uint64_t thread, std::vector<Ref<Stream>>* out);

  /// The handle of a graph that streams of this context are captured into: the same one while the
  /// capture goes on and at its end.
  CUgraph publish_captured(Ref<km::Graph> graph);
  /// Streams are captured into a graph that has a handle already.
  void note_captured(const Graph& graph);
  /// True if the program has a handle of the graph, of which a capture makes or made nodes.
  bool knows_captured(const km::Graph& graph);
  void forget_captured(const km::Graph& graph);

  struct Limits {
    std::array<std::atomic<uint64_t>, 16> value{};
  };
  Limits& limits() { return limits_; }

 private:
  Context(DeviceState& device, Ref<km::Context> core, unsigned flags, bool is_primary);
  ~Context() override;
  CUresult join_blocking(Stream& legacy);
  void drop_contents(const MayBlock& may_block);

  DeviceState& device_;
  mutable std::mutex core_mutex_;  // guards core_ of a primary context; others keep theirs
  Ref<km::Context> core_;
  std::atomic<unsigned> flags_;
  const bool is_primary_;
  std::atomic<int> users_{1};
  std::atomic<bool> destroyed_{false};
  std::atomic<uint64_t> life_;
  std::atomic<int> cache_config_{0}, shared_config_{0};
  Limits limits_;

  std::mutex mutex_;  // guards what follows
  Ref<Stream> legacy_;
  std::unordered_map<uint64_t, Ref<Stream>> per_thread_;  // by thread
  std::vector<QueuedWork> ending_;                        // of destroyed streams
  std::map<const km::Graph*, CUgraph> captured_;
  std::mutex order_mutex_;  // guards what follows
  std::vector<Stream*> blocking_;
  std::atomic<size_t> blocking_count_{0};  // the same without the lock
  std::atomic<uint64_t> legacy_work_{0};   // how often work was queued in the legacy stream
};

/// The device's primary context, active, with one more user.
CUresult retain_primary(DeviceState& device, Ref<Context>* out);
/// One user less; the last one ends what the primary context holds.
CUresult release_primary(const MayBlock& may_block, DeviceState& device);

/// Waits for all work of a context, whatever is captured: what is captured is no work.
Status wait_for_work(const MayBlock& may_block, km::Context& context);

/// The context that is current on this thread; CUDA_ERROR_INVALID_CONTEXT when none is,
/// CUDA_ERROR_CONTEXT_IS_DESTROYED when it was destroyed.
CUresult current_context(Context** out);
/// Null when there is none.
Context* current_context_or_null();
void set_current_context(Ref<Context> context);
void push_context(Ref<Context> context);
/// Pushes a context that this thread has just popped; false for all others, live or not.
bool push_known_context(CUcontext handle);
void forget_popped_context();
/// False when there is none.
bool pop_context(CUcontext* out);

/// The contexts of all devices.
std::vector<Ref<Context>> live_contexts();
/// A thread is gone: its per-thread streams go with it.
void forget_thread(uint64_t thread);

/// Destroys a new context whose call fails after all.
class DestroyUnlessKept {
 public:
  explicit DestroyUnlessKept(Context& context) : context_(&context) {}
  ~DestroyUnlessKept() {
    if (context_ != nullptr) context_->destroy(MayBlock::at_end());
  }
  DestroyUnlessKept(const DestroyUnlessKept&) = delete;
  DestroyUnlessKept& operator=(const DestroyUnlessKept&) = delete;
  void keep() { context_ = nullptr; }

 private:
  Context* context_;
};

/// Gives an object of a context its handle. When the context ends meanwhile, that may have come too
/// early to end the handle as well: it is ended here then.
template <class T>
CUresult publish_in(Context& context, Ref<T> object, Handle<T>* out) {
  const Ref<km::Context> core = Ref<km::Context>::share(object->core().context());
  const Handle<T> handle = publish(std::move(object));
  if (!context.has_core(*core)) {
    retire<T>(MayBlock::at_end(), handle);
    return fail(CUDA_ERROR_CONTEXT_IS_DESTROYED, "the context was destroyed during the call");
  }
  *out = handle;
  return CUDA_SUCCESS;
}

}  // namespace km::dropin

/// Declares `variable`, the current context, or returns why there is none.
#define CU_CURRENT(variable)                 \
  ::km::dropin::Context* variable = nullptr; \
  CU_TRY(::km::dropin::current_context(&(variable)))
