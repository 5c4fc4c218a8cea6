#include "compile/compiler_thread.h"

#include <locale.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>

#include "base/arch/float_control.h"
#include "base/process/at_exit.h"
#include "base/thread/thread_signals.h"

namespace km {
namespace {

constexpr size_t kStackBytes = size_t{64} << 20;
/// At the end of the process: the longest wait for a compilation.
constexpr std::chrono::seconds kExitPatience{10};
constexpr std::chrono::milliseconds kExitPause{1};

std::mutex one_at_a_time;
std::atomic<bool> process_exits{false};
/// True in a child of fork() whose parent was compiling: the lock and NVRTC's own locks are held by
/// a thread that the child does not have.
std::atomic<bool> is_stuck{false};

struct Job {
  const std::function<void()>& work;
  std::exception_ptr thrown;  // rethrown by the caller, since it must not leave the thread
};

void* thread_main(void* argument) {
  arch::set_float_control(arch::kDefaultFloatControl);  // folding constants relies on it
  if (const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr)) uselocale(plain);
  pthread_setname_np(pthread_self(), "km-compile");
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
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

/// Prevents later compilations, because NVRTC's static objects may be destroyed. It polls the lock,
/// because ThreadSanitizer does not see locks with a time limit.
void before_exit(int) {
  process_exits.store(true);
  const auto end = std::chrono::steady_clock::now() + kExitPatience;
  while (!one_at_a_time.try_lock()) {
    if (std::chrono::steady_clock::now() >= end) return;
    std::this_thread::sleep_for(kExitPause);
  }
  one_at_a_time.unlock();
}

/// Registers a fork handler, by which a child learns that a compilation was running.
void watch_for_children() {
  const auto in_child = [] {
    if (one_at_a_time.try_lock()) {
      one_at_a_time.unlock();
    } else {
      is_stuck.store(true);
    }
  };
  static const int registered = pthread_atfork(nullptr, nullptr, in_child);
  static_cast<void>(registered);
}

Error no_longer() {
  return make_error(KM_ERROR_NVRTC_UNAVAILABLE, "the process is exiting: NVRTC compiles no more");
}

/// Registers before_exit() so that it runs before the destructors of all objects that NVRTC has
/// created so far.
Status watch_for_exit() {
  if (run_at_exit(before_exit)) return {};
  return make_error(KM_ERROR_OUT_OF_HOST_MEMORY, "the host is out of memory");
}

}  // namespace

Status run_on_compiler_thread(const std::function<void()>& work) {
  // The first run loads the library, the second compiles.
  constexpr unsigned kFirstRuns = 2;
  static unsigned run_count = 0;
  if (process_exits.load()) return no_longer();
  if (is_stuck.load()) {
    return make_error(
        KM_ERROR_FORKED,
        "this process was forked while its parent compiled; compile in the parent, or "
        "call exec first");
  }
  watch_for_children();
  const std::lock_guard lock(one_at_a_time);
  if (process_exits.load()) return no_longer();
  if (run_count == 0) KM_TRY(watch_for_exit());
  pthread_t thread{};
  Job job{work, nullptr};
  if (const int failure = start(thread, job)) {
    return make_error(KM_ERROR_OUT_OF_HOST_MEMORY, "cannot start a compiler thread: %s",
                      std::strerror(failure));
  }
  pthread_join(thread, nullptr);
  // It is registered again, because NVRTC has created more objects.
  if (run_count++ < kFirstRuns) KM_TRY(watch_for_exit());
  if (job.thrown) std::rethrow_exception(job.thrown);
  return {};
}

}  // namespace km
