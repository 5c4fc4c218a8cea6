#include "fake_cuda/queue.h"

#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

namespace km::cu {

constexpr size_t kRoom = 1024;  // in a queue: a call waits for it, as the driver's do

bool is_async() {
  const char* script = std::getenv("KM_FAKE_CUDA");
  return script != nullptr && std::strcmp(script, "async") == 0;
}

std::shared_ptr<Queue> Queue::create(Context& context) {
  std::shared_ptr<Queue> queue(new Queue(context));
  if (is_async()) std::thread([queue] { queue->loop(); }).detach();
  return queue;
}

CUresult Queue::run(const Work& work) {
  if (work.is_mark) return work.run(context_);
  {
    const std::lock_guard lock(state_mutex());
    if (context_.sticky != CUDA_SUCCESS) return CUDA_SUCCESS;  // as the driver does: dropped
    if (work.function == nullptr) {
      const CUresult result = work.run(context_);
      if (is_fatal(result)) set_sticky(context_, result);
      return result;
    }
  }
  run_host_function(work.function, work.user_data);
  return CUDA_SUCCESS;
}

void Queue::begin_capture() {
  const std::lock_guard lock(mutex_);
  is_capturing_ = true;
}

bool Queue::is_capturing() {
  const std::lock_guard lock(mutex_);
  return is_capturing_;
}

std::vector<Work> Queue::end_capture() {
  const std::lock_guard lock(mutex_);
  is_capturing_ = false;
  return std::exchange(captured_, {});
}

CUresult Queue::submit(Work work) {
  if (is_capturing()) {
    const std::lock_guard lock(mutex_);
    captured_.push_back(std::move(work));
    return CUDA_SUCCESS;
  }
  if (!is_async()) return run(work);
  const Call::Unlocked unlocked;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return work_.size() < kRoom || is_closed_; });
  if (!is_closed_) work_.push_back(std::move(work));
  changed_.notify_all();
  return CUDA_SUCCESS;
}

void Queue::loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return !work_.empty() || is_closed_; });
    if (work_.empty()) return;
    const Work work = std::move(work_.front());
    work_.pop_front();
    is_busy_ = true;
    lock.unlock();
    std::this_thread::sleep_for(std::chrono::microseconds(20));
    if (!work.is_record) run(work);
    lock.lock();
    if (work.is_record) run(work);
    is_busy_ = false;
    changed_.notify_all();
  }
}

bool Queue::is_idle() {
  const std::lock_guard lock(mutex_);
  return work_.empty() && !is_busy_;
}

void Queue::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return work_.empty() && !is_busy_; });
}

void Queue::close() {
  const std::lock_guard lock(mutex_);
  is_closed_ = true;
  changed_.notify_all();
}

void Queue::abandon() {
  const std::lock_guard lock(mutex_);
  work_.clear();
  is_closed_ = true;
  changed_.notify_all();
}

std::shared_ptr<Queue> find_queue(CUstream stream) {
  Object* object = find_object("stream", stream);
  return object != nullptr ? std::static_pointer_cast<Queue>(object->data) : nullptr;
}

void wait_for_device(int device) {
  std::vector<std::shared_ptr<void>> queues;
  {
    const std::lock_guard lock(state_mutex());
    queues = data_of("stream", device);
  }
  for (const auto& queue : queues) std::static_pointer_cast<Queue>(queue)->wait();
}

}  // namespace km::cu
