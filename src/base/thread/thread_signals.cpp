#include "base/thread/thread_signals.h"

#include <pthread.h>

namespace km {
namespace {

constexpr int kOwnSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};

}  // namespace

LibraryThreadSignals::LibraryThreadSignals() {
  sigset_t blocked;
  sigfillset(&blocked);
  for (const int signal : kOwnSignals) sigdelset(&blocked, signal);
  pthread_sigmask(SIG_SETMASK, &blocked, &before_);
}

LibraryThreadSignals::~LibraryThreadSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

}  // namespace km
