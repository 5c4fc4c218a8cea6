/* Where the host has no handler, its own faults still end it by the signal, as without the
 * library. Each case runs in a process of its own, forked before the library is used. */
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/host.h"

static void fault(void) {
  volatile uintptr_t address = 8; /* volatile: the compiler must not see through it */
  volatile int* nowhere = (volatile int*)address;
  *nowhere = 1;
}
static void raise_it(void) { raise(SIGSEGV); }

static void once(int signal_number) { (void)signal_number; }

enum { kDefault, kIgnored, kOnce };

/* Runs `action` after the library has been used; gives the signal that ended the process, or 0. */
static int run(int disposition, void (*action)(void)) {
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    struct sigaction act;
    memset(&act, 0, sizeof act);
    act.sa_handler = disposition == kIgnored ? SIG_IGN : disposition == kOnce ? once : SIG_DFL;
    act.sa_flags = disposition == kOnce ? (int)SA_RESETHAND : 0;
    sigaction(SIGSEGV, &act, NULL);
    host h;
    host_open(&h);
    check_works(&h);
    launch_store(&h, 64, 1);
    CHECK_STATUS(KM_ERROR_ILLEGAL_ADDRESS, km_stream_synchronize(h.stream));
    action();
    _exit(0);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  if (WIFSIGNALED(status)) return WTERMSIG(status);
  CHECK(WEXITSTATUS(status) == 0);
  return 0;
}

int main(void) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return 0; /* the sanitizer's own handler stands before the default action */
#endif
  CHECK(run(kDefault, fault) == SIGSEGV);
  CHECK(run(kDefault, raise_it) == SIGSEGV);
  CHECK(run(kIgnored, fault) == SIGSEGV); /* the kernel lets no real fault be ignored */
  CHECK(run(kIgnored, raise_it) == 0);
  CHECK(run(kOnce, fault) == SIGSEGV);
  CHECK(run(kOnce, raise_it) == 0);
  return 0;
}
