#include "backends/cuda/context/profile.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <new>

#include "backends/cuda/driver/reaper.h"
#include "base/thread/clock.h"

namespace km::cuda {
namespace {

// The driver returns times as float milliseconds, which are exact to a microsecond up to 16
// seconds.
constexpr uint64_t kClockLifeNs = 4'000'000'000;

uint32_t thread_id() {
  static thread_local const auto id = static_cast<uint32_t>(syscall(SYS_gettid));
  return id;
}

/// Computes the time between two events that have completed.
bool elapsed_ns(cu::CUevent from, cu::CUevent to, int64_t* out_ns) {
  float milliseconds = 0;
  if (!driver().cuEventElapsedTime(&milliseconds, from, to).ok()) return false;
  *out_ns = static_cast<int64_t>(double{milliseconds} * 1e6);
  return true;
}

bool make_event(cu::CUevent* out_event) { return driver().cuEventCreate(out_event, 0).ok(); }

}  // namespace

Profile::~Profile() {
  destroy_clock();
  for (Operation& operation : queued_) operation.destroy_events();
  if (release_ != nullptr) release_(user_data_);
}

void Profile::destroy_clock() {
  const cu::CUevent clock = std::exchange(clock_, nullptr);
  if (clock == nullptr) return;
  const Alive alive(*clock_epoch_);
  if (!alive) return;
  const Current current(*clock_epoch_);
  check_destroyed(driver().cuEventDestroy_v2(clock));
}

void Profile::Operation::destroy_events() {
  const Alive alive(*epoch);
  if (!alive) return;
  const Current current(*epoch);
  for (cu::CUevent* event : {&begin, &end}) {
    if (*event != nullptr) check_destroyed(driver().cuEventDestroy_v2(*event));
    *event = nullptr;
  }
}

/// The caller holds the lock. The event completes at once, because its stream is idle.
Status Profile::start_clock(Epoch& epoch) {
  if (clock_epoch_.get() != &epoch) destroy_clock();
  KM_ASSIGN(const cu::CUstream stream, epoch.allocation_stream());
  if (clock_ == nullptr) {
    cu::CUevent made = nullptr;
    KM_TRY(epoch.check(driver().cuEventCreate(&made, 0)));
    clock_ = made;
    clock_epoch_ = epoch.shared_from_this();
  }
  KM_TRY(epoch.check(driver().cuEventRecord(clock_, stream)));
  KM_TRY(epoch.check(driver().cuEventSynchronize(clock_)));
  clock_ns_ = now_ns();
  return {};
}

Status Profile::set(bool is_on, const std::shared_ptr<Epoch>& epoch, kmb_profile_callback callback,
                    void* user_data, km_release_callback release) {
  if (!is_on) {
    is_on_.store(false, std::memory_order_relaxed);
    collect();
    return {};
  }
  const Current current(*epoch);
  KM_TRY(require_current(*epoch, current));
  const std::lock_guard lock(mutex_);
  KM_TRY(start_clock(*epoch));
  if (callback != nullptr) {
    callback_ = callback;
    user_data_ = user_data;
    release_ = release;
  }
  is_on_.store(true, std::memory_order_relaxed);
  return {};
}

/// The caller holds the lock. Returns false while the operation is not over.
bool Profile::read(Operation& operation) {
  const Alive alive(*operation.epoch);
  if (!alive) return true;  // its times are lost with the context
  const Current current(*operation.epoch);
  const Called passed = driver().cuEventQuery(operation.end);
  if (passed.result == cu::CUDA_ERROR_NOT_READY) return false;
  int64_t begin = 0, length = 0;
  if (passed.ok() && elapsed_ns(clock_, operation.begin, &begin) &&
      elapsed_ns(operation.begin, operation.end, &length)) {
    operation.record.begin_ns = clock_ns_ + static_cast<uint64_t>(begin);
    operation.record.end_ns =
        operation.record.begin_ns + static_cast<uint64_t>(std::max<int64_t>(length, 0));
    operation.record.name = operation.name.empty() ? nullptr : operation.name.c_str();
    callback_(user_data_, &operation.record);
  }
  static_cast<void>(operation.epoch->check(passed));
  return true;
}

/// Reports an operation and destroys its events.
bool Profile::hand_over(Operation& operation) {
  if (!read(operation)) return false;
  operation.destroy_events();
  return true;
}

void Profile::collect() {
  const std::lock_guard lock(mutex_);
  if (queued_.empty()) return;
  std::erase_if(queued_, [this](Operation& operation) { return hand_over(operation); });
  if (!is_on() || now_ns() - clock_ns_ < kClockLifeNs) return;
  const Alive alive(*clock_epoch_);
  if (!alive) return;
  const Current current(*clock_epoch_);
  static_cast<void>(start_clock(*clock_epoch_));  // if it fails, the old clock stays
}

void Profile::add(Operation&& operation) {
  const std::lock_guard lock(mutex_);
  queued_.push_back(std::move(operation));
  if (is_watching_) return;
  is_watching_ = post_job([self = shared_from_this()] {
    self->collect();
    const std::lock_guard inner(self->mutex_);
    self->is_watching_ = !self->queued_.empty();
    return !self->is_watching_;
  });
}

void ProfiledOperation::begin(Profile& profile, const std::shared_ptr<Epoch>& epoch,
                              cu::CUstream stream, km_profile_kind kind, const void* shown_stream,
                              uint64_t size_bytes, const char* name, float occupancy) noexcept {
  try {
    auto operation = std::make_unique<Profile::Operation>();
    operation->epoch = epoch;
    operation->record.kind = kind;
    operation->record.stream = shown_stream;
    operation->record.size_bytes = size_bytes;
    operation->record.occupancy = occupancy;
    operation->record.call_begin_ns = now_ns();
    operation->record.host_thread = thread_id();
    if (name != nullptr) operation->name = name;
    if (make_event(&operation->begin) && make_event(&operation->end) &&
        driver().cuEventRecord(operation->begin, stream).ok()) {
      profile_ = &profile;
      stream_ = stream;
      operation_ = std::move(operation);
    } else {
      operation->destroy_events();
    }
  } catch (const std::bad_alloc&) {
    profile_ = nullptr;  // this operation is not recorded
  }
}

void ProfiledOperation::note_launch(const kmb_launch& launch) noexcept {
  std::copy_n(launch.grid, 3, operation_->record.grid);
  std::copy_n(launch.block, 3, operation_->record.block);
  operation_->record.shared_bytes = launch.shared_bytes;
}

void ProfiledOperation::finish() noexcept {
  operation_->record.call_end_ns = now_ns();
  try {
    if (driver().cuEventRecord(operation_->end, stream_).ok()) {
      profile_->add(std::move(*operation_));
    } else {
      operation_->destroy_events();
    }
  } catch (const std::bad_alloc&) {
    operation_->destroy_events();
  }
}

}  // namespace km::cuda
