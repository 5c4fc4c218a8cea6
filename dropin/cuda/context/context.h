// Contexts of the driver API, and which one is current on a thread.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "core/context/context.h"
#include "dropin/cuda/device/driver_state.h"

namespace km::dropin {

/// A context's default streams and their order, as a context knows them: a part that lives and ends
/// with it, and belongs to the floor of streams.
class ContextPart {
 public:
  ContextPart() = default;
  ContextPart(const ContextPart&) = delete;
  ContextPart& operator=(const ContextPart&) = delete;
  virtual ~ContextPart() = default;
  /// Moves out what belongs to a thread that is gone; the caller drops it.
  virtual void take_thread(uint64_t thread, std::vector<Ref<Object>>* out) = 0;
};

/// The floors above contexts, which own everything that a context holds: told of its life.
struct ContextHooks {
  std::unique_ptr<ContextPart> (*make_streams)(Context& context);
  /// The context begins, or begins again: it gets to know memory that is there already.
  CUresult (*begins)(Context& context);
  /// Work goes to its end, memory goes, and handles of all that belongs to the context are dead.
  void (*ends)(Context& context, const MayBlock& may_block);
  /// The host has waited for work: what was kept for that work may go.
  void (*has_waited)();
};
/// To be called before there is a context; later calls give the same hooks.
void set_context_hooks(const ContextHooks& hooks);
const ContextHooks& context_hooks();

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

  /// For the floor of streams, whose part it is (ContextStreams).
  ContextPart& streams_part() const { return *streams_; }

  struct Limits {
    std::array<std::atomic<uint64_t>, 16> value{};
  };
  Limits& limits() { return limits_; }

 private:
  Context(DeviceState& device, Ref<km::Context> core, unsigned flags, bool is_primary);
  ~Context() override;

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
  const std::unique_ptr<ContextPart> streams_;
};

/// A device's primary context, guarded by the mutex of the device.
struct PrimaryContext final : DevicePart {
  Ref<Context> context;  // null until somebody retains it
  unsigned retain_count = 0;
  unsigned flags = 0;
};
/// With the mutex of the device.
PrimaryContext& primary_of(DeviceState& device);

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
/// The number of the calling thread, which no other has or had.
uint64_t number_of_thread();
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
