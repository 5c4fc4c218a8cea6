// Contexts: opened devices, which own streams, memory and modules.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "core/capture/capture.h"
#include "core/context/address_map.h"
#include "core/context/memory_profile.h"
#include "core/context/tracker.h"
#include "core/device/device.h"
#include "core/error/error_history.h"
#include "core/object/callback.h"
#include "core/object/object.h"
#include "core/profiler/profiler.h"

namespace km {

class Context final : public Object {
 public:
  static Result<Ref<Context>> create(Ref<Device> device,
                                     km_context_flags flags = KM_CONTEXT_DEFAULT);

  Device& device() const { return *device_; }
  const kmb_backend& backend() const { return device_->backend(); }
  kmb_context* native() const { return native_; }
  /// Rises with each reset; objects of earlier epochs are lost.
  uint32_t epoch() const { return epoch_.load(std::memory_order_acquire); }

  /// The flags in effect.
  km_context_flags flags() const {
    return flags_ | (checks(kCheckInCode) ? KM_CONTEXT_CHECKED : 0);
  }
  /// True if uses of its memory on different streams are ordered.
  bool is_ordered() const { return (flags_ & KM_CONTEXT_ORDERED) != 0; }

  /// A default stream of the backend. A reference to it keeps the context alive as well.
  struct DefaultStream {
    explicit DefaultStream(const kmb_backend& of) : backend(of) {}
    ~DefaultStream() {
      if (native != nullptr) backend.stream_destroy(native);
    }
    DefaultStream(const DefaultStream&) = delete;
    DefaultStream& operator=(const DefaultStream&) = delete;

    const kmb_backend& backend;
    kmb_stream* native = nullptr;
    uint64_t number = 0;
  };
  using SharedDefaultStream = std::shared_ptr<const DefaultStream>;
  /// The default stream of the current epoch, created on first use.
  Result<SharedDefaultStream> default_stream();
  /// The slot of the current epoch's default stream.
  Ref<CaptureSlot> default_capture_slot();
  ContextCaptures& captures() { return captures_; }
  Profiler& profiler() { return *profiler_; }
  Status start_profiler();
  Status stop_profiler();
  /// Begins or stops to report operations to the activity listener. KM_ERROR_NOT_SUPPORTED if the
  /// backend measures no times.
  Status follow_activity(bool on);
  uint64_t number() const { return number_; }

  struct MemoryInfo {
    uint64_t free_bytes = 0, total_bytes = 0;
  };
  Status synchronize(const MayBlock& may_block);
  Result<MemoryInfo> memory_info();
  Status reset(const MayBlock& may_block);
  /// KM_SUCCESS, or the error of a kernel that faulted.
  Status sticky();
  Result<uint64_t> limit(km_context_limit limit) const;
  Status set_limit(km_context_limit limit, uint64_t value);
  /// A null callback sends output to standard output.
  Status set_output(km_output_callback callback, void* user_data);

  /// Sets whether warps are counted; see km_profiler_set_counters.
  Status set_counters(bool on);
  /// Selects the checker's tools; see km_context_set_check.
  Status set_check(km_check_flags flags, uint64_t limit, km_finding_callback callback,
                   void* user_data, const MayBlock& may_block);
  /// True if the checker has this tool, a KM_CHECK_..., in this context.
  bool checks(km_check_flags tool) const {
    return (check_flags_.load(std::memory_order_relaxed) & tool) != 0;
  }
  /// Passes a finding to the receiver of the context's findings.
  void add_finding(const km_finding& finding);

  /// The context's error: the sticky error of a kernel, otherwise that of the last failed call;
  /// KM_SUCCESS if there is none.
  Error error();
  /// Returns the error, and clears it if it is the last call's.
  Error take_error();
  /// Records the error of a failed call. `function` must have static lifetime.
  void record_error(const char* function, km_status status, std::string_view text,
                    int64_t native_code) noexcept;
  void record_error(const char* function, const Error& error) noexcept {
    record_error(function, error.status, error.message, error.native_code);
  }
  ErrorHistory& error_history() { return error_history_; }

  /// Allows or forbids kernels of this context to use memory of `peer`, which must belong to the
  /// same backend.
  Status set_peer_access(Context& peer, bool enabled);
  /// True for this context and for those that set_peer_access() allowed.
  bool may_use(const Context& other) const;

