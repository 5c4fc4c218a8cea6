#include "backends/vulkan/device/completion_thread.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

#include "backends/vulkan/driver/driver_use.h"
#include "base/thread/start_thread.h"

namespace km::vulkan {
namespace {

constexpr uint64_t kStackBytes = 1 << 20;

struct Pending {
  uint64_t value;
  std::function<void(VkResult)> follow;
};

}  // namespace

struct CompletionThread::State {
  VkDevice device;
  PFN_vkWaitSemaphores wait;
  VkSemaphore semaphore;
  std::mutex mutex;  // guards the members below
  std::condition_variable changed;
  std::deque<Pending> pending;
  bool is_started = false, is_ending = false;

  void run() {
    for (;;) {
      std::unique_lock lock(mutex);
      changed.wait(lock, [this] { return is_ending || !pending.empty(); });
      if (pending.empty()) return;
      Pending next = std::move(pending.front());
      pending.pop_front();
      lock.unlock();
      const DriverUse use;
      const VkSemaphoreWaitInfo info{.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                     .pNext = nullptr,
                                     .flags = 0,
                                     .semaphoreCount = 1,
                                     .pSemaphores = &semaphore,
                                     .pValues = &next.value};
      next.follow(wait(device, &info, UINT64_MAX));
      next.follow = nullptr;  // may destroy the device
    }
  }
};

CompletionThread::CompletionThread(VkDevice device, PFN_vkWaitSemaphores wait,
                                   VkSemaphore semaphore)
    : state_(std::make_shared<State>()) {
  state_->device = device;
  state_->wait = wait;
  state_->semaphore = semaphore;
}

CompletionThread::~CompletionThread() {
  const std::lock_guard lock(state_->mutex);
  state_->is_ending = true;
  state_->changed.notify_one();
}

bool CompletionThread::start() {
  const std::lock_guard lock(state_->mutex);
  if (state_->is_started) return true;
  state_->is_started =
      start_thread("km-vulkan-done", kStackBytes, -1, [state = state_] { state->run(); });
  return state_->is_started;
}

void CompletionThread::add(uint64_t value, std::function<void(VkResult)> follow) {
  const std::lock_guard lock(state_->mutex);
  state_->pending.push_back({value, std::move(follow)});
  state_->changed.notify_one();
}

}  // namespace km::vulkan
