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

// All records. The C library forgets a record before it calls it, so leak checkers of hosts, such
// as AddressSanitizer's, would report it without this list.
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
  // atexit() would use __cxa_atexit, which this library replaces by a function that does nothing.
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