  AllocationTracker& tracker() { return tracker_; }
  MemoryProfile& memory_profile() { return memory_profile_; }

  /// Counts handles of the program; when the last one is destroyed, objects that are still alive
  /// are reported.
  void handle_given() { handle_count_.fetch_add(1, std::memory_order_relaxed); }
  void handle_gone() override;

  /// Device memory by device address and page-locked host memory by host address.
  AddressMap& device_ranges() { return device_ranges_; }
  AddressMap& host_ranges() { return host_ranges_; }

 private:
  struct Output {
    std::mutex mutex;
    km_output_callback callback = nullptr;
    void* user_data = nullptr;
    static void write(void* output, const char* text, uint64_t size_bytes);
  };

  /// The callback for findings.
  struct FindingReceiver {
    km_finding_callback callback;
    void* user_data;
    static void give(void* receiver, const km_finding* finding);
  };
  /// The tools for which accesses of kernels are tested.
  static constexpr km_check_flags kCheckInCode =
      KM_CHECK_MEMORY | KM_CHECK_INIT | KM_CHECK_RACE | KM_CHECK_SYNC | KM_CHECK_STREAMS;

  Context(Ref<Device> device, km_context_flags flags);
  /// Enables checked accesses if the flags ask for them; clears the flag if the device cannot
  /// check.
  Status choose_checking();
  void learn_checks();
  Status set_profiling(bool on);
  Status report_operations();
  ~Context() override;
  Error sticky_error();

  const Ref<Device> device_;
  km_context_flags flags_;  // do not change after create()
  const uint64_t number_;   // unique in this process, because peers refer to each other by it
  const std::shared_ptr<Profiler> profiler_;
  kmb_context* native_ = nullptr;
  std::atomic<uint32_t> epoch_{1};
  std::atomic<uint64_t> handle_count_{0};
  AllocationTracker tracker_;
  MemoryProfile memory_profile_;
  AddressMap device_ranges_;
  AddressMap host_ranges_;
  Output output_;
  ContextCaptures captures_;
  ErrorHistory error_history_;
  std::atomic<km_check_flags> check_flags_{KM_CHECK_OFF};
  std::mutex check_mutex_;
  std::unique_ptr<FindingReceiver> finding_receiver_;  // guarded by check_mutex_

  struct Profiling {
    std::mutex mutex;            // guards the members below
    bool backend_knows = false;  // the profiler
    bool is_followed = false;    // the activity listener hears of operations
  };
  Profiling profiling_;

  // The backend is called with this lock held. It must not be called with mutex_ held, which
  // callbacks may take.
  mutable std::mutex peers_mutex_;
  std::vector<uint64_t> peers_;  // guarded by peers_mutex_

  mutable std::mutex mutex_;  // guards the members below
  SharedDefaultStream default_stream_;
  Ref<CaptureSlot> default_capture_slot_;
  Error last_error_{KM_SUCCESS, {}, 0};
};

/// Returns a number that no stream of any context has had.
uint64_t new_stream_number();

/// Fails unless both contexts belong to one backend.
Status require_peer(const Context& context, const Context& peer);

/// An object that belongs to a context and is lost when the context is reset.
class ContextChild : public Object {
 public:
  Context& context() const { return *context_; }
  const kmb_backend& backend() const { return context_->backend(); }
  bool is_lost() const { return epoch_ != context_->epoch(); }

  /// The memory that an object holds, for reports of leaks.
  struct HeldMemory {
    uint64_t size_bytes = 0;
    uint64_t tracking_id = 0;  // in the context's tracker; 0: not tracked
  };
  virtual std::optional<HeldMemory> held_memory() const { return std::nullopt; }

 protected:
  explicit ContextChild(Context& context)
      : context_(Ref<Context>::share(context)), epoch_(context.epoch()) {}
  /// Marks a constructor of a child that is a part of another child and is lost with it.
  struct PartOf {
    const ContextChild& parent;
  };
  explicit ContextChild(PartOf part) : context_(part.parent.context_), epoch_(part.parent.epoch_) {}

 private:
  const Ref<Context> context_;
  const uint32_t epoch_;
};

}  // namespace km
