#include "backends/cpu/fault/kernel_thread.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>

#include "backends/cpu/fault/code_samples.h"
#include "backends/cpu/fault/fault.h"
#include "base/log.h"
#include "base/thread/cancellation.h"

namespace km::cpu {
namespace {

constexpr size_t kMaxThreads = 4096;
constexpr unsigned kPatience = 3000;  // turns of interrupt_all() until it warns, some seconds

/// The enlisted threads. The array is append-only, so that it is read without a lock.
std::atomic<KernelThread*> threads[kMaxThreads];
std::atomic<size_t> thread_count{0};

}  // namespace

bool KernelThread::enlist() {
  const size_t slot = thread_count.fetch_add(1);
  if (slot >= kMaxThreads) return false;
  threads[slot].store(this, std::memory_order_release);
  return true;
}

void KernelThread::take_over() {
  thread_id_.store(static_cast<int>(syscall(SYS_gettid)));
  sample_this_thread();
}

bool KernelThread::interrupt_all(const void* owner, const KernelThread* self, uint64_t timeout_ns) {
  const NoCancellation postponed;
  uint64_t limit = timeout_ns == kForever ? kForever : now_ns() + timeout_ns;
  for (unsigned turn = 0;; ++turn) {
    bool busy = false;
    size_t count = thread_count.load();
    for (size_t i = 0; i < count && i < kMaxThreads; ++i) {
      KernelThread* thread = threads[i].load(std::memory_order_acquire);
      if (thread == nullptr || thread == self) continue;
      const void* running = thread->owner_.load();
      if (running == nullptr || (owner != nullptr && running != owner)) continue;
      busy = true;
      interrupt_thread(thread->thread_id_.load());
    }
    if (!busy) return true;
    if (turn == kPatience) {
      log(LogLevel::kWarn, "cpu",
          "a kernel does not stop; if a SIGSEGV handler was installed after the library was first "
          "used, kernels cannot be interrupted");
    }
    if (limit != kForever && now_ns() >= limit) return false;
    if (turn < 16) {
      sched_yield();
    } else {
      usleep(turn < 100 ? 50 : 1000);
    }
  }
}

const void* KernelThread::find_overdue(uint64_t limit_ns) {
  uint64_t now = now_ns();
  size_t count = thread_count.load();
  for (size_t i = 0; i < count && i < kMaxThreads; ++i) {
    KernelThread* thread = threads[i].load(std::memory_order_acquire);
    if (thread == nullptr) continue;
    const void* owner = thread->owner_.load();
    uint64_t start = thread->start_ns_.load();
    if (owner != nullptr && start != 0 && now > start && now - start > limit_ns) return owner;
  }
  return nullptr;
}

void KernelThread::keep_start_times() { keeps_start_times_.store(true); }

}  // namespace km::cpu
