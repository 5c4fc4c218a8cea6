#include <utility>

#include "base/assert.h"
#include "base/thread/thread_object.h"
#include "core/object/backend_call.h"
#include "core/object/callback.h"
#include "dropin/cuda/context/context.h"

namespace km::dropin {
namespace {

std::atomic<uint64_t> last_thread{0}, last_life{0};
std::atomic<const ContextHooks*> told{nullptr};

/// A thread's stack of contexts; the current one is last.
struct ThreadContexts {
  std::vector<Ref<Context>> stack;
  Ref<Context> popped;  // the last popped one: programs often push it again at once
  const uint64_t thread = ++last_thread;

  /// Moves out the reference to the context popped last if `handle` is its handle and it lives;
  /// otherwise returns null.
  Ref<Context> take(CUcontext handle) {
    if (!popped || handle_of(*popped) != handle || popped->is_destroyed()) return {};
    return std::move(popped);
  }
  void push(Ref<Context> context) {
    stack.push_back(std::move(context));
    note_current();
  }
  void pop() {
    KM_ASSERT(!stack.empty(), "only a thread with a current context loses one");
    Ref<Context> last = std::move(stack.back());
    stack.pop_back();
    note_current();
    std::swap(popped, last);  // may destroy the context that was popped before
  }
  void set(Ref<Context> context) {
    KM_ASSERT(!stack.empty(), "only a current context is replaced");
    std::swap(stack.back(), context);
    note_current();  // first, so that no call finds the former context while it is destroyed
  }
  ~ThreadContexts();

