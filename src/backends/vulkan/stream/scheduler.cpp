#include "backends/vulkan/stream/scheduler.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "backends/vulkan/driver/driver_use.h"
#include "base/assert.h"
#include "base/callback/callback_thread.h"
#include "base/memory/host_allocator.h"
#include "base/thread/lock_at_exit.h"
#include "base/thread/start_thread.h"

namespace km::vulkan {
namespace {

constexpr uint64_t kStackBytes = 1 << 20;
constexpr std::chrono::microseconds kPollPeriod{500};
// steady_clock overflows on longer waits, and nobody waits for centuries.
constexpr uint64_t kLongestWaitNs = uint64_t{1} << 60;

}  // namespace

Scheduler& Scheduler::instance() {
  static auto* const made = new Scheduler;
  return *made;
}

Status Scheduler::start() {
  const std::lock_guard lock(mutex_);
  if (!is_started_) is_started_ = start_thread("km-vulkan", kStackBytes, -1, [this] { run(); });
  if (is_started_) return {};
  return make_error(KM_ERROR_OUT_OF_HOST_MEMORY,
                    "cannot start the thread for streams: raise the limit on processes (ulimit "
                    "-u)");
}

uint64_t Scheduler::add(Stream& stream, std::vector<Step> steps) {
  KM_ASSERT(!steps.empty(), "an operation has a step");
  const HostMemoryNeeded needed;  // a stream cannot lose a step that has begun
  Lock lock(mutex_);
  const uint64_t ticket = ++stream.added_ticket_;
  const bool at_once = steps.front().is_quick && stream.waiting_.empty() && stream.started_.empty();
  steps.back().ticket = ticket;
  for (Step& step : steps) stream.waiting_.push_back(std::move(step));
  const std::shared_ptr<Stream> self = stream.shared_from_this();
  if (at_once) start_stream(lock, self, Which::quick);
  if (stream.waiting_.empty()) return ticket;
  if (!std::exchange(stream.is_busy_, true)) busy_.push_back(self);
  is_awake_ = true;
  work_.notify_one();
  return ticket;
}

bool Scheduler::wait(uint64_t timeout_ns, const std::function<bool()>& is_over) {
  Lock lock(mutex_);
  if (is_over()) return true;
  if (timeout_ns == 0) return false;
  if (timeout_ns >= kLongestWaitNs) {
    over_.wait(lock, is_over);
    return true;
  }
  return over_.wait_for(lock, std::chrono::nanoseconds(timeout_ns), is_over);
}

void Scheduler::wake() {
  const std::lock_guard lock(mutex_);
  is_awake_ = true;
  work_.notify_one();
  over_.notify_all();
}

void Scheduler::end(uint64_t timeout_ns) {
  is_ending_ = true;
  Lock lock = lock_at_exit(mutex_);
  if (!lock.owns_lock()) return;
  over_.wait_for(lock, std::chrono::nanoseconds(timeout_ns), [this] { return on_device_ == 0; });
}

void Scheduler::run() {
  Lock lock(mutex_);
  for (;;) {
    is_awake_ = polls_ = false;
    const bool has_started = start_steps(lock);
    const bool has_run = run_actions(lock);
    destroy_unused(lock);
    if (has_started || has_run) continue;
    const auto is_awake = [this] { return is_awake_; };
    if (polls_) {
      work_.wait_for(lock, kPollPeriod, is_awake);
    } else {
      work_.wait(lock, is_awake);
    }
  }
}

bool Scheduler::start_steps(Lock& lock) {
  bool has_started = false;
  for (size_t i = 0; i < busy_.size() && !is_ending_; ++i) {
    const std::shared_ptr<Stream> stream = busy_[i];
    has_started |= start_stream(lock, stream, Which::all);
    stream->is_busy_ = !stream->waiting_.empty();
  }
  const auto idle =
      std::stable_partition(busy_.begin(), busy_.end(),
                            [](const std::shared_ptr<Stream>& stream) { return stream->is_busy_; });
  left_.insert(left_.end(), std::make_move_iterator(idle), std::make_move_iterator(busy_.end()));
  busy_.erase(idle, busy_.end());
  return has_started;
}

/// Destroys what may be the last user of a device, whose end is a call of the driver.
void Scheduler::destroy_unused(Lock& lock) {
  if (dead_.empty() && left_.empty()) return;
  std::vector<Started> dead = std::exchange(dead_, {});
  std::vector<std::shared_ptr<Stream>> left = std::exchange(left_, {});
  lock.unlock();
  {
    const DriverUse use;
    dead.clear();
    left.clear();
  }
  lock.lock();
}

bool Scheduler::may_start(Stream& stream) {
  if (stream.waiting_.empty() || is_ending_) return false;
  if (stream.epoch().has_failed()) return stream.started_.empty();
  // Nothing overtakes a call of the host.
  if (!stream.started_.empty() && stream.started_.back()->step.callback) return false;
  const Step& step = stream.waiting_.front();
  if (step.follows_all && !stream.started_.empty()) return false;
  if (!step.may_start || step.may_start()) return true;
  polls_ |= step.polls;
  return false;
}

/// Starts the steps of a stream that may start, in their order; false if there are none, or if
/// another thread starts them. A caller's thread starts quick ones alone, whoever has queued them.
bool Scheduler::start_stream(Lock& lock, const std::shared_ptr<Stream>& stream, Which which) {
  if (std::exchange(stream->is_starting_, true)) return false;
  const auto is_next = [&] {
    return which == Which::all || (!stream->waiting_.empty() && stream->waiting_.front().is_quick);
  };
  bool has_started = false;
  while (is_next() && start_next(lock, stream)) has_started = true;
  stream->is_starting_ = false;
  return has_started;
}

bool Scheduler::start_next(Lock& lock, const std::shared_ptr<Stream>& stream) {
  if (!may_start(*stream)) return false;
  const auto started = std::make_shared<Stream::Started>();
  started->step = std::move(stream->waiting_.front());
  stream->waiting_.pop_front();
  stream->started_.push_back(started);
  if (started->step.callback) {
    call_host(stream, started);
  } else if (!started->step.record || stream->epoch().has_failed()) {
    retire(*stream, started, {});
  } else {
    ++on_device_;
    lock.unlock();
    const Status submitted = submit(stream, started);
    lock.lock();
    if (!submitted) {
      --on_device_;
      retire(*stream, started, submitted);
    }
  }
  return true;
}

void Scheduler::call_host(const std::shared_ptr<Stream>& stream, const Started& started) {
  const Epoch& epoch = stream->epoch();
  const km_status status = epoch.has_failed() ? epoch.failure().status : KM_SUCCESS;
  post_callback(
      {.call = [started, status] { started->step.callback(status); },
       .then =
           [this, stream = std::shared_ptr<Stream>(stream), started = Started(started)]() mutable {
             const std::lock_guard lock(mutex_);
             retire(*stream, started, {});
             dead_.push_back(std::move(started));
             left_.push_back(std::move(stream));
           }});
}

Status Scheduler::submit(const std::shared_ptr<Stream>& stream, const Started& started) {
  Epoch& epoch = stream->epoch();
  const std::unique_lock recording = epoch.lock_for_recording();
  KM_ASSIGN(Commands commands, Commands::begin(epoch));
  KM_TRY(started->step.record(commands));
  KM_TRY(commands.end());
  return epoch.submit(commands.handle(), [this, stream, started](VkResult result) {
    finish(*stream, started, result);
  });
}

void Scheduler::finish(Stream& stream, const Started& started, VkResult result) {
  Status status = stream.epoch().check(result, "vkWaitSemaphores");
  if (status && started->step.finish) status = started->step.finish();
  const std::lock_guard lock(mutex_);
  --on_device_;
  retire(stream, started, status);
}

/// Notes the end of a step, and completes those at the front of the stream that are over.
void Scheduler::retire(Stream& stream, const Started& started, const Status& status) {
  if (!status) stream.epoch().fail(status.error());
  started->is_done = true;
  while (!stream.started_.empty() && stream.started_.front()->is_done) {
    const Step& step = stream.started_.front()->step;
    if (step.complete) step.complete();
    if (step.ticket != 0) stream.over_ticket_ = step.ticket;
    dead_.push_back(std::move(stream.started_.front()));
    stream.started_.pop_front();
  }
  is_awake_ = true;
  work_.notify_one();
  over_.notify_all();
}

bool Scheduler::are_over(const std::vector<Use>& uses) {
  return std::all_of(uses.begin(), uses.end(),
                     [](const Use& use) { return use.ticket <= use.stream->over_ticket_; });
}

void Scheduler::when_over(std::span<const kmb_use> uses, std::function<void()> action) {
  Action made{{}, std::move(action)};
  for (const kmb_use& use : uses) {
    made.uses.push_back({from(use.stream)->shared_from_this(), use.ticket});
  }
  {
    const std::lock_guard lock(mutex_);
    if (!are_over(made.uses)) {
      actions_.push_back(std::move(made));
      return;
    }
  }
  made.run();
}

bool Scheduler::run_actions(Lock& lock) {
  const auto first =
      std::stable_partition(actions_.begin(), actions_.end(),
                            [](const Action& action) { return !are_over(action.uses); });
  if (first == actions_.end()) return false;
  std::vector<Action> ready(std::make_move_iterator(first),
                            std::make_move_iterator(actions_.end()));
  actions_.erase(first, actions_.end());
  lock.unlock();
  {
    const DriverUse use;
    for (Action& action : ready) action.run();
    ready.clear();
  }
  lock.lock();
  return true;
}

}  // namespace km::vulkan
