// Faults of generated code and of guarded copies: the process-wide signal handler, and the
// information that it records.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "backends/cpu/threads/futex.h"
#include "base/result.h"

namespace km::cpu {

/// The way in which a guarded call ended, as the return value of km_cpu_enter().
enum class Ending : uint64_t { returned = 0, faulted = 1, stopped = 2 };

/// The cause and the place of a fault.
struct Fault {
  int signal = 0;  // 0: no signal, reported by generated code itself
  int code = 0;    // si_code
  uint64_t pc = 0;
  uint64_t address = 0;
  bool stack_overflow = false;
};

/// The guard range of a stack. A fault in it is a stack overflow.
struct StackGuard {
  uint64_t begin = 0, end = 0;
};

/// The code that the calling thread runs, for the signal handler.
struct CodeGuard {
  uint64_t saved_stack = 0;     // written by km_cpu_enter(), which expects it at offset 0
  uint64_t begin = 0, end = 0;  // the instructions whose faults end the call
  // The stop word: if it is not 0, an interrupt ends the call.
  const std::atomic<uint32_t>* stop = nullptr;
  StackGuard stacks[2];
  Fault fault;
};
static_assert(offsetof(CodeGuard, saved_stack) == 0);

/// The guard of the calling thread; null outside guarded calls. The TLS model is initial-exec,
/// because with others the first access may allocate, which a signal handler must not do.
extern __thread CodeGuard* current_guard __attribute__((tls_model("initial-exec")));

namespace detail {
/// The time at which the installed handler must be checked again.
extern std::atomic<uint64_t> next_look;
/// The time at which this thread was last inside the library.
extern __thread uint64_t last_seen __attribute__((tls_model("initial-exec")));
/// The longest absence of a host thread that leaves no time to install a handler. It
/// saves the system call of a check, which costs about as much as a launch.
constexpr uint64_t kAbsenceTicks = ticks_of_ns(350);
}  // namespace detail

/// Installs the handler for SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGTRAP, once per process. Foreign
/// signals go to the handler that was installed before.
Status install_fault_handler();

/// The signals whose handlers are checked: all, or SIGSEGV and one of the others in turn, because
/// kernels seldom raise them.
enum class Look { all, in_turn };
/// Installs our handler in front of any that the host has installed meanwhile, which then gets
/// foreign signals only. The check takes up to a microsecond of system calls.
void put_handler_in_front(Look look);

/// Calls put_handler_in_front() if the last check is too old. `now` is now_ticks().
inline void keep_handler_in_front(uint64_t now) {
  if (now >= detail::next_look.load(std::memory_order_relaxed)) [[unlikely]]
    put_handler_in_front(Look::in_turn);
}

/// Calls put_handler_in_front() for a host thread that was away long enough to install a handler.
inline void look_after_host(uint64_t now) {
  if (now - detail::last_seen > detail::kAbsenceTicks) [[unlikely]]
    put_handler_in_front(Look::in_turn);
  detail::last_seen = now;
}
/// Records that the calling host thread leaves the library.
inline void note_host_leaves(uint64_t now) { detail::last_seen = now; }

/// Sends thread `tid` of this process the interrupt signal: the thread leaves generated code if its
/// guard's stop word is set, and otherwise ignores the signal. False if there is no such thread, or
/// if our handler is not installed.
bool interrupt_thread(int tid);

/// True if this thread can survive faults: it does not block their signals, and has an alternate
/// stack, which is created if there is none.
bool thread_can_fault();
/// thread_can_fault() without a system call each time: threads seldom change their signal mask, so
/// an answer is good for some 30 us.
bool thread_could_fault(uint64_t now);

}  // namespace km::cpu
