#include "compile/compiler_thread.h"

#include <immintrin.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <exception>
#include <mutex>

#include "base/at_exit.h"
#include "base/thread_signals.h"

namespace km {
namespace {

constexpr size_t kStackBytes = size_t{64} << 20;
/// Exceptions masked, round to nearest, subnormals kept: what folding constants relies on.
constexpr unsigned kDefaultMxcsr = 0x1F80;
/// At the end of the process: the longest wait for a compilation.
constexpr std::chrono::seconds kExitPatience{10};
constexpr std::chrono::milliseconds kExitTurn{5};
constexpr useconds_t kExitTurnUs = 1000, kRestOfExitUs = 1500000;
constexpr int kExitTurns = 100;

constexpr int kFaults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

std::timed_mutex one_at_a_time;
std::atomic<bool> process_exits{false}, is_loading{false}, is_parked{false};
std::atomic<int> exit_status{0};
std::atomic<pid_t> compiler_thread{0};

pid_t current_thread() { return static_cast<pid_t>(syscall(SYS_gettid)); }

struct Job {
  const std::function<void()>& work;
  std::exception_ptr thrown;  // no exception may leave a thread
};

void* thread_main(void* argument) {
  _mm_setcsr(kDefaultMxcsr);
  if (const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr)) uselocale(plain);
  pthread_setname_np(pthread_self(), "km-compile");
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
  compiler_thread.store(current_thread());
  auto* const job = static_cast<Job*>(argument);
  try {
    job->work();
  } catch (...) {
    job->thrown = std::current_exception();
  }
  return nullptr;
}

int start(pthread_t& thread, Job& job) {
  pthread_attr_t attributes;
  if (const int failure = pthread_attr_init(&attributes)) return failure;
  int failure = pthread_attr_setstacksize(&attributes, kStackBytes);
  if (failure == 0) {
    const LibraryThreadSignals signals;
    failure = pthread_create(&thread, &attributes, thread_main, &job);
  }
  pthread_attr_destroy(&attributes);
  return failure;
}

struct sigaction actions_before[NSIG];

/// Gives a signal to the handler that was there before, or does what is done without one.
void pass_on(int signal, siginfo_t* info, void* context) {
  const struct sigaction& before = actions_before[signal];
  if ((before.sa_flags & SA_SIGINFO) != 0) {
    before.sa_sigaction(signal, info, context);
  } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    before.sa_handler(signal);
  } else {
    sigaction(signal, &before, nullptr);  // what has faulted faults again
    if (info->si_code <= 0) syscall(SYS_tgkill, getpid(), current_thread(), signal);
  }
}

/// The compiler has faulted because the exit has destroyed its static objects: its thread sleeps
/// for ever. One that was loading the library holds a lock of the loader, which the exit needs at
/// last: it ends the process in its place, with what streams hold written, after a time that is
/// enough for the rest of the exit.
[[noreturn]] void give_up() {
  is_parked.store(true);
  if (is_loading.load()) {
    usleep(kRestOfExitUs);
    fcloseall();
    _exit(exit_status.load());  // tidy: exit: exit() has begun, and cannot end by itself
  }
  for (;;) pause();
}

void on_fault(int signal, siginfo_t* info, void* context) {
  if (current_thread() == compiler_thread.load()) {
    // The first objects go a moment before before_exit() runs.
    for (int turn = 0; turn < kExitTurns && !process_exits.load(); ++turn) usleep(kExitTurnUs);
    if (process_exits.load()) give_up();
  }
  pass_on(signal, info, context);
}

void catch_faults() {
  struct sigaction action = {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const int signal : kFaults) {
    struct sigaction before = {};
    sigaction(signal, nullptr, &before);
    if (before.sa_sigaction == on_fault) continue;
    actions_before[signal] = before;
    sigaction(signal, &action, nullptr);
  }
}

/// Unless somebody else has come in front.
void release_faults() {
  for (const int signal : kFaults) {
    struct sigaction now = {};
    sigaction(signal, nullptr, &now);
    if (now.sa_sigaction == on_fault) sigaction(signal, &actions_before[signal], nullptr);
  }
}

/// Nothing is compiled after this, because NVRTC's static objects are destroyed. Those that it made
/// while it was being loaded may be gone already, when the exit has begun then.
void before_exit(int status) {
  exit_status.store(status);
  process_exits.store(true);
  if (!one_at_a_time.try_lock()) {
    catch_faults();
    const auto end = std::chrono::steady_clock::now() + kExitPatience;
    while (!one_at_a_time.try_lock_for(kExitTurn)) {
      if (is_parked.load() || std::chrono::steady_clock::now() >= end) return;
    }
  }
  one_at_a_time.unlock();
}

Error no_longer() {
  return make_error(KM_ERROR_NVRTC_UNAVAILABLE, "the process exits: NVRTC compiles nothing more");
}

/// Runs before the destructors of all that NVRTC has made until now.
Status watch_for_exit() {
  if (run_at_exit(before_exit)) return {};
  return make_error(KM_ERROR_OUT_OF_HOST_MEMORY, "the host is out of memory");
}

/// Faults are caught while the library is loaded: the exit destroys what its constructors have made
/// as soon as they have.
class Loading {
 public:
  explicit Loading(CompilerWork kind) : is_on_(kind == CompilerWork::load) {
    if (!is_on_) return;
    is_loading.store(true);
    catch_faults();
  }
  ~Loading() {
    if (!is_on_) return;
    is_loading.store(false);
    if (!process_exits.load()) release_faults();
  }
  Loading(const Loading&) = delete;
  Loading& operator=(const Loading&) = delete;

 private:
  const bool is_on_;
};

}  // namespace

Status run_on_compiler_thread(CompilerWork kind, const std::function<void()>& work) {
  constexpr unsigned kFirstRuns = 2;  // the library is loaded, and compiles
  static unsigned run_count = 0;
  if (process_exits.load()) return no_longer();
  const std::lock_guard lock(one_at_a_time);
  if (process_exits.load()) return no_longer();
  if (run_count == 0) KM_TRY(watch_for_exit());
  pthread_t thread{};
  Job job{work, nullptr};
  {
    const Loading loading(kind);
    if (const int failure = start(thread, job)) {
      return make_error(KM_ERROR_OUT_OF_HOST_MEMORY, "cannot start a compiler thread: %s",
                        std::strerror(failure));
    }
    pthread_join(thread, nullptr);
  }
  compiler_thread.store(0);
  // Once more, after what it has made.
  if (run_count++ < kFirstRuns) KM_TRY(watch_for_exit());
  if (job.thrown) std::rethrow_exception(job.thrown);
  return {};
}

}  // namespace km
