// One life of a device's primary context, from its retention to its loss or release. Objects made
// in it keep a reference to it; if it was lost, their driver handles are not destroyed.
#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "backends/cuda/context/gpu.h"
#include "backends/cuda/context/own_kernels.h"
#include "backends/cuda/driver/cublas.h"
#include "backends/cuda/driver/cusolver.h"
#include "backends/cuda/driver/cusparse.h"
#include "backends/cuda/driver/status.h"

namespace km::cuda {

class HostCall;

class Epoch : public std::enable_shared_from_this<Epoch> {
 public:
  /// Retains the primary context.
  static Result<std::shared_ptr<Epoch>> create(const Gpu& gpu);
  ~Epoch();

  const Gpu& gpu() const { return gpu_; }
  cu::CUcontext handle() const { return handle_; }

  /// True if a fatal result was seen. Driver objects of such a context are destroyed with it.
  bool has_failed() const { return has_failed_.load(std::memory_order_acquire); }
  /// The error of the failure; KM_SUCCESS before one.
  Error failure() const;
  Status require_alive() const;
  /// Converts the result of a driver call; a fatal one marks this epoch as failed.
  Status check(Called called);
  void fail(const Error& error);
  /// Called when the context was reset: its handles are invalid, and the retention is given up.
  void set_gone();
  /// Held exclusively while the context is reset, and shared while it is used.
  std::shared_mutex& reset_mutex() const { return reset_mutex_; }

  /// The stream for allocations that no stream of the caller orders. It has no other work, so that
  /// waiting for it never waits for kernels.
  Result<cu::CUstream> allocation_stream();
  /// The stream that frees memory which several streams have used.
  Result<cu::CUstream> free_stream();
  /// The device's memory pool; null if the device has none.
  Result<cu::CUmemoryPool> pool();
  /// Bytes that the pool holds but has not allocated.
  uint64_t unused_pool_bytes();
  /// One of the library's own kernels. The context must be current.
  Result<cu::CUfunction> own_kernel(OwnKernel which);
  /// Takes a free handle of a library; empty if there is none.
  template <class Handle>
  std::optional<Handle> take_handle() {
    const std::lock_guard lock(resources_mutex_);
    auto& free = std::get<std::vector<Handle>>(free_handles_);
    if (free.empty()) return std::nullopt;
    const Handle taken = free.back();
    free.pop_back();
    return taken;
  }
  /// Returns a handle whose calls are queued.
  template <class Handle>
  void give_handle(Handle handle) {
    if (has_failed()) return;  // the handle is lost with the context
    const std::lock_guard lock(resources_mutex_);
    std::get<std::vector<Handle>>(free_handles_).push_back(handle);
  }
  /// Counts contexts of this device that use a peer's memory. True if this one is the first to
  /// begin or the last to end.
  bool count_peer(const Epoch& peer, bool is_enabled);
  /// Allows or forbids kernels of `peer` to use the memory of this context's pool.
  Status set_pool_access(const Epoch& peer, bool is_enabled);

  /// Registers a host call that the driver or, if the context fails, the reaper will make. The
  /// epoch lives until then.
  Status expect(const std::shared_ptr<HostCall>& call);
  /// Returns the call if it has not been made yet; whoever gets it makes it. It succeeds once for
  /// each expect().
  std::shared_ptr<HostCall> claim(HostCall* call);
  /// Makes a registered call on the driver's thread, unless it was made already because the context
  /// failed.
  void make_call(HostCall* call);
  /// Waits until every registered call of a failed context was made and has returned. Host
  /// functions may not use it: they would wait for themselves.
  void finish_lost_calls();

 private:
  explicit Epoch(const Gpu& gpu);
  Result<cu::CUstream> make_stream(cu::CUstream* stream);
  Result<cu::CUmemoryPool> make_pool();
  void destroy_resources();
  bool are_calls_done();

  const Gpu& gpu_;
  const uint64_t number_;  // unique in this process
  cu::CUcontext handle_ = nullptr;
  std::atomic<bool> has_failed_{false}, is_gone_{false};
  mutable std::shared_mutex reset_mutex_;

  mutable std::mutex failure_mutex_;  // guards the members below
  Error failure_{KM_SUCCESS, {}, 0};

  std::mutex resources_mutex_;  // guards the members below; locked before failure_mutex_
  cu::CUstream allocation_stream_ = nullptr, free_stream_ = nullptr;
  cu::CUmemoryPool pool_ = nullptr;
  OwnKernels own_kernels_;
  // The vectors have as many handles of each library as were in use at once.
  std::tuple<std::vector<BlasHandle>, std::vector<cusparse_library::Handle>,
             std::vector<cusolver_library::Handle>>
      free_handles_;
  std::map<uint64_t, uint32_t> peers_;  // number of contexts by the peer epoch's number

  std::mutex calls_mutex_;  // guards the members below
  std::condition_variable call_returned_;
  uint32_t running_calls_ = 0;
  struct Expected {
    std::shared_ptr<HostCall> call;
    uint32_t count = 0;
  };
  using ExpectedCalls = std::unordered_map<HostCall*, Expected>;
  std::shared_ptr<HostCall> claim_locked(ExpectedCalls::iterator found);
  std::shared_ptr<HostCall> claim_and_run(std::unique_lock<std::mutex>& lock,
                                          ExpectedCalls::iterator found, km_status status);
  void make_lost_calls();
  ExpectedCalls expected_;
  // Calls that the driver may still hold a pointer to.
  std::vector<std::shared_ptr<HostCall>> buried_;
  bool is_watching_ = false;
};

/// Prevents a reset of the context while destructors or the reaper use its handles. Must not be
/// nested.
class Alive {
 public:
  explicit Alive(const Epoch& epoch) : lock_(epoch.reset_mutex()), is_alive_(!epoch.has_failed()) {}
  /// True if the context's handles are still valid.
  explicit operator bool() const { return is_alive_; }

 private:
  const std::shared_lock<std::shared_mutex> lock_;
  const bool is_alive_;
};

/// Makes the context current on this thread for its lifetime, unless it is current already.
class Current {
 public:
  /// If `asks`, it queries the current context first, which saves pushing one that is current
  /// already.
  explicit Current(const Epoch& epoch, bool asks = true) {
    cu::CUcontext now = nullptr;
    if (asks && driver().cuCtxGetCurrent(&now).ok() && now == epoch.handle()) return;
    called_ = driver().cuCtxPushCurrent_v2(epoch.handle());
    is_pushed_ = called_.ok();
  }
  ~Current() {
    cu::CUcontext popped = nullptr;
    if (is_pushed_) driver().cuCtxPopCurrent_v2(&popped);
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
  /// The result of making the context current.
  Called called() const { return called_; }
  bool ok() const { return called_.ok(); }
  bool is_pushed() const { return is_pushed_; }

 private:
  Called called_{cu::CUDA_SUCCESS, nullptr};
  bool is_pushed_ = false;
};

/// Fails if the epoch's primary context could not be made current on this thread.
Status require_current(Epoch& epoch, const Current& current);

}  // namespace km::cuda
