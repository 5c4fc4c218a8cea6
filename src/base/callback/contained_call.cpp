#include "base/callback/contained_call.h"

#include <unwind.h>

#include <cstdlib>

#include "base/callback/unwind_boundary.h"
#include "base/callback/unwinder.h"
#include "base/log.h"
#include "base/process/fork.h"
#include "base/thread/cancellation.h"

namespace km {

std::atomic<unsigned> detail::ending_threads{0};

namespace {

__thread bool t_thread_ends = false;

/// Ends a forked child in which a host function has returned or ended its thread. The calling
/// frames belong to a thread of the parent, whose locks and waiters the child cannot serve, so they
/// must not continue.
[[noreturn]] void end_child(CallEnd end) {
  // The child's only thread has ended itself, so the process ends successfully, as any other would.
  if (end == CallEnd::ended_thread) std::exit(0);  // tidy: exit: a child's only thread has ended
  log(LogLevel::kError, "callback",
      "a callback has called fork() and returned in the child, which ends here: call exec or _exit "
      "in it");
  _exit(1);  // tidy: exit: the host forked this process and left it to us
}

CallEnd call_within_boundary(void (*function)(void*), void* argument) noexcept {
  km_unwind_boundary boundary;
  try {
    if (km_call_with_boundary(function, argument, &boundary) != 0) return CallEnd::returned;
  } catch (...) {
    km_drop_boundary(&boundary);
    return CallEnd::threw;
  }
  return CallEnd::ended_thread;
}

}  // namespace

void prepare_unwinder() noexcept {
  const auto stop = [](_Unwind_Context*, void*) { return _URC_END_OF_STACK; };
  static const bool prepared = (_Unwind_Backtrace(stop, nullptr), true);
  static_cast<void>(prepared);
}

CallEnd call_contained(void (*function)(void*), void* argument) noexcept {
  prepare_unwinder();
  const NoCancellation postponed;
  const ProcessMark caller;
  const CallEnd end = call_within_boundary(function, argument);
  if (!caller.is_here()) end_child(end);
  if (end == CallEnd::threw) {
    log(LogLevel::kError, "callback", "a callback threw an exception, which counts as its return");
  }
  if (end != CallEnd::ended_thread) return end;
  if (!t_thread_ends) detail::ending_threads.fetch_add(1, std::memory_order_relaxed);
  t_thread_ends = true;
  return CallEnd::ended_thread;
}

bool take_thread_end() {
  if (!t_thread_ends) return false;
  t_thread_ends = false;
  detail::ending_threads.fetch_sub(1, std::memory_order_relaxed);
  return true;
}

void detail::end_this_thread() {
  if (take_thread_end()) km_resume_thread_end();
}

}  // namespace km
