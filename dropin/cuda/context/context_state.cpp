#include <algorithm>
#include <iterator>
#include <utility>

#include "base/thread/thread_object.h"
#include "core/object/backend_call.h"
#include "core/object/callback.h"
#include "core/stream/stream_capture.h"
#include "dropin/cuda/context/context.h"
#include "dropin/cuda/frame/find_or_make.h"
#include "dropin/cuda/graph/graph.h"
#include "dropin/cuda/memory/pool.h"
#include "dropin/cuda/memory/virtual_memory.h"
#include "dropin/cuda/module/module.h"
#include "dropin/cuda/stream/stream.h"
#include "dropin/cuda/texture/texture.h"
#include "dropin/cuda/texture/texture_reference.h"

namespace km::dropin {
namespace {

std::atomic<uint64_t> last_thread{0}, last_life{0};

/// The contexts of a thread, the current one last.
struct ThreadContexts {
  std::vector<Ref<Context>> stack;
  Ref<Context> popped;  // the last one: often it comes back at once
  const uint64_t thread = ++last_thread;

  /// A reference to the context of a handle, where this thread has one at hand; else null.
  Ref<Context> take(CUcontext handle) {
    if (!popped || handle_of(*popped) != handle || popped->is_destroyed()) return {};
    return std::move(popped);
  }
  void push(Ref<Context> context) {
    stack.push_back(std::move(context));
    note_current();
  }
  void pop() {
    popped = std::move(stack.back());
    stack.pop_back();
    note_current();
  }
  void set(Ref<Context> context) {
    stack.back() = std::move(context);
    note_current();
  }
  ~ThreadContexts();

