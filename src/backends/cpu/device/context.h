// An opened device: its streams, allocations, sticky error and device printf.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "backend/interface.h"
#include "backends/cpu/device/context_checks.h"
#include "backends/cpu/device/device_graphs.h"
#include "backends/cpu/memory/allocations.h"
#include "backends/cpu/memory/device_heap.h"
#include "base/callback/device_output.h"
#include "base/result.h"
#include "simt/engine.h"

namespace km::cpu {

class Device;
class KernelThread;
class ThreadPool;
class Stream;

/// The reason for which running kernels must stop, as the value of the stop word that generated
/// code polls.
enum class StopReason : uint32_t { none = 0, fault = 1, timeout = 2, reset = 3, exit = 4 };

/// A reference-counted context. The core holds one reference, and each stream, allocation and
/// module another.
class Context {
 public:
  /// Creates a context with one reference.
  static Context* make(Device* device, ThreadPool* pool);
  /// Adds a reference. Relaxed order suffices, because the caller already holds one.
  void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  /// Drops a reference; the last one destroys the context.
  void release();

  Device* device() const { return device_; }
  ThreadPool* pool() const { return pool_; }
  /// The memory of the context by address.
  Allocations& allocations() { return *allocations_; }
  /// The shared owner of allocations(). A peer context, which does not keep this one alive, detects
  /// by it that they are gone.
  const std::shared_ptr<Allocations>& shared_allocations() const { return allocations_; }
  /// The most launches by kernels that may be pending or running at a time; 0 if the program has
  /// not set a limit.
  std::atomic<uint64_t>& pending_launches() { return settings_.pending_launches; }
  /// The stack of each device thread for recursive calls and alloca.
  std::atomic<uint64_t>& thread_stack_bytes() { return settings_.thread_stack_bytes; }
  /// True if every access of the context's kernels is checked.
  bool is_checked() const { return settings_.is_checked || checks().tests_accesses(); }
  /// Has accesses checked also without a tool. It must be set before any object of the context
  /// exists, because code is compiled and memory is laid out for it.
  void set_checked(bool is_checked) { settings_.is_checked = is_checked; }
  /// True if launches count what warps do.
  bool counts_warps() const { return settings_.counts_warps.load(std::memory_order_relaxed); }
  void count_warps(bool on) { settings_.counts_warps.store(on, std::memory_order_relaxed); }
  ContextChecks& checks() { return settings_.checks; }
  const ContextChecks& checks() const { return settings_.checks; }
  DeviceHeap& device_heap() { return device_heap_; }
  DeviceGraphs& device_graphs() { return device_graphs_; }
  Output& output() { return output_; }

  // Streams.
  /// Registers a stream, so that reset() finds it.
  void add_stream(Stream* stream);
  /// Unregisters a stream that has been closed. Returns true if the context has been abandoned and
  /// this was the last one, so that no kernel can run any more.
  bool remove_stream(Stream* stream);
  /// The host has destroyed the context, and opens no further stream. Returns true if none is left;
  /// otherwise remove_stream() returns true once.
  bool abandon();
  /// A snapshot of the streams, which other threads may create and destroy at any time.
  std::vector<Stream*> streams() const;

  // Errors. The first one is sticky until reset().
  bool failed() const { return status_.load(std::memory_order_acquire) != KM_SUCCESS; }
  /// The status of the sticky error, which commands read without a lock.
  km_status status() const { return status_.load(std::memory_order_acquire); }
  /// The sticky error; its status is KM_SUCCESS if there is none.
  Error error() const;
  /// The error for a caller that has seen failed(): the sticky one, or KM_ERROR_CONTEXT_LOST if a
  /// reset has cleared it meanwhile. It is never KM_SUCCESS.
  Error failure() const;
  /// Fails with the sticky error, after output of the failed kernel has been flushed.
  Status check() const;
  /// Makes `error` sticky, unless there is a sticky error already, and stops the context's kernels
  /// on all threads but `self`, the calling one (null if it runs no kernel).
  void fail(Error error, const KernelThread* self);

  // Profiles.
  bool is_profiling() const { return profiling_.load(std::memory_order_acquire); }
  /// The start of the recording. Commands are reused, so an earlier time belongs to another call.
  uint64_t profiling_since_ns() const { return profiling_since_ns_.load(); }
  /// Turns recording on or off. Only the first call passes the callback; it takes effect before
  /// recording can begin.
  void set_profiling(bool on, kmb_profile_callback callback, void* user_data,
                     km_release_callback release);
  /// Passes a record to the profile's callback, which must have been set.
  void record(const kmb_profile_record& record) const { profile_callback_(profile_data_, &record); }

