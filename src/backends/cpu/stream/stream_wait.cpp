// Waits for a stream: run its work if possible, then spin, then sleep.
#include "backends/cpu/command/work.h"
#include "backends/cpu/execution/executor.h"
#include "backends/cpu/fault/fault.h"
#include "backends/cpu/stream/stream.h"
#include "backends/cpu/stream/thread_pool.h"
#include "backends/cpu/threads/futex.h"
#include "base/arch/processor.h"
#include "base/assert.h"
#include "base/thread/cancellation.h"

namespace km::cpu {
namespace {

constexpr int kHelpDepth = 4;  // limit for chains of streams that wait for each other's events
constexpr uint64_t kWayTicks = ticks_of_ns(2'500);

}  // namespace

bool Stream::wait(uint64_t ticket, uint64_t timeout_ns) {
  KM_ASSERT(ticket <= submitted(), "a thread waits for a ticket that was not issued");
  if (is_complete(ticket)) return true;
  if (timeout_ns == 0) return false;
  const NoCancellation postponed;
  bool endless = timeout_ns == kForever;
  uint64_t limit_ns = endless ? kForever : now_ns() + timeout_ns;
  // A thread with a time limit must not start work of unknown length.
  Executor* executor = endless ? executor_of_host_thread() : nullptr;
  ThreadPool::Helping helping(executor != nullptr ? pool_ : nullptr);
  uint64_t idle_since = now_ticks();
  look_after_host(idle_since);  // for kernels that started before a fault handler was installed
  while (!is_complete(ticket)) {
    if (executor != nullptr && help(executor, ticket, kHelpDepth)) {
      idle_since = now_ticks();
      continue;
    }
    if (!endless && now_ns() >= limit_ns) return false;
    const uint64_t idle_ticks = now_ticks() - idle_since;
    // Among spinning threads, workers take precedence.
    const bool is_in_the_way = idle_ticks > kWayTicks && pool_->is_crowded();
    if (idle_ticks < pool_->spin_ticks() && !is_in_the_way) {
      arch::spin_hint();
    } else {
      helping.stop();
      sleep(ticket, limit_ns);
      helping.start();
    }
  }
  note_host_leaves(idle_since);
  return true;
}

/// Runs a piece of the work that `ticket` depends on, if one is available.
bool Stream::help(Executor* executor, uint64_t ticket, int depth) {
  if (try_own()) {
    drive(executor, ticket);
    return true;
  }
  uint64_t job = job_.load(std::memory_order_acquire);
  if (job != 0 && pool_->help(job, executor, ticket)) return true;
  if (depth == 0) return false;
  Stream* other = blocked_by_.load(std::memory_order_acquire);
  if (other == nullptr || other == this) return false;
  uint64_t other_ticket = blocked_ticket_.load(std::memory_order_relaxed);
  return !other->is_complete(other_ticket) && other->help(executor, other_ticket, depth - 1);
}

void Stream::sleep(uint64_t ticket, uint64_t limit_ns) {
  uint32_t word = wake_word_.load();
  {
    std::lock_guard lock(wait_mutex_);
    if (ticket < wanted_.load(std::memory_order_relaxed)) wanted_.store(ticket);
  }
  if (completed_.load() >= ticket) return;
  uint64_t timeout_ns = kForever;
  if (limit_ns != kForever) {
    uint64_t now = now_ns();
    if (now >= limit_ns) return;
    timeout_ns = limit_ns - now;
  }
  futex_wait(wake_word_, word, timeout_ns);
}

}  // namespace km::cpu