 private:
  void note_current() const;
};

// The current context, which nearly all calls ask for: known without asking for the thread's
// object.
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

/// Ends the handles of everything that belongs to a context.
template <class T>
void retire_all(const Context& context) {
  std::vector<uint64_t> ids;
  table_of<T>().for_each_live([&](uint64_t id, Object& object) {
    if (&static_cast<T&>(object).context() == &context) ids.push_back(id);
  });
  for (const uint64_t id : ids) table_of<T>().destroy(id);
}

}  // namespace

Context::Context(DeviceState& device, Ref<km::Context> core, unsigned flags, bool is_primary)
    : device_(device),
      core_(std::move(core)),
      flags_(flags),
      is_primary_(is_primary),
      life_(++last_life) {
  limits_.value[CU_LIMIT_STACK_SIZE] = 1024;
  limits_.value[CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH] = 2;
  limits_.value[CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048;
  limits_.value[CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 64;
}

Context::~Context() = default;

CUresult Context::create(DeviceState& device, unsigned flags, bool is_primary, Ref<Context>* out) {
  CU_ASSIGN(Ref<km::Context> core, km::Context::create(device.device));
  CU_ASSIGN(const km::Context::MemoryInfo memory, core->memory_info());
  device.limit_memory(memory.free_bytes);
  Ref<Context> context =
      Ref<Context>::adopt(new Context(device, std::move(core), flags, is_primary));
  publish(Ref<Context>(context));
  DestroyUnlessKept failed(*context);
  CU_TRY(VirtualMemory::instance().enter(*context));
  CU_TRY(enter_pools(*context));
  failed.keep();
  *out = std::move(context);
  return CUDA_SUCCESS;
}

void Context::destroy(const MayBlock& may_block) {
  if (destroyed_.exchange(true)) return;
  const Ref<Context> kept = Ref<Context>::share(*this);
  retire<Context>(handle_of(*this));
  drop_contents(may_block);
}

void Context::deactivate(const MayBlock& may_block) {
  if (!destroyed_.exchange(true)) drop_contents(may_block);
}

CUresult Context::activate() {
  if (!is_destroyed()) return CUDA_SUCCESS;
  CU_ASSIGN(Ref<km::Context> fresh, km::Context::create(device_.device));
  {
    const std::lock_guard lock(core_mutex_);
    std::swap(core_, fresh);
  }
  life_.store(++last_life, std::memory_order_relaxed);
  destroyed_.store(false, std::memory_order_release);
  CU_TRY(VirtualMemory::instance().enter(*this));
  return enter_pools(*this);
}

Ref<km::Context> Context::core() const {
  if (!is_primary_) return core_;
  const std::lock_guard lock(core_mutex_);
  return core_;
}

void Context::drop_contents(const MayBlock& may_block) {
  static_cast<void>(core()->synchronize(may_block));
  retire_all<Event>(*this);
  retire_all<Stream>(*this);
  {
    std::vector<QueuedWork> over;  // streams go without the lock
    const std::lock_guard lock(mutex_);
    std::swap(over, ending_);
  }
  retire_all<Module>(*this);
  retire_all<GraphExec>(*this);
  retire_all<Graph>(*this);
  forget_references(*this);
  destroy_images(*this);
  retire_arrays(*this);
  VirtualMemory::instance().leave(*this);
  table_of<Library>().for_each_live(
      [&](uint64_t, Object& library) { static_cast<Library&>(library).forget(*this); });
  table_of<Pool>().for_each_live(
      [&](uint64_t, Object& pool) { static_cast<Pool&>(pool).forget(*this); });
  const std::vector<Allocation> memory = Driver::instance().take_all(id());
  for (const Allocation& each : memory) {
    if (each.kind == AllocationKind::kDevice) device_.unreserve(each.size_bytes);
  }
  std::unordered_map<uint64_t, Ref<Stream>> per_thread;
  Ref<Stream> legacy;
  const std::lock_guard lock(mutex_);
  std::swap(per_thread, per_thread_);
  std::swap(legacy, legacy_);
}

CUresult Context::synchronize() {
  CU_ASSIGN(const MayBlock may_block, require_may_block());
  CU_CHECK(core()->synchronize(may_block));
  trim_pools();
  end_unread_images();
  return CUDA_SUCCESS;
}

/// With the lock that drop_contents() takes: what is made now would stay, and keep the context.
CUresult Context::require_live() const {
  if (!is_destroyed()) return CUDA_SUCCESS;
  return fail(CUDA_ERROR_CONTEXT_IS_DESTROYED, "the context was destroyed during the call");
}

bool Context::has_core(const km::Context& core) const {
  return !destroyed_.load() && this->core().get() == &core;
}

CUresult Context::legacy_stream(Ref<Stream>* out) {
  const std::lock_guard lock(mutex_);
  CU_TRY(require_live());
  if (!legacy_) CU_TRY(Stream::create(*this, 0, 0, Stream::Kind::kLegacy, &legacy_));
  *out = legacy_;
  return CUDA_SUCCESS;
}

CUresult Context::per_thread_stream(Ref<Stream>* out) {
  const uint64_t thread = of_thread().thread;
  const std::lock_guard lock(mutex_);
  CU_TRY(require_live());
  Ref<Stream>* stream = nullptr;
  CU_TRY(find_or_make(per_thread_, thread, &stream, [&](Ref<Stream>* made) {
    return Stream::create(*this, 0, 0, Stream::Kind::kPerThread, made);
  }));
  *out = *stream;
  return CUDA_SUCCESS;
}

void Context::all_streams(std::vector<Ref<Stream>>* out) {
  table_of<Stream>().for_each_live([&](uint64_t, Object& object) {
    auto& stream = static_cast<Stream&>(object);
    if (&stream.context() == this && stream.try_ref()) out->push_back(Ref<Stream>::adopt(&stream));
  });
  const std::lock_guard lock(mutex_);
  if (legacy_) out->push_back(legacy_);
  for (const auto& [thread, stream] : per_thread_) out->push_back(stream);
}

namespace {

/// Moves the work that is over out of the list.
std::vector<QueuedWork> take_over(std::vector<QueuedWork>& from) {
  const auto over = std::partition(from.begin(), from.end(),
                                   [](const QueuedWork& work) { return !work.is_over(); });
  std::vector<QueuedWork> taken(std::make_move_iterator(over), std::make_move_iterator(from.end()));
  from.erase(over, from.end());
  return taken;
}

}  // namespace

void Context::note_ending(km::Stream& stream) {
  const uint64_t ticket = stream.last_ticket();
  std::vector<QueuedWork> over;  // streams go without the lock
  const std::lock_guard lock(mutex_);
  over = take_over(ending_);
  if (!stream.is_over(ticket)) ending_.push_back({Ref<km::Stream>::share(stream), ticket});
}

std::vector<QueuedWork> Context::queued_work() {
  std::vector<Ref<Stream>> streams;
  all_streams(&streams);
  std::vector<QueuedWork> work;
  for (const Ref<Stream>& stream : streams) {
    const uint64_t ticket = stream->core().last_ticket();
    if (stream->core().is_over(ticket)) continue;
    work.push_back({Ref<km::Stream>::share(stream->core()), ticket});
  }
  std::vector<QueuedWork> over;  // streams go without the lock
  const std::lock_guard lock(mutex_);
  over = take_over(ending_);
  work.insert(work.end(), ending_.begin(), ending_.end());
  return work;
}

void Context::add_blocking(Stream& stream) {
  const std::lock_guard lock(order_mutex_);
  blocking_.push_back(&stream);
  blocking_count_.store(blocking_.size());
}

void Context::remove_blocking(Stream& stream) {
  Ref<Stream> legacy;
  {
    const std::lock_guard lock(mutex_);
    legacy = legacy_;
  }
  const std::lock_guard lock(order_mutex_);
  std::erase(blocking_, &stream);
  blocking_count_.store(blocking_.size());
  // Its work is still to be waited for.
  if (!legacy || !stream.has_unjoined_work_ || !stream.mark_) return;
  if (stream.mark_->record(*stream.core_)) {
    static_cast<void>(legacy->core_->wait_event(*stream.mark_));
  }
}

bool Context::captures_blocking_stream() {
  if (blocking_count_.load() == 0) return false;
  const std::lock_guard lock(order_mutex_);
  return std::any_of(blocking_.begin(), blocking_.end(),
                     [](const Stream* stream) { return stream->core_->is_capturing(); });
}

/// The legacy stream's next work comes after what is in the blocking streams.
CUresult Context::join_blocking(Stream& legacy) {
  if (blocking_count_.load() == 0) return CUDA_SUCCESS;
  const std::lock_guard lock(order_mutex_);
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

CUresult Context::order_before(Stream& stream) {
  if (stream.kind_ == Stream::Kind::kLegacy) return join_blocking(stream);
  if (!stream.is_blocking() || stream.core_->is_capturing()) return CUDA_SUCCESS;
  const uint64_t work = legacy_work_.load(std::memory_order_acquire);
  if (stream.seen_legacy_.load(std::memory_order_relaxed) == work) return CUDA_SUCCESS;
  Ref<Stream> legacy;
  CU_TRY(legacy_stream(&legacy));
  const std::lock_guard lock(order_mutex_);
  CU_CHECK(legacy->mark_->record(*legacy->core_));
  CU_CHECK(stream.core_->wait_event(*legacy->mark_));
  stream.seen_legacy_.store(work, std::memory_order_relaxed);
  return CUDA_SUCCESS;
}

void Context::note_work(Stream& stream) {
  if (stream.kind_ == Stream::Kind::kLegacy) {
    legacy_work_.fetch_add(1, std::memory_order_release);
  } else if (stream.is_blocking()) {
    stream.has_unjoined_work_.store(true, std::memory_order_release);
  }
}

CUresult retain_primary(DeviceState& device, Ref<Context>* out) {
  const std::lock_guard lock(device.mutex);
  if (device.primary) {
    CU_TRY(device.primary->activate());
  } else {
    CU_TRY(Context::create(device, device.primary_flags, true, &device.primary));
  }
  ++device.retain_count;
  *out = device.primary;
  return CUDA_SUCCESS;
}

CUresult release_primary(const MayBlock& may_block, DeviceState& device) {
  const std::lock_guard lock(device.mutex);
  if (device.retain_count == 0) {
    return fail(CUDA_ERROR_INVALID_CONTEXT, "nobody has retained the context of device %d",
                device.ordinal);
  }
  if (--device.retain_count == 0) device.primary->deactivate(may_block);
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

void forget_thread(uint64_t thread) {
  std::vector<Ref<Stream>> gone;
  table_of<Context>().for_each_live([&](uint64_t, Object& object) {
    auto& context = static_cast<Context&>(object);
    context.take_thread(thread, &gone);
  });
}

void Context::take_thread(uint64_t thread, std::vector<Ref<Stream>>* out) {
  const std::lock_guard lock(mutex_);
  const auto found = per_thread_.find(thread);
  if (found == per_thread_.end()) return;
  out->push_back(std::move(found->second));
  per_thread_.erase(found);
}

}  // namespace km::dropin
