// The thread that starts the steps of all streams. A queue of Vulkan runs what it is given in
// order, so a step is held back until nothing that it waits for is missing: no stream's wait blocks
// another stream.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "backends/vulkan/stream/stream.h"

namespace km::vulkan {

class Scheduler {
 public:
  /// The process's scheduler. It is never destroyed, because its thread may run until the end.
  static Scheduler& instance();

  /// Starts the thread if it does not run.
  Status start();
  /// Queues the steps of one operation and returns its ticket. A quick step of an idle stream is
  /// started at once.
  uint64_t add(Stream& stream, std::vector<Step> steps);
  /// Waits until `is_over`, called with the lock held, gives true; false after the timeout.
  bool wait(uint64_t timeout_ns, const std::function<bool()>& is_over);
  /// Calls `ask` with the lock held.
  template <class Ask>
  auto locked(Ask ask) {
    const std::lock_guard lock(mutex_);
    return ask();
  }
  /// True if the operation of the stream is over. Needs the lock.
  static bool has_passed_locked(const Stream& stream, uint64_t ticket) {
    return ticket <= stream.over_ticket_;
  }
  /// Runs `action` when all operations are over, even of a failed context: now, or on the
  /// scheduler's thread.
  void when_over(std::span<const kmb_use> uses, std::function<void()> action);
  /// Looks at all streams again, because something has changed that steps wait for.
  void wake();
  /// Starts no more steps, and waits for those that the devices run.
  void end(uint64_t timeout_ns);

 private:
  using Lock = std::unique_lock<std::mutex>;
  using Started = std::shared_ptr<Stream::Started>;
  struct Use {
    std::shared_ptr<Stream> stream;
    uint64_t ticket;
  };
  struct Action {
    std::vector<Use> uses;
    std::function<void()> run;
  };

  [[noreturn]] void run();
  bool start_steps(Lock& lock);
  enum class Which { all, quick };
  bool start_stream(Lock& lock, const std::shared_ptr<Stream>& stream, Which which);
  bool start_next(Lock& lock, const std::shared_ptr<Stream>& stream);
  bool may_start(Stream& stream);
  void call_host(const std::shared_ptr<Stream>& stream, const Started& started);
  Status submit(const std::shared_ptr<Stream>& stream, const Started& started);
  void finish(Stream& stream, const Started& started, VkResult result);
  void retire(Stream& stream, const Started& started, const Status& status);
  bool run_actions(Lock& lock);
  void destroy_unused(Lock& lock);
  static bool are_over(const std::vector<Use>& uses);

  std::mutex mutex_;  // guards the members below, and the queues of streams
  std::condition_variable work_, over_;
  std::vector<std::shared_ptr<Stream>> busy_;
  std::vector<Action> actions_;
  // Both are destroyed without the lock.
  std::vector<Started> dead_;
  std::vector<std::shared_ptr<Stream>> left_;
  uint64_t on_device_ = 0;  // submissions that are not over
  bool is_started_ = false, is_awake_ = false, polls_ = false;
  std::atomic<bool> is_ending_{false};  // also set without the lock
};

}  // namespace km::vulkan
