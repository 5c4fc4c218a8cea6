#include "core/context/memory_profile.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <system_error>

#include "base/assert.h"
#include "base/thread/clock.h"
#include "base/thread/thread_signals.h"

namespace km {
namespace {

constexpr size_t kMostSamples = 1 << 16;  // when it is reached, every second sample is dropped

}  // namespace

void MemoryProfile::note(uint64_t used_bytes, std::atomic<uint64_t>& count) {
  count.fetch_add(1, std::memory_order_relaxed);
  uint64_t peak = peak_.load(std::memory_order_relaxed);
  while (used_bytes > peak && !peak_.compare_exchange_weak(peak, used_bytes)) {
  }
  uint64_t minimum = minimum_.load(std::memory_order_relaxed);
  while (used_bytes < minimum && !minimum_.compare_exchange_weak(minimum, used_bytes)) {
  }
}

void MemoryProfile::begin(uint64_t interval_ns) {
  const std::lock_guard lock(mutex_);
  KM_ASSERT(!is_running_ && !thread_.joinable(), "no thread samples while a profile begins");
  samples_.clear();
  samples_.reserve(kMostSamples);  // reserved here, so that sampling needs no memory
  interval_ns_ = interval_ns;
  stride_ = 1;
  sample_count_ = 0;
  sum_ = 0;
  start_ns_ = now_ns();
  is_stopping_ = false;
  const uint64_t used = used_.load(std::memory_order_relaxed);
  peak_ = used;
  minimum_ = used;
  allocations_ = 0;
  frees_ = 0;
}

Status MemoryProfile::start(uint64_t interval_ns) {
  if (interval_ns == 0) return make_error(KM_ERROR_INVALID_ARGUMENT, "interval_ns is 0");
  const std::lock_guard control(control_mutex_);
  if (is_running_) {
    return make_error(KM_ERROR_NOT_PERMITTED,
                      "a memory profile of this context runs already; "
                      "km_context_stop_memory_profile ends it");
  }
  begin(interval_ns);
  is_running_ = true;
  take_sample();
  const LibraryThreadSignals signals;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
    is_running_ = false;
    return make_error(KM_ERROR_OUT_OF_HOST_MEMORY,
                      "cannot start the thread that samples: raise the limit on processes "
                      "(ulimit -u)");
  } catch (const std::bad_alloc&) {
    is_running_ = false;
    throw;
  }
  return {};
}

void MemoryProfile::stop() {
  const std::lock_guard control(control_mutex_);
  if (!is_running_) return;
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
  take_sample();
  is_running_ = false;
}

void MemoryProfile::run() {
  pthread_setname_np(pthread_self(), "km-memory");
  // The allocator may hold state for this thread, so it may not be cancelled.
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
  std::unique_lock lock(mutex_);
  while (!is_stopping_) {
    const auto pause = std::chrono::nanoseconds(std::min<uint64_t>(interval_ns_, INT64_MAX / 4));
    if (wake_.wait_for(lock, pause, [this] { return is_stopping_; })) return;
    lock.unlock();
    take_sample();
    lock.lock();
  }
}

void MemoryProfile::take_sample() {
  const std::lock_guard lock(mutex_);
  const uint64_t used = used_.load(std::memory_order_relaxed);
  sum_ += static_cast<double>(used);
  KM_ASSERT(stride_ != 0 && samples_.size() <= kMostSamples,
            "excess samples are thinned out by a longer stride");
  if (sample_count_++ % stride_ != 0) return;
  if (samples_.size() == kMostSamples) {
    for (size_t i = 0; i < kMostSamples / 2; ++i) samples_[i] = samples_[2 * i];
    samples_.resize(kMostSamples / 2);
    stride_ *= 2;
  }
  samples_.push_back({now_ns() - start_ns_, used});
}

km_memory_profile MemoryProfile::report() const {
  const std::lock_guard lock(mutex_);
  km_memory_profile profile{};
  profile.struct_size = sizeof profile;
  profile.is_running = is_running_ ? 1 : 0;
  profile.interval_ns = interval_ns_;
  profile.sample_count = sample_count_;
  profile.used_bytes = used_;
  profile.peak_bytes = peak_;
  profile.minimum_bytes = minimum_;
  if (sample_count_ != 0) {
    profile.mean_bytes = static_cast<uint64_t>(sum_ / static_cast<double>(sample_count_));
  }
  profile.allocation_count = allocations_;
  profile.free_count = frees_;
  return profile;
}

std::vector<km_memory_sample> MemoryProfile::samples() const {
  const std::lock_guard lock(mutex_);
  return samples_;
}

}  // namespace km
