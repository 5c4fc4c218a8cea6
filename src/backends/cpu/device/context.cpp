#include "backends/cpu/device/context.h"

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "backends/cpu/config/config.h"
#include "backends/cpu/fault/kernel_thread.h"
#include "backends/cpu/threads/futex.h"
#include "base/assert.h"
#include "base/callback/callback_thread.h"
#include "base/memory/host_allocator.h"
#include "base/thread/lock_at_exit.h"

namespace km::cpu {
namespace {

constexpr uint64_t kExitNs = 250000000;

/// The live contexts. The registry is never destroyed, because stop_all() uses it during process
/// exit.
struct Registry {
  std::mutex mutex;
  std::vector<Context*> contexts;
};

Registry& registry() {
  static auto* const made = new Registry;
  return *made;
}

}  // namespace

Context::Context(Device* device, ThreadPool* pool) : device_(device), pool_(pool) {
  settings_.checks.set(
      {.tools = config().check_tools, .tells_same_values = config().check_same_values});
  count_warps(config().counters);
}

Context* Context::make(Device* device, ThreadPool* pool) {
  std::unique_ptr<Context> context(new Context(device, pool));
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  all.contexts.push_back(context.get());
  return context.release();
}

Context::~Context() {
  if (profile_release_ != nullptr) profile_release_(profile_data_);
}

void Context::set_profiling(bool on, kmb_profile_callback callback, void* user_data,
                            km_release_callback release) {
  KM_ASSERT(!on || callback != nullptr || profile_callback_ != nullptr,
            "a context is profiled without a callback");
  if (callback != nullptr) {
    profile_callback_ = callback;
    profile_data_ = user_data;
    profile_release_ = release;
  }
  if (on && !is_profiling()) profiling_since_ns_.store(now_ns());
  profiling_.store(on, std::memory_order_release);
}

void Context::release() {
  const uint32_t references = references_.fetch_sub(1, std::memory_order_acq_rel);
  KM_ASSERT(references != 0, "a context is released more often than it was retained");
  if (references != 1) return;
  KM_ASSERT(streams_.all.empty(), "a context is destroyed before its streams");
  {
    Registry& all = registry();
    std::lock_guard lock(all.mutex);
    std::erase(all.contexts, this);
  }
  delete this;
}

bool Context::try_retain() {
  uint32_t references = references_.load(std::memory_order_relaxed);
  do {
    if (references == 0) return false;
  } while (!references_.compare_exchange_weak(references, references + 1));
  return true;
}

void Context::add_stream(Stream* stream) {
  std::lock_guard lock(streams_mutex_);
  KM_ASSERT(std::find(streams_.all.begin(), streams_.all.end(), stream) == streams_.all.end(),
            "a stream is added to its context twice");
  streams_.all.push_back(stream);
}

bool Context::remove_stream(Stream* stream) {
  std::lock_guard lock(streams_mutex_);
  [[maybe_unused]] const size_t erased = std::erase(streams_.all, stream);
  KM_ASSERT(erased == 1, "a stream is removed from a context that does not have it");
  return streams_.is_abandoned && streams_.all.empty();
}

bool Context::abandon() {
  std::lock_guard lock(streams_mutex_);
  KM_ASSERT(!streams_.is_abandoned, "a context is destroyed twice");
  streams_.is_abandoned = true;
  return streams_.all.empty();
}

std::vector<Stream*> Context::streams() const {
  std::lock_guard lock(streams_mutex_);
  return streams_.all;
}

Error Context::error() const {
  std::lock_guard lock(error_mutex_);
  if (error_.status != KM_SUCCESS || !failed()) return error_;
  return make_error(status(), "the process is exiting: its kernels were stopped");
}

Error Context::failure() const {
  Error found = error();
  if (found.status != KM_SUCCESS) return found;
  return make_error(KM_ERROR_CONTEXT_LOST, "the context was reset while the call ran");
}

Status Context::check() const {
  if (!failed()) return {};
  output_.flush_without_callback();
  Error found = error();
  if (found.status == KM_SUCCESS) return {};  // it has been reset meanwhile
  return found;
}

bool Context::set_error(Error error) {
  std::lock_guard lock(error_mutex_);
  if (error_.status != KM_SUCCESS) return false;
  KM_ASSERT(error.status != KM_SUCCESS, "a context fails with KM_SUCCESS");
  error_ = std::move(error);
  status_.store(error_.status, std::memory_order_release);
  return true;
}

void Context::fail(Error error, const KernelThread* self) {
  if (!set_error(std::move(error))) return;
  uint32_t none = 0;
  stop_.compare_exchange_strong(none, static_cast<uint32_t>(StopReason::fault));
  KernelThread::interrupt_all(this, self, kForever);
}

void Context::note_assertion(Error error) {
  {
    std::lock_guard lock(error_mutex_);
    KM_ASSERT(error.status != KM_SUCCESS, "a kernel's assertion fails with KM_SUCCESS");
    if (assertion_.status != KM_SUCCESS) return;
    assertion_ = std::move(error);
  }
  has_assertion_.store(true, std::memory_order_release);
}

void Context::settle_assertion() {
  Error error;
  {
    std::lock_guard lock(error_mutex_);
    if (!has_assertion_.exchange(false)) return;
    error = std::exchange(assertion_, {KM_SUCCESS, {}, 0});
  }
  fail(std::move(error), nullptr);
}

void Context::stop_asserting(uint64_t epoch, const KernelThread* self) {
  std::lock_guard reset_lock(reset_mutex_);
  if (!is_asserting(epoch)) return;
  uint32_t none = 0;
  if (!stop_.compare_exchange_strong(none, static_cast<uint32_t>(StopReason::fault))) return;
  KernelThread::interrupt_all(this, self, kForever);
}

uint64_t Context::timeout_ms() const { return config().kernel_timeout_ms; }

void Context::stop_overdue() {
  // A reset between the two steps would let the timeout hit work that follows it.
  std::lock_guard reset_lock(reset_mutex_);
  uint32_t none = 0;
  if (!stop_.compare_exchange_strong(none, static_cast<uint32_t>(StopReason::timeout))) return;
  KernelThread::interrupt_all(this, nullptr, kForever);
  // Usually the interrupted thread reports where it was. Otherwise the kernel has just ended by
  // itself, and this error stands in.
  for (int turn = 0; turn < 100 && !failed(); ++turn) usleep(1000);
  set_error(make_error(KM_ERROR_LAUNCH_TIMEOUT,
                       "a kernel ran longer than the time limit of %llu ms (KM_KERNEL_TIMEOUT_MS)",
                       static_cast<unsigned long long>(timeout_ms())));
}

void Context::stop_overdue_of(const void* wanted) {
  Context* context = nullptr;
  {
    Registry& all = registry();
    std::lock_guard lock(all.mutex);
    auto found = std::find(all.contexts.begin(), all.contexts.end(), wanted);
    if (found == all.contexts.end()) return;
    context = *found;
    // Its last reference is gone, and release() waits for this lock.
    if (!context->try_retain()) return;
  }
  context->stop_overdue();
  context->release();
}

void Context::reset(void (*drop_queued)(std::span<Stream* const> streams)) {
  const HostMemoryNeeded needed;  // a reset cannot stop halfway
  std::lock_guard reset_lock(reset_mutex_);
  resets_.fetch_add(1, std::memory_order_acq_rel);
  set_error(make_error(KM_ERROR_CONTEXT_LOST, "the context is being reset"));
  constexpr auto kReset = static_cast<uint32_t>(StopReason::reset);
  uint32_t reason = stop_.load();
  while (reason != static_cast<uint32_t>(StopReason::exit) &&
         !stop_.compare_exchange_weak(reason, kReset)) {
  }
  KernelThread::interrupt_all(this, nullptr, kForever);
  KM_ASSERT(is_stopping() && failed(), "a context takes work while it is reset");
  drop_queued(streams());
  output_.flush();
  device_heap_.clear();
  ++epoch_;
  failed_assertions_.store(0);
  has_assertion_.store(false);
  std::lock_guard lock(error_mutex_);
  assertion_ = Error{KM_SUCCESS, {}, 0};
  error_ = Error{KM_SUCCESS, {}, 0};
  reason = kReset;
  stop_.compare_exchange_strong(reason, 0);
  status_.store(KM_SUCCESS, std::memory_order_release);
  // stop_all() may have run meanwhile; its error must last.
  if (is_exiting()) status_.store(KM_ERROR_CONTEXT_LOST);
}

std::vector<Context*> Context::retain_all() {
  const std::unique_lock lock = lock_at_exit(registry().mutex);
  if (!lock.owns_lock()) return {};
  std::vector<Context*> retained;
  // The last reference to a context may be gone, whose release() waits for the lock.
  for (Context* const context : registry().contexts) {
    if (context->try_retain()) retained.push_back(context);
  }
  return retained;
}

void Context::stop_all() {
  Registry& all = registry();
  std::unique_lock lock = lock_at_exit(all.mutex);
  if (!lock.owns_lock()) return;
  for (Context* context : all.contexts) {
    context->stop_.store(static_cast<uint32_t>(StopReason::exit));
    context->status_.store(KM_ERROR_CONTEXT_LOST);
  }
  lock.unlock();
  KernelThread::interrupt_all(nullptr, nullptr, kExitNs);
  end_callbacks(kExitNs);
}

}  // namespace km::cpu
