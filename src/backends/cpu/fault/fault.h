// Faults of generated code and of guarded copies: the one signal handler, and what it finds out.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/result.h"

namespace km::cpu {

/// How a guarded call ended (the value of km_cpu_enter).
enum class Ending : uint64_t { returned = 0, faulted = 1, stopped = 2 };

struct Fault {
  int signal = 0;  // 0: reported by generated code itself
  int code = 0;    // si_code
  uint64_t pc = 0;
  uint64_t address = 0;
  bool stack_overflow = false;
};

/// Addresses whose touch means that a stack has run out.
struct StackGuard {
  uint64_t begin = 0, end = 0;
};

/// The code that this thread runs; the signal handler reads it. Lives on or below the stack that
/// called km_cpu_enter.
struct CodeGuard {
  uint64_t saved_stack = 0;     // written by km_cpu_enter: first, the assembly counts on it
  uint64_t begin = 0, end = 0;  // the instructions that may fault
  const std::atomic<uint32_t>* stop = nullptr;  // not 0: leave when asked by a signal
  StackGuard stacks[2];
  Fault fault;
};
static_assert(offsetof(CodeGuard, saved_stack) == 0);

/// The guard of this thread, null outside generated code. Initial-exec, so that the handler never
/// makes the loader allocate.
extern __thread CodeGuard* current_guard __attribute__((tls_model("initial-exec")));

namespace detail {
/// When the system is to be asked again whether the handler is still in front.
extern std::atomic<uint64_t> next_look;
/// When this thread was last inside the library.
extern __thread uint64_t last_seen __attribute__((tls_model("initial-exec")));
/// An absence within which no handler can be installed, about: a system call takes as long as a
/// launch.
constexpr uint64_t kAbsenceTicks = 700;
}  // namespace detail

/// Installs the handler for SEGV, BUS, FPE and ILL, once per process. Everything that is not ours
/// goes to the handler that was there before.
Status install_fault_handler();

/// The signals for which the system is asked: all, or SIGSEGV and in turn one of the others, which
/// kernels seldom raise.
enum class Look { all, in_turn };
/// Puts the handler in front of one that the host has installed since, which then gets what is not
/// ours. Asks the system, for up to a microsecond.
void put_handler_in_front(Look look);

/// Calls put_handler_in_front() now and then: `now` is now_ticks().
inline void keep_handler_in_front(uint64_t now) {
  if (now >= detail::next_look.load(std::memory_order_relaxed)) [[unlikely]]
    put_handler_in_front(Look::in_turn);
}

/// Calls put_handler_in_front() for a thread of the host's that brings work: it has had the time to
/// install a handler since it was here last.
inline void look_after_host(uint64_t now) {
  if (now - detail::last_seen > detail::kAbsenceTicks) [[unlikely]]
    put_handler_in_front(Look::in_turn);
  detail::last_seen = now;
}
/// This thread has been in the library until now.
inline void note_host_leaves(uint64_t now) { detail::last_seen = now; }

/// Sends thread `tid` of this process the signal that makes it leave generated code if its guard
/// says stop, and that does nothing otherwise. False when there is no such thread, or the handler
/// is not ours.
bool interrupt_thread(int tid);

/// True if this thread can survive faults: the signals are not blocked, and an alternate stack is
/// there (one is made if the thread has none).
bool thread_can_fault();

}  // namespace km::cpu
