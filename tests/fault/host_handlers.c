/* Hosts that own signal handlers, installed before or after the library's, see their own faults
 * and none of the kernels'. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>

#include "support/host.h"

static sigjmp_buf back;
static volatile sig_atomic_t seen;
static volatile sig_atomic_t seen_blocked;
static void* volatile seen_address;

static void on_fault(int signal_number, siginfo_t* info, void* context) {
  (void)context;
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, NULL, &mask);
  seen_blocked = sigismember(&mask, SIGUSR1) == 1 && sigismember(&mask, signal_number) == 1;
  seen = signal_number;
  seen_address = info->si_addr;
  siglongjmp(back, 1);
}

static void on_plain(int signal_number) {
  seen = signal_number;
  siglongjmp(back, 1);
}

static void install(int signal_number) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  sigaddset(&action.sa_mask, SIGUSR1);
  CHECK(sigaction(signal_number, &action, NULL) == 0);
}

static void fault_here(void) {
  seen = 0;
  if (sigsetjmp(back, 1) == 0) {
    volatile uintptr_t address = 128; /* volatile: the compiler must not see through it */
    volatile int* nowhere = (volatile int*)address;
    *nowhere = 1;
  }
  CHECK(seen == SIGSEGV);
}

static void* fault_on_a_thread(void* unused) {
  (void)unused;
  fault_here();
  return NULL;
}

static void check_own_faults(void) {
  fault_here();
  CHECK(seen_address == (void*)128);
  CHECK(seen_blocked);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, fault_on_a_thread, NULL) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  seen = 0;
  if (sigsetjmp(back, 1) == 0) raise(SIGSEGV);
  CHECK(seen == SIGSEGV);
  seen = 0;
  if (sigsetjmp(back, 1) == 0) pthread_kill(pthread_self(), SIGFPE);
  CHECK(seen == SIGFPE);
}

int main(void) {
  install(SIGSEGV);
  signal(SIGFPE, on_plain);
  host h;
  host_open(&h);
  check_works(&h);
  check_own_faults();
  for (int i = 0; i < 3; ++i) {
    seen = 0;
    launch_store(&h, 64, 1);
    CHECK_STATUS(KM_ERROR_ILLEGAL_ADDRESS, km_stream_synchronize(h.stream));
    CHECK(seen == 0);
    OK(km_context_reset(h.context));
    host_load(&h);
    check_own_faults();
  }
  check_works(&h);
  host_close(&h);
  return 0;
}