  // Stopping.
  const std::atomic<uint32_t>* stop_word() const { return &stop_; }
  /// True during reset() and once the process exits: queued commands end without being run.
  bool is_stopping() const { return stop_.load() >= static_cast<uint32_t>(StopReason::reset); }
  /// True once the process exits: the host's callbacks are no longer called, because what they use
  /// may be destroyed.
  bool is_exiting() const { return stop_.load() == static_cast<uint32_t>(StopReason::exit); }
  /// The number of resets that have begun. A waiting call gives up if it changes, since its work is
  /// lost.
  uint64_t resets() const { return resets_.load(std::memory_order_acquire); }
  /// The value of the stop word.
  StopReason stop_reason() const { return static_cast<StopReason>(stop_.load()); }
  /// Stops the context's kernels, one of which has exceeded the time limit.
  void stop_overdue();
  /// The time limit of kernels; 0 if there is none.
  uint64_t timeout_ms() const;

  // Failed assertions (assertion.h).
  std::atomic<uint32_t>& failed_assertions() { return failed_assertions_; }
  /// The number of resets that have ended.
  uint64_t epoch() const { return epoch_.load(); }
  /// True while neither a reset nor an error has ended the work that asserted in `epoch`.
  bool is_asserting(uint64_t epoch) const { return epoch_.load() == epoch && !failed(); }
  /// Stops the kernels if is_asserting() still holds. `self` is the calling thread if it runs one,
  /// because it cannot wait for itself; it meets the stop word later.
  void stop_asserting(uint64_t epoch, const KernelThread* self);
  /// Records a failed assertion, which becomes the sticky error when the current command ends, so
  /// that other threads of the kernel can report theirs.
  void note_assertion(Error error);
  /// True if note_assertion() has recorded an error since the last settle_assertion().
  bool has_assertion() const { return has_assertion_.load(std::memory_order_acquire); }
  /// Makes the recorded assertion the sticky error. Every command calls it at its end if
  /// has_assertion().
  void settle_assertion();
  /// Stops the kernels, drops queued commands and clears the sticky error. `drop_queued` returns
  /// when the streams are empty.
  void reset(void (*drop_queued)(std::span<Stream* const> streams));

  /// The contexts that exist, each with a reference for the caller.
  static std::vector<Context*> retain_all();
  /// Stops the work of all contexts when the process exits, within a bounded time.
  static void stop_all();
  /// Calls stop_overdue() if `context` is still alive. It may be dangling, since the caller holds
  /// no reference.
  static void stop_overdue_of(const void* context);

 private:
  Context(Device* device, ThreadPool* pool);
  friend std::default_delete<Context>;
  ~Context();
  bool try_retain();
  bool set_error(Error error);

  Device* const device_;
  ThreadPool* const pool_;
  std::atomic<uint32_t> references_{1};
  std::atomic<km_status> status_{KM_SUCCESS};
  std::atomic<bool> profiling_{false}, has_assertion_{false};  // read by every command
  std::atomic<uint32_t> stop_{0};
  std::atomic<uint32_t> failed_assertions_{0};
  struct {
    std::atomic<uint64_t> pending_launches{0};
    std::atomic<uint64_t> thread_stack_bytes{simt::kThreadStackBytes};
    std::atomic<bool> counts_warps{false};
    bool is_checked = false;
    ContextChecks checks;
  } settings_;
  std::atomic<uint64_t> epoch_{0};
  std::atomic<uint64_t> resets_{0};
  mutable std::mutex error_mutex_;
  Error error_{KM_SUCCESS, {}, 0}, assertion_{KM_SUCCESS, {}, 0};
  std::mutex reset_mutex_;
  mutable std::mutex streams_mutex_;
  struct {
    std::vector<Stream*> all;
    bool is_abandoned = false;
  } streams_;  // guarded by streams_mutex_
  // Peers hold it too, so that they can detect the end of this context.
  const std::shared_ptr<Allocations> allocations_ = std::make_shared<Allocations>();
  DeviceHeap device_heap_{allocations_.get()};
  DeviceGraphs device_graphs_;
  mutable Output output_;
  kmb_profile_callback profile_callback_ = nullptr;  // set once, before profiling_ becomes true
  void* profile_data_ = nullptr;
  km_release_callback profile_release_ = nullptr;
  std::atomic<uint64_t> profiling_since_ns_{0};
};

}  // namespace km::cpu
