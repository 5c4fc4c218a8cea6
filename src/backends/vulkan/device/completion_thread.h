// The thread that waits for the submissions of one VkDevice and runs what follows each.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "backends/vulkan/driver/loader.h"

namespace km::vulkan {

class CompletionThread {
 public:
  /// Waits on `semaphore` of `device`; both must be valid while submissions are pending.
  CompletionThread(VkDevice device, PFN_vkWaitSemaphores wait, VkSemaphore semaphore);
  ~CompletionThread();
  CompletionThread(const CompletionThread&) = delete;
  CompletionThread& operator=(const CompletionThread&) = delete;

  /// Starts the thread if it does not run; false if the system has no more threads.
  bool start();
  /// Runs `follow` with the result of the wait once the semaphore has `value`. Values ascend.
  /// `follow` keeps whatever the submission uses, the device included.
  void add(uint64_t value, std::function<void(VkResult)> follow);

 private:
  struct State;
  const std::shared_ptr<State> state_;  // shared with the thread, which may outlive this object
};

}  // namespace km::vulkan
