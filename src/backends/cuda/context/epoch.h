// One life of a device's primary context: from its retention to its loss or release. Everything
// made in it keeps it; what it has lost, nobody gives back.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "backends/cuda/context/gpu.h"
#include "backends/cuda/context/own_kernels.h"
#include "backends/cuda/driver/cublas.h"
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

  /// True if a fatal result was seen. Objects of such a context go with it.
  bool has_failed() const { return has_failed_.load(std::memory_order_acquire); }
  /// The error that it failed with; KM_SUCCESS before.
  Error failure() const;
  Status require_alive() const;
  /// Notes the result of a call: a fatal one is the end of this epoch.
  Status check(Called called);
  void fail(const Error& error);
  /// The context was reset: its handles are invalid from now on. Gives up the retention.
  void set_gone();
  /// Held by whoever resets the context.
  std::shared_mutex& reset_mutex() const { return reset_mutex_; }

  /// The stream on which memory is allocated that no stream of the caller orders. Nothing else is
  /// queued there, so that waiting for it never waits for kernels.
  Result<cu::CUstream> allocation_stream();
  /// The stream on which memory is freed that several streams have used.
  Result<cu::CUstream> free_stream();
  /// The pool that memory comes from; null where the device has none.
  Result<cu::CUmemoryPool> pool();
  /// The memory that the pool has taken from the device and not given out.
  uint64_t unused_pool_bytes();
  /// A kernel of the library's own. With the context current.
  Result<cu::CUfunction> own_kernel(OwnKernel which);
  /// A handle of cuBLAS that nobody uses; nothing: none is left.
  std::optional<BlasHandle> take_blas_handle();
  /// It does nothing any more.
  void give_blas_handle(BlasHandle handle);
  /// Counts contexts of this device that use a peer's memory. Whether this is the first that
  /// begins, or the last that ends.
  bool count_peer(const Epoch& peer, bool is_enabled);
  /// Lets kernels of `peer` use the memory of this context's pool, or no longer.
  Status set_pool_access(const Epoch& peer, bool is_enabled);

  /// The call is expected once more: by the driver or, when the context fails, by the reaper. The
  /// epoch lives until then.
  Status expect(const std::shared_ptr<HostCall>& call);
  /// The call, if it is still to be made: by the caller, once for each time that it is expected.
  std::shared_ptr<HostCall> claim(HostCall* call);
  /// Makes the calls that the driver will not make, because the context has failed.
  void make_lost_calls();

 private:
  explicit Epoch(const Gpu& gpu);
  Result<cu::CUstream> make_stream(cu::CUstream* stream);
  Result<cu::CUmemoryPool> make_pool();
  void destroy_resources();
  bool are_calls_done();

  const Gpu& gpu_;
  const uint64_t number_;  // of all that there have been
  cu::CUcontext handle_ = nullptr;
  std::atomic<bool> has_failed_{false}, is_gone_{false};
  mutable std::shared_mutex reset_mutex_;

  mutable std::mutex failure_mutex_;  // guards what follows
  Error failure_{KM_SUCCESS, {}, 0};

  std::mutex resources_mutex_;  // guards what follows; before failure_mutex_
  cu::CUstream allocation_stream_ = nullptr, free_stream_ = nullptr;
  cu::CUmemoryPool pool_ = nullptr;
  OwnKernels own_kernels_;
  std::vector<BlasHandle> blas_handles_;  // as many as were in use at a time
  std::map<uint64_t, uint32_t> peers_;    // by their numbers

  std::mutex calls_mutex_;  // guards what follows
  struct Expected {
    std::shared_ptr<HostCall> call;
    uint32_t count = 0;
  };
  std::shared_ptr<HostCall> claim_locked(std::unordered_map<HostCall*, Expected>::iterator found);
  std::unordered_map<HostCall*, Expected> expected_;
  std::vector<std::shared_ptr<HostCall>> buried_;  // the driver may know of them still
  bool is_watching_ = false;
};

/// Keeps the context from being reset while it is used without a caller who would know better: by
/// destructors and by the reaper. Not for one within another.
class Alive {
 public:
  explicit Alive(const Epoch& epoch) : lock_(epoch.reset_mutex()), is_alive_(!epoch.has_failed()) {}
  /// The handles are valid still.
  explicit operator bool() const { return is_alive_; }

 private:
  const std::shared_lock<std::shared_mutex> lock_;
  const bool is_alive_;
};

/// Makes a context current on this thread where it is not, and takes it off again.
class Current {
 public:
  /// `asks`: first for the one that is current now, which need not be pushed then.
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

/// The epoch's primary context is current on this thread, or why not.
Status require_current(Epoch& epoch, const Current& current);

}  // namespace km::cuda
