// Contexts of the driver API, and each thread's current context.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "core/context/context.h"
#include "dropin/cuda/device/driver_state.h"

namespace km::dropin {

/// A context's default streams and their order, as this layer sees them: the part is implemented by
/// the stream layer and lives as long as the context.
class ContextPart {
 public:
  ContextPart() = default;
  ContextPart(const ContextPart&) = delete;
  ContextPart& operator=(const ContextPart&) = delete;
  virtual ~ContextPart() = default;
  /// Moves out the objects of a thread that has ended; the caller releases them after its lock.
  virtual void take_thread(uint64_t thread, std::vector<Ref<Object>>* out) = 0;
};

/// Callbacks into the layers above contexts, which own everything that a context contains.
struct ContextHooks {
  std::unique_ptr<ContextPart> (*make_streams)(Context& context);
  /// Called when a context begins or, after a reset, begins again: existing memory is made known to
  /// it.
  CUresult (*begins)(Context& context);
  /// Called when a context ends: waits for its work, frees its memory and ends the handles of all
  /// that belongs to it.
  void (*ends)(Context& context, const MayBlock& may_block);
  /// Called after the host has waited for work: resources that were kept for that work can be
  /// freed.
  void (*has_waited)();
};
/// Sets the hooks before the first context exists; later calls must pass the same hooks.
void set_context_hooks(const ContextHooks& hooks);
const ContextHooks& context_hooks();

class Context final : public Handled {
 public:
  static CUresult create(DeviceState& device, unsigned flags, bool is_primary, Ref<Context>* out);

  DeviceState& device() const { return device_; }
  /// The core's context. It returns a reference because a primary context gets another core context
  /// when it begins again.
  Ref<km::Context> core() const;
  bool is_primary() const { return is_primary_; }
  /// Identifies one life of the context: no other context ever has the number, and a reset changes
  /// it.
  uint64_t life() const { return life_.load(std::memory_order_relaxed); }
  bool is_destroyed() const { return destroyed_.load(std::memory_order_acquire); }
  unsigned flags() const { return flags_.load(std::memory_order_relaxed); }
  void set_flags(unsigned flags) { flags_.store(flags, std::memory_order_relaxed); }
  std::atomic<int>& cache_config() { return cache_config_; }
  std::atomic<int>& shared_config() { return shared_config_; }

  /// Adds a user of a created context (cuCtxAttach).
  void attach() { users_.fetch_add(1, std::memory_order_relaxed); }
  /// Removes a user; returns true if it was the last one.
  bool detach() { return users_.fetch_sub(1, std::memory_order_relaxed) <= 1; }
  /// Waits for the context's work, frees its memory and ends the handles of all that belongs to it.
  void destroy(const MayBlock& may_block);
  /// Ends a primary context but keeps its handle valid.
  void deactivate(const MayBlock& may_block);
  /// Begins a primary context that was never active or was deactivated.
  CUresult activate();
  CUresult synchronize();
  /// Fails if the context has ended. Callers that find or create objects of the context hold the
  /// lock under which its end drops them, so that nothing is added afterwards.
  CUresult require_live() const;
  /// True if the context lives and still has this core context, so that objects made with that core
  /// context are still valid.
  bool has_core(const km::Context& core) const;

  /// For the stream layer, which implements it (ContextStreams).
  ContextPart& streams_part() const { return *streams_; }

  struct Limits {
    std::array<std::atomic<uint64_t>, 16> value{};
  };
  Limits& limits() { return limits_; }

 private:
  Context(DeviceState& device, Ref<km::Context> core, unsigned flags, bool is_primary);
  ~Context() override;

  DeviceState& device_;
  // guards core_ of a primary context; in others core_ never changes
  mutable std::mutex core_mutex_;
  Ref<km::Context> core_;
  std::atomic<unsigned> flags_;
  const bool is_primary_;
  std::atomic<int> users_{1};
  std::atomic<bool> destroyed_{false};
  std::atomic<uint64_t> life_;
  std::atomic<int> cache_config_{0}, shared_config_{0};
  Limits limits_;
  const std::unique_ptr<ContextPart> streams_;
};

/// A device's primary context, guarded by the device's mutex.
struct PrimaryContext final : DevicePart {
  Ref<Context> context;  // null until the first retain
  unsigned retain_count = 0;
  unsigned flags = 0;
};
/// The caller holds the device's mutex.
PrimaryContext& primary_of(DeviceState& device);

/// Activates the device's primary context if needed and adds a user.
CUresult retain_primary(DeviceState& device, Ref<Context>* out);
/// Removes a user. The last one ends everything that the primary context owns.
CUresult release_primary(const MayBlock& may_block, DeviceState& device);

/// Waits for all work of a context. Captures do not matter, because captured work is not queued.
Status wait_for_work(const MayBlock& may_block, km::Context& context);

/// The calling thread's current context. CUDA_ERROR_INVALID_CONTEXT if there is none,
/// CUDA_ERROR_CONTEXT_IS_DESTROYED if it was destroyed.
CUresult current_context(Context** out);
/// Null if there is no current context.
Context* current_context_or_null();
void set_current_context(Ref<Context> context);
void push_context(Ref<Context> context);
/// A fast path without the handle table: pushes the context that this thread popped last. Returns
/// false for any other handle, valid or not.
bool push_known_context(CUcontext handle);
void forget_popped_context();
/// Returns false if the thread's stack is empty.
bool pop_context(CUcontext* out);

/// The live contexts of all devices.
std::vector<Ref<Context>> live_contexts();
/// The calling thread's number, which is never reused.
uint64_t number_of_thread();
/// Frees the per-thread streams of a thread that has ended.
void forget_thread(uint64_t thread);

/// Destroys a newly created context unless keep() is called: for calls that fail later on.
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

/// Creates the handle of an object that belongs to a context. If the context ends at the same time,
/// its end may have missed the new handle: this function then ends the handle itself.
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

/// Declares `variable`, the current context, or returns the reason why there is none.
#define CU_CURRENT(variable)                 \
  ::km::dropin::Context* variable = nullptr; \
  CU_TRY(::km::dropin::current_context(&(variable)))
