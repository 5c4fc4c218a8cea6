#include "compile/compiler_thread.h"

#include <immintrin.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <utility>

#include "base/at_exit.h"

namespace km {
namespace {

constexpr size_t kStackBytes = size_t{64} << 20;
/// Exceptions masked, round to nearest, subnormals kept: what folding constants relies on.
constexpr unsigned kDefaultMxcsr = 0x1F80;
/// At the end of the process: the longest wait for a compilation.
constexpr std::chrono::seconds kExitPatience{10};

constexpr int kFaults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};

std::timed_mutex one_at_a_time;
std::atomic<bool> process_exits{false};
std::atomic<pid_t> compiler_thread{0};

pid_t current_thread() { return static_cast<pid_t>(syscall(SYS_gettid)); }

void* thread_main(void* argument) {
  _mm_setcsr(kDefaultMxcsr);
  if (const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr)) uselocale(plain);
  pthread_setname_np(pthread_self(), "km-compile");
  compiler_thread.store(current_thread());
  (*static_cast<const std::function<void()>*>(argument))();
  return nullptr;
}

int start(pthread_t& thread, const std::function<void()>& work) {
  pthread_attr_t attributes;
  if (const int failure = pthread_attr_init(&attributes)) return failure;
  int failure = pthread_attr_setstacksize(&attributes, kStackBytes);
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  // The new thread inherits the mask, so that no handler of the host runs on it but for its faults.
  for (const int fault : kFaults) sigdelset(&all, fault);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  if (failure == 0) {
    failure = pthread_create(&thread, &attributes, thread_main,
                             const_cast<std::function<void()>*>(&work));
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return failure;
}

struct sigaction actions_before[NSIG];

/// A fault of the compiler's ends its thread, as far as a thread can be ended: it sleeps for ever.
/// Faults of others go to the handler that was there before.
void on_fault(int signal, siginfo_t* info, void*) {
  while (current_thread() == compiler_thread.load()) pause();
  sigaction(signal, &actions_before[signal], nullptr);
  if (info->si_code <= 0) syscall(SYS_tgkill, getpid(), current_thread(), signal);
}

/// NVRTC's static objects are destroyed after this: nothing compiles then. A compilation that takes
/// too long to be waited for may fault.
void before_exit() {
  process_exits.store(true);
  if (one_at_a_time.try_lock_for(kExitPatience)) {
    one_at_a_time.unlock();
    return;
  }
  struct sigaction action = {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const int signal : kFaults) sigaction(signal, &action, &actions_before[signal]);
}

Error no_longer() {
  return make_error(KM_ERROR_NVRTC_UNAVAILABLE, "the process exits: NVRTC compiles nothing more");
}

/// Runs before the destructors of all that NVRTC has made until now.
Status watch_for_exit() {
  if (run_at_exit(before_exit)) return {};
  return make_error(KM_ERROR_OUT_OF_HOST_MEMORY, "the host is out of memory");
}

}  // namespace

Status run_on_compiler_thread(const std::function<void()>& work) {
  static bool has_run = false;
  if (process_exits.load()) return no_longer();
  const std::lock_guard lock(one_at_a_time);
  if (process_exits.load()) return no_longer();
  if (!has_run) KM_TRY(watch_for_exit());
  pthread_t thread{};
  if (const int failure = start(thread, work)) {
    return make_error(KM_ERROR_OUT_OF_HOST_MEMORY, "cannot start a compiler thread: %s",
                      std::strerror(failure));
  }
  pthread_join(thread, nullptr);
  compiler_thread.store(0);
  // Once more, after what the first compilation has made.
  if (!std::exchange(has_run, true)) KM_TRY(watch_for_exit());
  return {};
}

}  // namespace km
