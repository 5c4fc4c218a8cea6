// An epoch: the life of a context's VkDevice from one reset to the next, with its queue, its memory
// and its failure.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "backends/vulkan/device/buffer_map.h"
#include "backends/vulkan/device/completion_thread.h"
#include "backends/vulkan/driver/adapter.h"
#include "backends/vulkan/driver/driver_use.h"
#include "base/result.h"

namespace km::vulkan {

class Epoch : public std::enable_shared_from_this<Epoch> {
 public:
  static Result<std::shared_ptr<Epoch>> create(const Adapter& adapter);
  ~Epoch();

  const Adapter& adapter() const { return adapter_; }
  const DeviceFunctions& vk() const {
    if (are_driver_uses_over()) [[unlikely]]
      return ended_functions();
    return vk_;
  }
  VkDevice device() const { return device_; }
  VkPipelineCache pipeline_cache() const { return pipeline_cache_; }

  /// The memory of the context by its addresses on the device, and page-locked host memory by those
  /// of the host.
  BufferMap& device_memory() { return device_memory_; }
  BufferMap& host_memory() { return host_memory_; }

  /// Makes the epoch fail, once: every later call that allocates, queues or waits returns the
  /// error.
  void fail(const Error& error);
  bool has_failed() const { return has_failed_.load(std::memory_order_acquire); }
  /// The error of a failed epoch.
  Error failure() const;
  Status require_alive() const;
  /// Counts as the context's failure if the device is lost.
  Status check(VkResult result, const char* function);

  /// Vulkan wants one thread at a time to record commands of a pool.
  [[nodiscard]] std::unique_lock<std::mutex> lock_for_recording() {
    return std::unique_lock(record_mutex_);
  }
  /// A command buffer that nothing uses, to be recorded with that lock held.
  Result<VkCommandBuffer> take_commands();
  /// Submits the recorded commands and runs `follow` with their result when they are over. The
  /// commands are then free again.
  Status submit(VkCommandBuffer commands, std::function<void(VkResult)> follow);

  /// A pair of timestamp queries; nothing if all are in use or the queue has no timestamps.
  std::optional<uint32_t> take_query();
  void give_query_back(uint32_t query);
  VkQueryPool queries() const { return queries_; }
  /// The time of a query whose commands are over, in nanoseconds of the device's clock.
  Result<int64_t> time_ns(uint32_t query);

 private:
  explicit Epoch(const Adapter& adapter) : adapter_(adapter) {}
  Status create_device();
  Status create_semaphore();
  Status create_pools();
  Status create_pipeline_cache();

  const Adapter& adapter_;
  DeviceFunctions vk_{};
  VkDevice device_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
  VkSemaphore timeline_ = VK_NULL_HANDLE;
  VkCommandPool command_pool_ = VK_NULL_HANDLE;
  VkPipelineCache pipeline_cache_ = VK_NULL_HANDLE;
  uint64_t kept_pipeline_bytes_ = 0;  // of pipelines that an earlier process has kept
  VkQueryPool queries_ = VK_NULL_HANDLE;
  std::optional<CompletionThread> completion_;
  BufferMap device_memory_, host_memory_;

  std::mutex record_mutex_;
  std::mutex queue_mutex_;  // Vulkan wants one thread at a time at a queue
  uint64_t submitted_ = 0;

  std::mutex free_mutex_;  // guards the members below
  std::vector<VkCommandBuffer> free_commands_;
  std::vector<uint32_t> free_queries_;

  mutable std::mutex failure_mutex_;
  std::atomic<bool> has_failed_{false};
  Error failure_{KM_SUCCESS, {}, 0};
};

}  // namespace km::vulkan
