#include "base/process/at_exit.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>

namespace km {
namespace {

struct Registered {
  void (*function)(int status);
  pid_t process;
  Registered* next;
};

// All records. The C library forgets each before it calls it; hosts that look for leaks at their
// end, as those under AddressSanitizer do, would take it for lost.
std::atomic<Registered*> g_last_registered{nullptr};

void call(int status, void* argument) {
  const auto* const registered = static_cast<const Registered*>(argument);
  if (registered->process == getpid()) registered->function(status);
}

}  // namespace

bool run_at_exit(void (*function)(int status)) {
  auto* const registered = static_cast<Registered*>(std::malloc(sizeof(Registered)));
  if (registered == nullptr) return false;
  *registered = {function, getpid(), nullptr};  // lives until the process ends
  // atexit() would go through __cxa_atexit, which does nothing in this library.
  if (on_exit(call, registered) != 0) {
    std::free(registered);
    return false;
  }
  registered->next = g_last_registered.load();
  while (!g_last_registered.compare_exchange_weak(registered->next, registered)) {
  }
  return true;
}

}  // namespace km
