// The device memory that a context uses: always counted, and sampled on request.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "base/assert.h"
#include "base/result.h"
#include "kernelmill/tracking.h"

namespace km {

class MemoryProfile {
 public:
  MemoryProfile() = default;
  ~MemoryProfile() { stop(); }
  MemoryProfile(const MemoryProfile&) = delete;
  MemoryProfile& operator=(const MemoryProfile&) = delete;

  void add(uint64_t size_bytes) {
    const uint64_t now = used_.fetch_add(size_bytes, std::memory_order_relaxed) + size_bytes;
    if (is_running_.load(std::memory_order_relaxed)) [[unlikely]]
      note(now, allocations_);
  }
  void remove(uint64_t size_bytes) {
    const uint64_t before = used_.fetch_sub(size_bytes, std::memory_order_relaxed);
    KM_ASSERT(before >= size_bytes, "freed bytes were counted when they were allocated");
    const uint64_t now = before - size_bytes;
    if (is_running_.load(std::memory_order_relaxed)) [[unlikely]]
      note(now, frees_);
  }

  /// Clears the samples and starts; fails while a profile runs.
  Status start(uint64_t interval_ns);
  /// Stops and keeps the samples. Does nothing if no profile runs.
  void stop();
  km_memory_profile report() const;
  std::vector<km_memory_sample> samples() const;

 private:
  void note(uint64_t used_bytes, std::atomic<uint64_t>& count);
  void begin(uint64_t interval_ns);
  void take_sample();
  void run();

  std::atomic<uint64_t> used_{0};
  std::atomic<bool> is_running_{false};
  std::atomic<uint64_t> peak_{0}, minimum_{0}, allocations_{0}, frees_{0};

  std::mutex control_mutex_;  // one start or stop at a time
  mutable std::mutex mutex_;  // guards the members below
  std::condition_variable wake_;
  bool is_stopping_ = false;
  uint64_t interval_ns_ = 0;
  uint64_t stride_ = 1;        // in intervals; doubles when there are too many samples
  uint64_t sample_count_ = 0;  // samples taken so far
  uint64_t start_ns_ = 0;
  double sum_ = 0;
  std::vector<km_memory_sample> samples_;
  std::thread thread_;
};

}  // namespace km
