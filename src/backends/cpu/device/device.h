// A CPU device: a share of the cores and of the memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "backends/cpu/threads/thread_pool_options.h"
#include "base/assert.h"
#include "base/result.h"

namespace km::cpu {

class ThreadPool;

/// A device's share of the machine, which lasts as long as the process.
class Device {
 public:
  Device(uint32_t ordinal, ThreadPoolOptions options)
      : ordinal_(ordinal), options_(std::move(options)) {}

  uint32_t ordinal() const { return ordinal_; }
  /// The number of worker threads, which is reported as the number of multiprocessors.
  uint32_t threads() const { return options_.threads; }
  /// Counts an allocation against the device's share of the memory. Fails with
  /// KM_ERROR_OUT_OF_DEVICE_MEMORY if the share is used up.
  Status take_memory(uint64_t size_bytes);
  /// Undoes take_memory().
  void give_memory_back(uint64_t size_bytes) {
    [[maybe_unused]] const uint64_t taken = taken_bytes_.fetch_sub(size_bytes);
    KM_ASSERT(taken >= size_bytes, "more memory is returned to a device than it has allocated");
  }
  /// Reduces the machine's figures to the device's share.
  void share_memory(uint64_t* free_bytes, uint64_t* total_bytes) const;

  /// The device's share of the machine's memory.
  uint64_t memory_bytes() const;

  /// The worker threads. The first call creates them by `start`, so that a device that is not used
  /// costs no threads.
  Result<ThreadPool*> pool(Result<ThreadPool*> (*start)(const ThreadPoolOptions& options));

 private:
  const uint32_t ordinal_;
  const ThreadPoolOptions options_;
  std::atomic<uint64_t> taken_bytes_{0};
  std::mutex mutex_;
  ThreadPool* pool_ = nullptr;
};

/// Limits that all GPUs share. Those in config().limits depend on the reported compute capability.
constexpr uint32_t kMaxThreadsPerBlock = 1024;
constexpr uint32_t kMaxBlockDim[3] = {1024, 1024, 64};
constexpr uint32_t kMaxGridDim[3] = {2147483647, 65535, 65535};
constexpr uint64_t kConstantBytes = 64 << 10;

}  // namespace km::cpu
