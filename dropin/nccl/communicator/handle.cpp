#include "dropin/nccl/communicator/handle.h"

#include <utility>

namespace km::nccl {
namespace {

constexpr uint64_t kTag = library::handle_tag(library::HandleKind::kNcclCommunicator, 2);

library::HandleMap<Handle>& handles() { return library::handle_map<Handle>(); }
uint64_t id_of(ncclComm_t comm) { return reinterpret_cast<uint64_t>(comm); }

}  // namespace

ncclResult_t current_device(RankDevice* out) {
  const library::Driver* const driver = library::driver();
  if (driver == nullptr) return status_of(cu::CUDA_ERROR_NOT_INITIALIZED);
  LIB_CHECK(library::enter_context(*driver));
  LIB_CHECK(driver->cuCtxGetCurrent(&out->context));
  cu::CUdevice device = 0;
  LIB_CHECK(driver->cuCtxGetDevice(&device));
  out->ordinal = device;
  return ncclSuccess;
}

Handle::~Handle() {
  if (order_event_ == nullptr) return;
  if (const library::Driver* const driver = library::driver()) {
    driver->cuEventDestroy_v2(order_event_);
  }
}

void Handle::defer_start(bool is_deferred) {
  const std::lock_guard lock(mutex_);
  is_deferred_ = is_deferred;
}

void Handle::finish_start(std::shared_ptr<comm::Communicator> communicator,
                          const comm::Failure& failure) {
  {
    const std::lock_guard lock(mutex_);
    communicator_ = std::move(communicator);
    start_failure_ = failure;
    has_started_ = true;
  }
  started_.notify_all();
}

comm::Failure Handle::failure() const {
  const std::lock_guard lock(mutex_);
  if (start_failure_ || communicator_ == nullptr) return start_failure_;
  return communicator_->failure();
}

comm::Failure Handle::start_failure() const {
  const std::lock_guard lock(mutex_);
  return start_failure_;
}

ncclResult_t Handle::state() const {
  {
    const std::lock_guard lock(mutex_);
    if (!has_started_) return ncclInProgress;
  }
  return status_of(failure().kind);
}

std::shared_ptr<comm::Communicator> Handle::peek() const {
  const std::lock_guard lock(mutex_);
  return communicator_;
}

ncclResult_t Handle::get(std::shared_ptr<comm::Communicator>* out) const {
  {
    std::unique_lock lock(mutex_);
    if (is_deferred_)
      return misused("the communicator starts at the end of a group: call it after");
    started_.wait(lock, [this] { return has_started_; });
    *out = communicator_;
    if (is_finalized_) return invalid("the communicator was finalized");
    if (is_suspended_) return misused("the communicator is suspended: ncclCommResume it first");
  }
  return tell(failure());
}

void Handle::finalize() {
  const std::lock_guard lock(mutex_);
  is_finalized_ = true;
}

bool Handle::is_finalized() const {
  const std::lock_guard lock(mutex_);
  return is_finalized_;
}

ncclResult_t Handle::suspend(bool suspends) {
  const std::lock_guard lock(mutex_);
  if (is_suspended_ == suspends) {
    return misused("the communicator is %s", suspends ? "suspended" : "not suspended");
  }
  is_suspended_ = suspends;
  return ncclSuccess;
}

bool Handle::is_suspended() const {
  const std::lock_guard lock(mutex_);
  return is_suspended_;
}

ncclRedOp_t Handle::add_reduction(const OwnReduction& reduction) {
  const std::lock_guard lock(mutex_);
  const int32_t id = next_reduction_++;
  reductions_.emplace(id, reduction);
  return static_cast<ncclRedOp_t>(id);
}

bool Handle::remove_reduction(ncclRedOp_t op) {
  const std::lock_guard lock(mutex_);
  return reductions_.erase(op) != 0;
}

std::optional<OwnReduction> Handle::find_reduction(ncclRedOp_t op) const {
  const std::lock_guard lock(mutex_);
  const auto found = reductions_.find(op);
  return found == reductions_.end() ? std::nullopt : std::optional(found->second);
}

cu::CUresult Handle::order_in(const library::Driver& driver, cu::CUstream stream) {
  const std::lock_guard lock(mutex_);
  const std::optional<cu::CUstream> last = std::exchange(last_stream_, stream);
  if (!last || *last == stream) return cu::CUDA_SUCCESS;
  for (const cu::CUstream each : {*last, stream}) {
    cu::CUstreamCaptureStatus capture = cu::CU_STREAM_CAPTURE_STATUS_NONE;
    // A stream that is gone has no work; in captures the program's own edges are the order.
    if (driver.cuStreamIsCapturing(each, &capture) != cu::CUDA_SUCCESS ||
        capture != cu::CU_STREAM_CAPTURE_STATUS_NONE) {
      return cu::CUDA_SUCCESS;
    }
  }
  if (order_event_ == nullptr) {
    const cu::CUresult made = driver.cuEventCreate(&order_event_, cu::CU_EVENT_DISABLE_TIMING);
    if (made != cu::CUDA_SUCCESS) return made;
  }
  const cu::CUresult recorded = driver.cuEventRecord(order_event_, *last);
  return recorded == cu::CUDA_SUCCESS ? driver.cuStreamWaitEvent(stream, order_event_, 0)
                                      : recorded;
}

ncclComm_t add_handle(SharedHandle handle) {
  return reinterpret_cast<ncclComm_t>(handles().add(std::move(handle), kTag));
}

SharedHandle find_handle(ncclComm_t comm) {
  SharedHandle found = handles().find(id_of(comm));
  if (found == nullptr) frame::explain("the communicator %p is not live", static_cast<void*>(comm));
  return found;
}

SharedHandle remove_handle(ncclComm_t comm) {
  SharedHandle found = handles().remove(id_of(comm));
  if (found == nullptr) frame::explain("the communicator %p is not live", static_cast<void*>(comm));
  return found;
}

}  // namespace km::nccl
