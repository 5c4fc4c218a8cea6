#include "backends/cpu/fault/code_samples.h"

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>

#include "backends/cpu/fault/fault.h"
#include "base/arch/signal_context.h"
#include "base/log.h"
#include "simt/stage_dump.h"

namespace km::cpu {
namespace {

constexpr uint32_t kMaxSamples = 1 << 20;  // some ten minutes of two threads
constexpr long kPeriodNs = 1'000'000;      // kernels round it up to their own clock's

/// A sample belongs to the code that begins at `code`; its address is 0 in other functions.
struct Sample {
  std::atomic<uint64_t> code{0};
  std::atomic<uint64_t> address{0};
};

/// The samples of the process. Signal handlers append to them without a lock.
struct Samples {
  std::atomic<uint32_t> count{0};
  const std::unique_ptr<Sample[]> all = std::make_unique<Sample[]>(kMaxSamples);
};
std::atomic<Samples*> samples{nullptr};

void record_sample(int, siginfo_t*, void* context) {
  const CodeGuard* const guard = current_guard;
  Samples* const to = samples.load(std::memory_order_acquire);
  if (guard == nullptr || to == nullptr) return;
  const uint32_t index = to->count.fetch_add(1, std::memory_order_relaxed);
  if (index >= kMaxSamples) return;
  const uint64_t pc = arch::program_counter(*static_cast<const ucontext_t*>(context));
  const bool is_inside = pc >= guard->begin && pc < guard->end;
  to->all[index].address.store(is_inside ? pc : 0, std::memory_order_relaxed);
  to->all[index].code.store(guard->begin, std::memory_order_release);
}

/// Takes the signal, unless the program has a handler for it.
bool take_signal() {
  struct sigaction old = {}, own = {};
  if (sigaction(SIGPROF, nullptr, &old) != 0) return false;
  const bool is_free = (old.sa_flags & SA_SIGINFO) == 0 && old.sa_handler == SIG_DFL;
  if (!is_free) {
    log(LogLevel::kWarn, "cpu", "no samples: the program has a handler for SIGPROF");
    return false;
  }
  static auto* const made = new Samples;  // for threads that outlive static objects, too
  samples.store(made, std::memory_order_release);
  own.sa_sigaction = record_sample;
  own.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  return sigaction(SIGPROF, &own, nullptr) == 0;
}

/// The timer of a thread, deleted when the thread ends.
class ThreadTimer {
 public:
  ThreadTimer() {
    sigevent event = {};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGPROF;
    event._sigev_un._tid = static_cast<int>(syscall(SYS_gettid));
    is_made_ = timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer_) == 0;
    if (!is_made_) {
      log(LogLevel::kWarn, "cpu", "no samples of a thread: %s", std::strerror(errno));
      return;
    }
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGPROF);
    pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
    const itimerspec period = {{0, kPeriodNs}, {0, kPeriodNs}};
    timer_settime(timer_, 0, &period, nullptr);
  }
  ~ThreadTimer() {
    if (is_made_) timer_delete(timer_);
  }
  ThreadTimer(const ThreadTimer&) = delete;
  ThreadTimer& operator=(const ThreadTimer&) = delete;

 private:
  timer_t timer_{};
  bool is_made_ = false;
};

}  // namespace

bool samples_code() {
  static const bool is_asked = simt::dump_enabled("samples");
  return is_asked;
}

void sample_this_thread() {
  if (!samples_code()) return;
  static const bool is_taken = take_signal();
  if (!is_taken) return;
  thread_local const ThreadTimer timer;
}

CodeSamples take_samples(uint64_t begin, uint64_t end) {
  CodeSamples taken;
  Samples* const from = samples.load(std::memory_order_acquire);
  if (from == nullptr) return taken;
  const uint32_t count = std::min(from->count.load(), kMaxSamples);
  for (uint32_t i = 0; i < count; ++i) {
    Sample& sample = from->all[i];
    if (sample.code.load(std::memory_order_acquire) != begin) continue;
    sample.code.store(0, std::memory_order_relaxed);
    const uint64_t address = sample.address.load(std::memory_order_relaxed);
    if (address == 0) {
      ++taken.in_engine;
    } else if (address < end) {
      ++taken.by_address[address];
    }
  }
  return taken;
}

}  // namespace km::cpu
