// A device opened: its streams, its allocations, its sticky error and its device printf.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "backend/interface.h"
#include "backends/cpu/device/device_graphs.h"
#include "backends/cpu/device/output.h"
#include "backends/cpu/memory/allocations.h"
#include "backends/cpu/memory/device_heap.h"
#include "base/result.h"
#include "simt/engine.h"

namespace km::cpu {

class Device;
class KernelThread;
class ThreadPool;
class Stream;

/// Why running kernels must leave; the value of the stop word that generated code is left by.
enum class StopReason : uint32_t { none = 0, fault = 1, timeout = 2, reset = 3, exit = 4 };

/// Counted references: core's, and one for each stream, allocation and module.
class Context {
 public:
  static Context* make(Device* device, ThreadPool* pool);
  void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  void release();

  Device* device() const { return device_; }
  ThreadPool* pool() const { return pool_; }
  Allocations& allocations() { return *allocations_; }
  /// allocations() for another context, which only looks whether they are there still.
  const std::shared_ptr<Allocations>& shared_allocations() const { return allocations_; }
  /// Launches by kernels that may be under way or pending at a time; 0: as many as there is memory.
  std::atomic<uint64_t>& pending_launches() { return settings_.pending_launches; }
  /// The stack that each thread has for recursive calls and alloca.
  std::atomic<uint64_t>& thread_stack_bytes() { return settings_.thread_stack_bytes; }
  /// True when each access of its kernels is tested. Set before anything is made of the context.
  bool is_checked() const { return settings_.is_checked; }
  void set_checked(bool is_checked) { settings_.is_checked = is_checked; }
  DeviceHeap& device_heap() { return device_heap_; }
  DeviceGraphs& device_graphs() { return device_graphs_; }
  Output& output() { return output_; }

  // Streams.
  void add_stream(Stream* stream);
  void remove_stream(Stream* stream);
  std::vector<Stream*> streams() const;

  // Errors. The first one sticks until reset().
  bool failed() const { return status_.load(std::memory_order_acquire) != KM_SUCCESS; }
  km_status status() const { return status_.load(std::memory_order_acquire); }
  /// The sticky error; KM_SUCCESS if there is none.
  Error error() const;
  /// The error that failed() saw; KM_ERROR_CONTEXT_LOST if a reset has cleared it since. Never
  /// KM_SUCCESS.
  Error failure() const;
  /// Success, or the sticky error.
  Status check() const;
  /// Sets the sticky error, unless there is one, and stops what runs on other threads. `self` is
  /// this thread.
  void fail(Error error, const KernelThread* self);

  // Profiles.
  bool is_profiling() const { return profiling_.load(std::memory_order_acquire); }
  /// The start of the recording: times before it are those of commands that had the same memory.
  uint64_t profiling_since_ns() const { return profiling_since_ns_.load(); }
  /// The first call says where the records go; later ones turn them on and off only.
  void set_profiling(bool on, kmb_profile_callback callback, void* user_data,
                     km_release_callback release);
  void record(const kmb_profile_record& record) const { profile_callback_(profile_data_, &record); }

  // Stopping.
  const std::atomic<uint32_t>* stop_word() const { return &stop_; }
  bool is_stopping() const { return stop_.load() >= static_cast<uint32_t>(StopReason::reset); }
  /// The process ends: callbacks are no longer made, since what they use may be gone.
  bool is_exiting() const { return stop_.load() == static_cast<uint32_t>(StopReason::exit); }
  /// The number of resets so far: nobody waits for work that began before the last.
  uint64_t resets() const { return resets_.load(std::memory_order_acquire); }
  StopReason stop_reason() const { return static_cast<StopReason>(stop_.load()); }
  /// Stops the kernels that run longer than the limit.
  void stop_overdue();
  uint64_t timeout_ms() const;

  // Failed assertions (assertion.h).
  std::atomic<uint32_t>& failed_assertions() { return failed_assertions_; }
  /// Changes with each reset().
  uint64_t epoch() const { return epoch_.load(); }
  /// True if there was no reset since, nor an error.
  bool is_asserting(uint64_t epoch) const { return epoch_.load() == epoch && !failed(); }
  /// Stops kernels, unless is_asserting() says no.
  void stop_asserting(uint64_t epoch);
  /// Notes the error with which the context fails when the command that is under way has ended.
  void note_assertion(Error error);
  bool has_assertion() const { return has_assertion_.load(std::memory_order_acquire); }
  void settle_assertion();
  /// Stops kernels, has the streams drop what is queued, clears the sticky error. `drop_queued`
  /// returns when nothing is queued any more.
  void reset(void (*drop_queued)(std::span<Stream* const> streams));

  /// For the end of the process: stops everything of all contexts, within a bounded time.
  static void stop_all();
  /// Calls stop_overdue() if this is a live context.
  static void stop_overdue_of(const void* context);

 private:
  Context(Device* device, ThreadPool* pool) : device_(device), pool_(pool) {}
  friend std::default_delete<Context>;
  ~Context();
  bool try_retain();
  bool set_error(Error error);

  Device* const device_;
  ThreadPool* const pool_;
  std::atomic<uint32_t> references_{1};
  std::atomic<km_status> status_{KM_SUCCESS};
  std::atomic<bool> profiling_{false}, has_assertion_{false};  // every command looks at them
  std::atomic<uint32_t> stop_{0};
  std::atomic<uint32_t> failed_assertions_{0};
  struct {
    std::atomic<uint64_t> pending_launches{0};
    std::atomic<uint64_t> thread_stack_bytes{simt::kThreadStackBytes};
    bool is_checked = false;
  } settings_;
  std::atomic<uint64_t> epoch_{0};
  std::atomic<uint64_t> resets_{0};
  mutable std::mutex error_mutex_;
  Error error_{KM_SUCCESS, {}, 0}, assertion_{KM_SUCCESS, {}, 0};
  std::mutex reset_mutex_;
  mutable std::mutex streams_mutex_;
  std::vector<Stream*> streams_;
  // Shared with peers, which only look whether it is there still.
  const std::shared_ptr<Allocations> allocations_ = std::make_shared<Allocations>();
  DeviceHeap device_heap_{allocations_.get()};
  DeviceGraphs device_graphs_;
  mutable Output output_;
  kmb_profile_callback profile_callback_ = nullptr;  // set once, before profiling_
  void* profile_data_ = nullptr;
  km_release_callback profile_release_ = nullptr;
  std::atomic<uint64_t> profiling_since_ns_{0};
};

}  // namespace km::cpu
