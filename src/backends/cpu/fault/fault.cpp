#include "backends/cpu/fault/fault.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <mutex>
#include <utility>

#include "backends/cpu/fault/host_copy.h"
#include "backends/cpu/fault/runtime_code.h"
#include "backends/cpu/memory/shared_pages.h"
#include "backends/cpu/threads/futex.h"
#include "backends/cpu/threads/sanitizers.h"
#include "backends/cpu/threads/stack_switch.h"
#include "base/arch/signal_context.h"
#include "base/assert.h"
#include "base/log.h"
#include "base/thread/cancellation.h"

namespace km::cpu {

__thread CodeGuard* current_guard __attribute__((tls_model("initial-exec"))) = nullptr;
std::atomic<uint64_t> detail::next_look{0};
__thread uint64_t detail::last_seen __attribute__((tls_model("initial-exec"))) = 0;

namespace {

// Instructions that trap raise SIGILL and invalid ones SIGTRAP, or the other way round, by
// architecture.
constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
constexpr size_t kAlternateStackBytes = 256 << 10;
constexpr size_t kMinimumForeignStackBytes = 8 << 10;

constexpr int kMostHandlers = 16;
// A check of the installed handler or of a thread's signal mask is trusted for this time.
constexpr uint64_t kTrustTicks = ticks_of_ns(50'000);

/// The host's handlers of one signal, each of which was in place when ours was installed. Each has
/// an entry function of its own (kEntries), which forwards foreign signals to it. A host handler
/// that forwards to the entry it found therefore reaches the handlers installed before it, and one
/// that restores that entry removes itself: forwarding never forms a cycle.
struct Chain {
  struct sigaction handlers[kMostHandlers];  // never change, except that SA_RESETHAND resets one
  int count = 0;
};
Chain chains[std::size(kSignals)];

KM_NO_SANITIZE size_t index_of(int signal) {
  size_t index = 0;
  while (kSignals[index] != signal) ++index;
  return index;
}

const char interrupt_mark = 0;  // its address identifies our own interrupts

KM_NO_SANITIZE bool is_interrupt(int signal, const siginfo_t* info) {
  return signal == SIGSEGV && info->si_code == SI_QUEUE && info->si_pid == getpid() &&
         info->si_value.sival_ptr == &interrupt_mark;
}

KM_NO_SANITIZE bool contains(const StackGuard& guard, uint64_t address) {
  return address >= guard.begin && address < guard.end;
}

KM_NO_SANITIZE void leave(ucontext_t* context, CodeGuard* guard, Ending ending) {
  in_image_access = 0;
  arch::set_call(*context, reinterpret_cast<uint64_t>(&km_cpu_leave),
                 reinterpret_cast<uint64_t>(guard), static_cast<uint64_t>(ending),
                 guard->saved_stack);
}

/// Handles the signal if it is ours. The thread then retries the instruction, or resumes at
/// km_cpu_host_copy_failed or km_cpu_leave.
KM_NO_SANITIZE bool handle_own(int signal, siginfo_t* info, ucontext_t* context) {
  CodeGuard* guard = current_guard;
  bool interrupt = is_interrupt(signal, info);
  const uint64_t pc = arch::program_counter(*context);
  // The fault may only mean that the page is being moved. A fault at the address of its own
  // instruction is a jump into data, which a retry would repeat forever.
  if (signal == SIGSEGV && info->si_code == SEGV_ACCERR &&
      reinterpret_cast<uint64_t>(info->si_addr) != pc &&
      wait_while_moving(reinterpret_cast<uint64_t>(info->si_addr))) {
    return true;  // the instruction runs again
  }
  if (!interrupt && info->si_code > 0 && is_host_copy(pc)) {
    arch::set_program_counter(*context, reinterpret_cast<uint64_t>(km_cpu_host_copy_failed));
    return true;
  }
  if (guard == nullptr) return interrupt;
  bool in_code =
      (pc >= guard->begin && pc < guard->end) || is_lane_code(pc) || in_image_access != 0;
  if (interrupt) {
    bool stop =
        in_code && guard->stop != nullptr && guard->stop->load(std::memory_order_relaxed) != 0;
    if (!stop) return true;
    guard->fault = Fault{.signal = 0, .code = 0, .pc = pc, .address = 0, .stack_overflow = false};
    leave(context, guard, Ending::stopped);
    return true;
  }
  if (info->si_code <= 0) return false;  // sent by a process, not raised by an instruction
  auto address = reinterpret_cast<uint64_t>(info->si_addr);
  bool overflow = signal == SIGSEGV &&
                  (contains(guard->stacks[0], address) || contains(guard->stacks[1], address));
  if (!in_code && !overflow) return false;
  guard->fault = Fault{.signal = signal,
                       .code = info->si_code,
                       .pc = pc,
                       .address = address,
                       .stack_overflow = overflow};
  leave(context, guard, Ending::faulted);
  return true;
}

/// Restores the default action. The instruction then faults again; a signal that was sent is sent
/// again.
KM_NO_SANITIZE void take_default(int signal, const siginfo_t* info) {
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
  if (info->si_code <= 0) {
    syscall(SYS_tgkill, getpid(), static_cast<pid_t>(syscall(SYS_gettid)), signal);
  }
}

/// Calls a handler with the signal mask and the flags that the system would have applied.
KM_NO_SANITIZE void call_handler(struct sigaction& handler, int signal, siginfo_t* info,
                                 void* context) {
  bool has_info = (handler.sa_flags & SA_SIGINFO) != 0;
  if (!has_info && handler.sa_handler == SIG_IGN && info->si_code <= 0) return;
  if (!has_info && (handler.sa_handler == SIG_DFL || handler.sa_handler == SIG_IGN)) {
    take_default(signal, info);  // the system does not let a fault be ignored
    return;
  }
  sigset_t mask = static_cast<ucontext_t*>(context)->uc_sigmask;
  for (int i = 1; i < NSIG; ++i) {
    if (sigismember(&handler.sa_mask, i) == 1) sigaddset(&mask, i);
  }
  if ((handler.sa_flags & SA_NODEFER) == 0) sigaddset(&mask, signal);
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  auto with_info = handler.sa_sigaction;
  auto plain = handler.sa_handler;
  if ((handler.sa_flags & static_cast<int>(SA_RESETHAND)) != 0) {
    handler.sa_flags &= ~SA_SIGINFO;
    handler.sa_handler = SIG_DFL;
  }
  if (has_info) {
    with_info(signal, info, context);
  } else {
    plain(signal);
  }
}

/// Handles our own signals, and forwards others to the host handler of this entry.
KM_NO_SANITIZE void receive(int level, int signal, siginfo_t* info, void* context) {
  int saved_errno = errno;
  if (!handle_own(signal, info, static_cast<ucontext_t*>(context))) {
    call_handler(chains[index_of(signal)].handlers[level], signal, info, context);
  }
  errno = saved_errno;
}

template <int kLevel>
KM_NO_SANITIZE void on_signal(int signal, siginfo_t* info, void* context) {
  receive(kLevel, signal, info, context);
}

using Entry = void (*)(int signal, siginfo_t* info, void* context);
template <int... kLevels>
constexpr std::array<Entry, kMostHandlers> entries_of(std::integer_sequence<int, kLevels...>) {
  return {on_signal<kLevels>...};
}
constexpr auto kEntries = entries_of(std::make_integer_sequence<int, kMostHandlers>{});

bool is_ours(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 &&
         std::find(kEntries.begin(), kEntries.end(), action.sa_sigaction) != kEntries.end();
}

bool is_same(const struct sigaction& one, const struct sigaction& other) {
  return one.sa_sigaction == other.sa_sigaction && one.sa_flags == other.sa_flags;
}

/// The index of the handler in the chain. A handler equal to the last one shares its entry, and
/// others get a new one. In a full chain any equal handler will do, since a program may alternate
/// between a few; -1 if there is none.
int level_of(Chain& chain, const struct sigaction& handler) {
  KM_ASSERT(chain.count >= 0 && chain.count <= kMostHandlers,
            "a chain has more handlers than room");
  if (chain.count != 0 && is_same(chain.handlers[chain.count - 1], handler)) return chain.count - 1;
  if (chain.count != kMostHandlers) {
    chain.handlers[chain.count] = handler;
    return chain.count++;
  }
  for (int level = 0; level < chain.count; ++level) {
    if (is_same(chain.handlers[level], handler)) return level;
  }
  return -1;
}

enum class Front { kept, taken, failed, too_many };

/// Installs our handler in front of the current one, unless that is ours.
Front take_front(size_t index) {
  const int signal = kSignals[index];
  struct sigaction now = {}, ours = {};
  if (sigaction(signal, nullptr, &now) != 0) return Front::failed;
  if (is_ours(now)) return Front::kept;
  const int level = level_of(chains[index], now);
  if (level < 0) return Front::too_many;
  ours.sa_sigaction = kEntries[static_cast<size_t>(level)];
  // SA_RESTART: an interrupt may arrive after the thread has left generated code, and must not make
  // its system calls fail with EINTR.
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  return sigaction(signal, &ours, nullptr) == 0 ? Front::taken : Front::failed;
}

// Serialises changes of the chains, whose entries signal handlers read without it.
std::mutex front_mutex;

Status install() {
  const std::lock_guard lock(front_mutex);
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    const Front front = take_front(i);
    // A copy before the first context may have put them in place already.
    if (front == Front::taken || front == Front::kept) continue;
    int code = errno;
    Error error = make_error(KM_ERROR_INTERNAL, "cannot install a handler for signal %d: %s",
                             kSignals[i], strerror(code));
    error.native_code = code;
    return error;
  }
  return {};
}

/// Logs the change; a full chain is logged once only.
void report_front(size_t index, Front front) {
  if (front == Front::taken) {
    log(LogLevel::kInfo, "cpu",
        "the program has installed a handler for signal %d: faults of kernels are still handled "
        "first",
        kSignals[index]);
  } else if (front == Front::too_many) {
    static bool said = false;
    if (std::exchange(said, true)) return;
    log(LogLevel::kError, "cpu",
        "the program keeps installing handlers for signal %d: they now get the faults of kernels, "
        "which end the program",
        kSignals[index]);
  }
}

/// True once this thread's alternate stack has been freed. Destructors that run later may still
/// call into the library.
constinit thread_local bool stack_has_gone = false;

/// An alternate signal stack that this thread owns and frees when it ends.
struct AlternateStack {
  void* memory = nullptr;
  ~AlternateStack() {
    if (memory == nullptr) return;
    stack_has_gone = true;
    stack_t off = {};
    off.ss_flags = SS_DISABLE;
    sigaltstack(&off, nullptr);
    munmap(memory, kAlternateStackBytes);
  }
  bool make() {
    void* made = mmap(nullptr, kAlternateStackBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED) return false;
    stack_t stack = {};
    stack.ss_sp = made;
    stack.ss_size = kAlternateStackBytes;
    if (sigaltstack(&stack, nullptr) == 0) {
      memory = made;
      return true;
    }
    munmap(made, kAlternateStackBytes);
    return false;
  }
};

bool ensure_alternate_stack() {
  thread_local AlternateStack own;
  stack_t now = {};
  if (sigaltstack(nullptr, &now) != 0) return false;
  if ((now.ss_flags & SS_DISABLE) == 0) return now.ss_size >= kMinimumForeignStackBytes;
  return own.make();
}

}  // namespace

Status install_fault_handler() {
  static const auto* const result = new Status(install());
  return *result;
}

void put_handler_in_front(Look look) {
  static size_t turn = 0;  // the signal to check next, among those that kernels seldom raise
  const NoCancellation postponed;
  std::unique_lock lock(front_mutex, std::try_to_lock);
  if (!lock.owns_lock()) return;  // another thread is checking
  Front first = take_front(0);
  const bool all = first == Front::taken || look == Look::all;
  report_front(0, first);
  turn = turn % (std::size(kSignals) - 1) + 1;
  for (size_t i = 1; i < std::size(kSignals); ++i) {
    if (all || i == turn) report_front(i, take_front(i));
  }
  const uint64_t now = now_ticks();
  detail::next_look.store(now + kTrustTicks, std::memory_order_relaxed);
  detail::last_seen = now;
}

bool interrupt_thread(int tid) {
  struct sigaction now = {};
  if (sigaction(SIGSEGV, nullptr, &now) != 0) return false;
  if (!is_ours(now)) {
    put_handler_in_front(Look::all);
    if (sigaction(SIGSEGV, nullptr, &now) != 0 || !is_ours(now)) return false;
  }
  siginfo_t info = {};
  info.si_signo = SIGSEGV;
  info.si_code = SI_QUEUE;
  info.si_pid = getpid();
  info.si_uid = getuid();
  info.si_value.sival_ptr = const_cast<char*>(&interrupt_mark);
  return syscall(SYS_rt_tgsigqueueinfo, getpid(), tid, SIGSEGV, &info) == 0;
}

bool thread_can_fault() {
  thread_local bool has_stack = ensure_alternate_stack();
  if (!has_stack || stack_has_gone) return false;
  sigset_t mask;
  if (pthread_sigmask(SIG_SETMASK, nullptr, &mask) != 0) return false;
  for (int signal : kSignals) {
    if (sigismember(&mask, signal) == 1) return false;
  }
  return true;
}

bool thread_could_fault(uint64_t now) {
  static __thread uint64_t asked_at __attribute__((tls_model("initial-exec"))) = 0;
  static __thread bool could_fault __attribute__((tls_model("initial-exec"))) = false;
  if (now - asked_at > kTrustTicks) {
    could_fault = thread_can_fault();
    asked_at = now;
  }
  return could_fault;
}

}  // namespace km::cpu
