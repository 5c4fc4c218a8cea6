#include "backends/cpu/fault.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "backends/cpu/lane_memory.h"
#include "backends/cpu/sanitizers.h"
#include "backends/cpu/stack_switch.h"

namespace km::cpu {

__thread CodeGuard* current_guard __attribute__((tls_model("initial-exec"))) = nullptr;

namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
constexpr size_t kAlternateStackBytes = 256 << 10;
constexpr size_t kMinimumForeignStackBytes = 8 << 10;

struct sigaction previous_actions[NSIG];
const char interrupt_mark = 0;  // its address tells our interrupts from everybody else's

KM_NO_SANITIZE bool is_interrupt(int signal, const siginfo_t* info) {
  return signal == SIGSEGV && info->si_code == SI_QUEUE && info->si_pid == getpid() &&
         info->si_value.sival_ptr == &interrupt_mark;
}

KM_NO_SANITIZE bool contains(const StackGuard& guard, uint64_t address) {
  return address >= guard.begin && address < guard.end;
}

KM_NO_SANITIZE void leave(ucontext_t* context, CodeGuard* guard, Ending ending) {
  greg_t* registers = context->uc_mcontext.gregs;
  registers[REG_RIP] = reinterpret_cast<greg_t>(&km_cpu_leave);
  registers[REG_RDI] = reinterpret_cast<greg_t>(guard);
  registers[REG_RSI] = static_cast<greg_t>(ending);
  registers[REG_RSP] = static_cast<greg_t>(guard->saved_stack);
}

/// Whether the signal belongs to code that we run; if so the thread goes on at km_cpu_leave.
KM_NO_SANITIZE bool handle_own(int signal, siginfo_t* info, ucontext_t* context) {
  CodeGuard* guard = current_guard;
  bool interrupt = is_interrupt(signal, info);
  if (guard == nullptr) return interrupt;
  auto pc = static_cast<uint64_t>(context->uc_mcontext.gregs[REG_RIP]);
  bool in_code = (pc >= guard->begin && pc < guard->end) || is_lane_code(pc);
  if (interrupt) {
    bool stop =
        in_code && guard->stop != nullptr && guard->stop->load(std::memory_order_relaxed) != 0;
    if (!stop) return true;
    guard->fault = Fault{.signal = 0, .code = 0, .pc = pc, .address = 0, .stack_overflow = false};
    leave(context, guard, Ending::stopped);
    return true;
  }
  if (info->si_code <= 0) return false;  // sent by somebody, not a fault
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

/// The default action: put it back, and let the instruction fault again or send the signal again.
KM_NO_SANITIZE void take_default(int signal, const siginfo_t* info) {
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
  if (info->si_code <= 0) {
    syscall(SYS_tgkill, getpid(), static_cast<pid_t>(syscall(SYS_gettid)), signal);
  }
}

/// Does what the kernel would have done, had our handler not been there.
KM_NO_SANITIZE void chain(int signal, siginfo_t* info, void* context) {
  struct sigaction& previous = previous_actions[signal];
  bool has_info = (previous.sa_flags & SA_SIGINFO) != 0;
  if (!has_info && previous.sa_handler == SIG_IGN && info->si_code <= 0) return;
  if (!has_info && (previous.sa_handler == SIG_DFL || previous.sa_handler == SIG_IGN)) {
    take_default(signal, info);  // the kernel does not let a real fault be ignored
    return;
  }
  sigset_t mask = static_cast<ucontext_t*>(context)->uc_sigmask;
  for (int i = 1; i < NSIG; ++i) {
    if (sigismember(&previous.sa_mask, i) == 1) sigaddset(&mask, i);
  }
  if ((previous.sa_flags & SA_NODEFER) == 0) sigaddset(&mask, signal);
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  auto with_info = previous.sa_sigaction;
  auto plain = previous.sa_handler;
  if ((previous.sa_flags & static_cast<int>(SA_RESETHAND)) != 0) {
    previous.sa_flags &= ~SA_SIGINFO;
    previous.sa_handler = SIG_DFL;
  }
  if (has_info) {
    with_info(signal, info, context);
  } else {
    plain(signal);
  }
}

KM_NO_SANITIZE void on_signal(int signal, siginfo_t* info, void* context) {
  int saved_errno = errno;
  if (!handle_own(signal, info, static_cast<ucontext_t*>(context))) chain(signal, info, context);
  errno = saved_errno;
}

Status install() {
  struct sigaction action = {};
  action.sa_sigaction = on_signal;
  // Restart: an interrupt may arrive when the thread has left generated code already.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  for (int signal : kSignals) {
    // The old one is read first: a fault on another thread right after the switch needs it.
    if (sigaction(signal, nullptr, &previous_actions[signal]) != 0 ||
        sigaction(signal, &action, nullptr) != 0) {
      int code = errno;
      Error error = make_error(KM_ERROR_INTERNAL, "cannot install a handler for signal %d: %s",
                               signal, strerror(code));
      error.native_code = code;
      return error;
    }
  }
  return {};
}

/// An alternate signal stack that this thread owns, given back when the thread ends.
struct AlternateStack {
  void* memory = nullptr;
  ~AlternateStack() {
    if (memory == nullptr) return;
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

bool interrupt_thread(int tid) {
  struct sigaction now = {};
  if (sigaction(SIGSEGV, nullptr, &now) != 0 || (now.sa_flags & SA_SIGINFO) == 0 ||
      now.sa_sigaction != on_signal) {
    return false;
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
  if (!has_stack) return false;
  sigset_t mask;
  if (pthread_sigmask(SIG_SETMASK, nullptr, &mask) != 0) return false;
  for (int signal : kSignals) {
    if (sigismember(&mask, signal) == 1) return false;
  }
  return true;
}

}  // namespace km::cpu
