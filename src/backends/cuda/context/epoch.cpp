#include "backends/cuda/context/epoch.h"

#include "backends/cuda/context/host_call.h"
#include "backends/cuda/driver/let_go.h"
#include "backends/cuda/driver/reaper.h"
#include "base/assert.h"

namespace km::cuda {
namespace {

// The memory that the pool keeps for reuse when the device synchronises; the driver takes the rest
// back.
constexpr cu::cuuint64_t kKeptPoolBytes = cu::cuuint64_t{64} << 20;

std::atomic<uint64_t> g_epochs{0};

}  // namespace

Epoch::Epoch(const Gpu& gpu) : gpu_(gpu), number_(++g_epochs) {}

Result<std::shared_ptr<Epoch>> Epoch::create(const Gpu& gpu) {
  const std::shared_ptr<Epoch> epoch = share(std::unique_ptr<Epoch>(new Epoch(gpu)));
  KM_TRY(cuda::check(driver().cuDevicePrimaryCtxRetain(&epoch->handle_, gpu.device())));
  return epoch;
}

Epoch::~Epoch() {
  if (handle_ == nullptr || is_gone_.load(std::memory_order_acquire)) return;
  if (!has_failed()) destroy_resources();
  check_destroyed(driver().cuDevicePrimaryCtxRelease_v2(gpu_.device()));
}

void Epoch::destroy_resources() {
  const Current current(*this);
  const auto& [blas, sparse, solver] = free_handles_;
  for (const BlasHandle& handle : blas) destroy_blas_handle(handle);
  for (cusparse_library::Handle const handle : sparse) destroy_sparse_handle(handle);
  for (cusolver_library::Handle const handle : solver) destroy_solver_handle(handle);
  for (cu::CUstream stream : {allocation_stream_, free_stream_}) {
    if (stream != nullptr) check_destroyed(driver().cuStreamDestroy_v2(stream));
  }
  own_kernels_.unload();
  if (pool_ != nullptr) check_destroyed(driver().cuMemPoolDestroy(pool_));
}

void Epoch::set_gone() {
  is_gone_.store(true, std::memory_order_release);
  check_destroyed(driver().cuDevicePrimaryCtxRelease_v2(gpu_.device()));
}

Error Epoch::failure() const {
  const std::lock_guard lock(failure_mutex_);
  return failure_;
}

Status Epoch::require_alive() const {
  if (!has_failed()) [[likely]]
    return {};
  return failure();
}

Status Epoch::check(Called called) {
  if (called.ok()) [[likely]]
    return {};
  Error error = driver_error(called);
  if (!is_fatal(called.result)) return error;
  fail(error);
  return failure();
}

void Epoch::fail(const Error& error) {
  {
    const std::lock_guard lock(failure_mutex_);
    if (has_failed()) return;
    failure_ = error;
    has_failed_.store(true, std::memory_order_release);
  }
  wake_reaper();  // completes callbacks that the driver will not run
}

Result<cu::CUstream> Epoch::make_stream(cu::CUstream* stream) {
  const std::lock_guard lock(resources_mutex_);
  if (*stream == nullptr) {
    cu::CUstream made = nullptr;
    KM_TRY(check(driver().cuStreamCreateWithPriority(&made, cu::CU_STREAM_NON_BLOCKING, 0)));
    *stream = made;
  }
  return *stream;
}

Result<cu::CUstream> Epoch::allocation_stream() { return make_stream(&allocation_stream_); }
Result<cu::CUstream> Epoch::free_stream() { return make_stream(&free_stream_); }

Result<cu::CUmemoryPool> Epoch::make_pool() {
  cu::CUmemPoolProps properties{};
  properties.allocType = cu::CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {cu::CU_MEM_LOCATION_TYPE_DEVICE, gpu_.device()};
  cu::CUmemoryPool made = nullptr;
  KM_TRY(check(driver().cuMemPoolCreate(&made, &properties)));
  cu::cuuint64_t kept = kKeptPoolBytes;
  Called ready = driver().cuMemPoolSetAttribute(made, cu::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &kept);
  // The pool may not reuse memory whose free is still queued on another stream, because the
  // allocation would wait for that stream.
  int no = 0;
  if (ready.ok()) {
    ready = driver().cuMemPoolSetAttribute(
        made, cu::CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES, &no);
  }
  if (ready.ok()) return made;
  check_destroyed(driver().cuMemPoolDestroy(made));
  return check(ready).error();
}

Result<cu::CUmemoryPool> Epoch::pool() {
  const std::lock_guard lock(resources_mutex_);
  if (pool_ == nullptr && gpu_.has_pools()) {
    KM_ASSIGN(pool_, make_pool());
  }
  return pool_;
}

uint64_t Epoch::unused_pool_bytes() {
  cu::CUmemoryPool pool = nullptr;
  {
    const std::lock_guard lock(resources_mutex_);
    pool = pool_;
  }
  if (pool == nullptr) return 0;
  cu::cuuint64_t reserved = 0, used = 0;
  const bool known =
      driver()
          .cuMemPoolGetAttribute(pool, cu::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved)
          .ok() &&
      driver().cuMemPoolGetAttribute(pool, cu::CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used).ok();
  return known && reserved > used ? reserved - used : 0;
}

Result<cu::CUfunction> Epoch::own_kernel(OwnKernel which) {
  const std::lock_guard lock(resources_mutex_);
  return own_kernels_.get(*this, which);
}

bool Epoch::count_peer(const Epoch& peer, bool is_enabled) {
  const std::lock_guard lock(resources_mutex_);
  uint32_t& count = peers_[peer.number_];
  if (is_enabled) return count++ == 0;
  if (count > 1) return --count == 0;
  peers_.erase(peer.number_);
  return true;
}

Status Epoch::set_pool_access(const Epoch& peer, bool is_enabled) {
  KM_ASSIGN(const cu::CUmemoryPool own, pool());
  if (own == nullptr) return {};
  cu::CUmemAccessDesc access{};
  access.location = {cu::CU_MEM_LOCATION_TYPE_DEVICE, peer.gpu().device()};
  access.flags =
      is_enabled ? cu::CU_MEM_ACCESS_FLAGS_PROT_READWRITE : cu::CU_MEM_ACCESS_FLAGS_PROT_NONE;
  return check(driver().cuMemPoolSetAccess(own, &access, 1));
}

Status Epoch::expect(const std::shared_ptr<HostCall>& call) {
  KM_TRY(allocation_stream());  // creates the stream that the reaper queries
  const std::lock_guard lock(calls_mutex_);
  if (!is_watching_) {
    // The driver runs no callbacks in a failed context, so the reaper has to notice the failure.
    is_watching_ = post_job([self = shared_from_this()] { return self->are_calls_done(); });
    if (!is_watching_) {
      return make_error(KM_ERROR_OUT_OF_HOST_MEMORY,
                        "cannot start the thread for callbacks: raise the limit on processes "
                        "(ulimit -u)");
    }
  }
  Expected& expected = expected_[call.get()];
  expected.call = call;
  ++expected.count;
  return {};
}

std::shared_ptr<HostCall> Epoch::claim_locked(ExpectedCalls::iterator found) {
  if (--found->second.count != 0) return found->second.call;
  std::shared_ptr<HostCall> call = std::move(found->second.call);
  expected_.erase(found);
  return call;
}

std::shared_ptr<HostCall> Epoch::claim(HostCall* call) {
  const std::lock_guard lock(calls_mutex_);
  const auto found = expected_.find(call);
  return found != expected_.end() ? claim_locked(found) : nullptr;
}

bool Epoch::are_calls_done() {
  if (const Alive alive(*this); alive) {
    const Current current(*this);
    const Result<cu::CUstream> stream = allocation_stream();
    // A query of any stream reports a failed context.
    if (current.ok() && stream) static_cast<void>(check(driver().cuStreamQuery(*stream)));
  }
  if (has_failed()) make_lost_calls();
  const std::lock_guard lock(calls_mutex_);
  is_watching_ = !expected_.empty();
  return !is_watching_;
}

/// Runs the call without the lock and returns with it. Running calls are counted, because a reset
/// returns only after calls that another thread has claimed.
std::shared_ptr<HostCall> Epoch::claim_and_run(std::unique_lock<std::mutex>& lock,
                                               ExpectedCalls::iterator found, km_status status) {
  std::shared_ptr<HostCall> call = claim_locked(found);
  ++running_calls_;
  lock.unlock();
  call->run(status);
  lock.lock();
  --running_calls_;
  call_returned_.notify_all();
  return call;
}

void Epoch::make_call(HostCall* call) {
  std::shared_ptr<HostCall> made;  // declared first, so that it is destroyed without the lock
  std::unique_lock lock(calls_mutex_);
  const auto found = expected_.find(call);
  if (found != expected_.end()) made = claim_and_run(lock, found, KM_SUCCESS);
}

/// Makes the registered calls that the driver will not make, because the context has failed.
void Epoch::make_lost_calls() {
  const km_status status = failure().status;
  std::unique_lock lock(calls_mutex_);
  while (!expected_.empty()) {
    std::shared_ptr<HostCall> call = claim_and_run(lock, expected_.begin(), status);
    if (expected_.count(call.get()) != 0) continue;
    lock.unlock();
    call->let_data_go();
    lock.lock();
    buried_.push_back(std::move(call));
  }
}

void Epoch::finish_lost_calls() {
  KM_ASSERT(has_failed(), "only a failed context has calls that the driver will not make");
  wake_reaper();  // it watches as long as a call is expected
  std::unique_lock lock(calls_mutex_);
  call_returned_.wait(lock, [this] { return expected_.empty() && running_calls_ == 0; });
}

Status require_current(Epoch& epoch, const Current& current) {
  if (current.ok()) [[likely]]
    return {};
  return epoch.check(current.called());
}

}  // namespace km::cuda
