#include "base/callback/contained_call.h"

#include <unwind.h>

#include "base/callback/unwind_boundary.h"
#include "base/log.h"
#include "base/thread/cancellation.h"

namespace km {

std::atomic<unsigned> detail::ending_threads{0};

namespace {

__thread bool t_thread_ends = false;

/// The unwinder in a statically linked libgcc is complete after its first use only, and the
/// unwinder of the host, which passes our frames, does not count as one.
void prepare_unwinder() {
  const auto stop = [](_Unwind_Context*, void*) { return _URC_END_OF_STACK; };
  static const bool prepared = (_Unwind_Backtrace(stop, nullptr), true);
  static_cast<void>(prepared);
}

}  // namespace

CallEnd call_contained(void (*function)(void*), void* argument) noexcept {
  prepare_unwinder();
  const NoCancellation postponed;
  km_unwind_boundary boundary;
  try {
    if (km_call_with_boundary(function, argument, &boundary) != 0) return CallEnd::returned;
  } catch (...) {
    km_drop_boundary(&boundary);
    log(LogLevel::kError, "callback", "a callback threw an exception, which counts as its return");
    return CallEnd::threw;
  }
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