 private:
  void note_current() const;
};

// The current context, which nearly all calls read. A plain thread-local pointer saves the lookup
// of the thread's object.
constinit thread_local Context* my_current = nullptr;

void ThreadContexts::note_current() const {
  my_current = stack.empty() ? nullptr : stack.back().get();
}

ThreadContexts::~ThreadContexts() {
  my_current = nullptr;
  popped = nullptr;
  stack.clear();
  forget_thread(thread);
}

ThreadContexts& of_thread() { return ThreadObject<ThreadContexts>::get(); }

}  // namespace

void set_context_hooks(const ContextHooks& hooks) { told.store(&hooks, std::memory_order_release); }

const ContextHooks& context_hooks() {
  const ContextHooks* const hooks = told.load(std::memory_order_acquire);
  KM_ASSERT(hooks != nullptr, "cuInit connects contexts before there are any");
  return *hooks;
}

Context::Context(DeviceState& device, Ref<km::Context> core, unsigned flags, bool is_primary)
    : device_(device),
      core_(std::move(core)),
      flags_(flags),
      is_primary_(is_primary),
      life_(++last_life),
      streams_(context_hooks().make_streams(*this)) {
  limits_.value[CU_LIMIT_STACK_SIZE] = 1024;
  limits_.value[CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH] = 2;
  limits_.value[CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048;
  limits_.value[CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 64;
}

Context::~Context() {
  KM_ASSERT(destroyed_.load(), "a context is destroyed before its last reference is dropped");
  KM_ASSERT(my_current != this, "a context that is deleted is not current");
}

CUresult Context::create(DeviceState& device, unsigned flags, bool is_primary, Ref<Context>* out) {
  CU_ASSIGN(Ref<km::Context> core, km::Context::create(device.device));
  CU_ASSIGN(const km::Context::MemoryInfo memory, core->memory_info());
  device.limit_memory(memory.free_bytes);
  Ref<Context> context =
      Ref<Context>::adopt(new Context(device, std::move(core), flags, is_primary));
  publish(Ref<Context>(context));
  DestroyUnlessKept failed(*context);
  CU_TRY(context_hooks().begins(*context));
  failed.keep();
  *out = std::move(context);
  return CUDA_SUCCESS;
}

void Context::destroy(const MayBlock& may_block) {
  if (destroyed_.exchange(true)) return;
  const Ref<Context> kept = Ref<Context>::share(*this);
  retire<Context>(handle_of(*this));
  context_hooks().ends(*this, may_block);
}

void Context::deactivate(const MayBlock& may_block) {
  KM_ASSERT(is_primary_, "only a primary context can be deactivated");
  if (!destroyed_.exchange(true)) context_hooks().ends(*this, may_block);
}

CUresult Context::activate() {
  KM_ASSERT(is_primary_, "only a primary context can be activated again");
  if (!is_destroyed()) return CUDA_SUCCESS;
  CU_ASSIGN(Ref<km::Context> fresh, km::Context::create(device_.device));
  {
    const std::lock_guard lock(core_mutex_);
    std::swap(core_, fresh);
  }
  life_.store(++last_life, std::memory_order_relaxed);
  destroyed_.store(false, std::memory_order_release);
  return context_hooks().begins(*this);
}

Ref<km::Context> Context::core() const {
  if (!is_primary_) return core_;
  const std::lock_guard lock(core_mutex_);
  return core_;
}

CUresult Context::synchronize() {
  CU_ASSIGN(const MayBlock may_block, require_may_block());
  CU_CHECK(core()->synchronize(may_block));
  context_hooks().has_waited();
  return CUDA_SUCCESS;
}

/// The caller holds the lock that the context's end takes; without it an object could be added
/// after the end, and would keep the context alive.
CUresult Context::require_live() const {
  if (!is_destroyed()) return CUDA_SUCCESS;
  return fail(CUDA_ERROR_CONTEXT_IS_DESTROYED, "the context was destroyed during the call");
}

bool Context::has_core(const km::Context& core) const {
  return !destroyed_.load() && this->core().get() == &core;
}

PrimaryContext& primary_of(DeviceState& device) {
  if (!device.primary) device.primary = std::make_unique<PrimaryContext>();
  return static_cast<PrimaryContext&>(*device.primary);
}

CUresult retain_primary(DeviceState& device, Ref<Context>* out) {
  const std::lock_guard lock(device.mutex);
  PrimaryContext& primary = primary_of(device);
  if (primary.context) {
    CU_TRY(primary.context->activate());
  } else {
    CU_TRY(Context::create(device, primary.flags, true, &primary.context));
  }
  KM_ASSERT(primary.context && !primary.context->is_destroyed(),
            "a retained primary context is active");
  ++primary.retain_count;
  *out = primary.context;
  return CUDA_SUCCESS;
}

CUresult release_primary(const MayBlock& may_block, DeviceState& device) {
  const std::lock_guard lock(device.mutex);
  PrimaryContext& primary = primary_of(device);
  if (primary.retain_count == 0) {
    return fail(CUDA_ERROR_INVALID_CONTEXT, "the context of device %d is not retained",
                device.ordinal);
  }
  KM_ASSERT(primary.context, "a retained context exists");
  if (--primary.retain_count == 0) primary.context->deactivate(may_block);
  return CUDA_SUCCESS;
}

Status wait_for_work(const MayBlock&, km::Context& context) {
  return call_backend(context.backend().context_synchronize, context.native());
}

CUresult current_context(Context** out) {
  Context* const context = current_context_or_null();
  if (context == nullptr) {
    return fail(CUDA_ERROR_INVALID_CONTEXT,
                "no context is current on this thread: make one so by cuCtxSetCurrent");
  }
  if (context->is_destroyed()) {
    return fail(CUDA_ERROR_CONTEXT_IS_DESTROYED, "the current context is destroyed");
  }
  *out = context;
  return CUDA_SUCCESS;
}

Context* current_context_or_null() { return my_current; }

void set_current_context(Ref<Context> context) {
  ThreadContexts& contexts = of_thread();
  if (!context) {
    if (!contexts.stack.empty()) contexts.pop();
  } else if (contexts.stack.empty()) {
    contexts.push(std::move(context));
  } else {
    contexts.set(std::move(context));
  }
}

bool push_known_context(CUcontext handle) {
  Ref<Context> known = of_thread().take(handle);
  if (!known) return false;
  of_thread().push(std::move(known));
  return true;
}

void forget_popped_context() { of_thread().popped = nullptr; }

void push_context(Ref<Context> context) { of_thread().push(std::move(context)); }

bool pop_context(CUcontext* out) {
  ThreadContexts& contexts = of_thread();
  if (contexts.stack.empty()) return false;
  *out = handle_of(*contexts.stack.back());
  contexts.pop();
  return true;
}

std::vector<Ref<Context>> live_contexts() {
  std::vector<Ref<Context>> all;
  table_of<Context>().for_each_live([&](uint64_t, Object& object) {
    auto& context = static_cast<Context&>(object);
    if (!context.is_destroyed() && context.try_ref()) all.push_back(Ref<Context>::adopt(&context));
  });
  return all;
}

uint64_t number_of_thread() { return of_thread().thread; }

void forget_thread(uint64_t thread) {
  std::vector<Ref<Object>> gone;
  table_of<Context>().for_each_live([&](uint64_t, Object& object) {
    auto& context = static_cast<Context&>(object);
    context.streams_part().take_thread(thread, &gone);
  });
}

}  // namespace km::dropin
