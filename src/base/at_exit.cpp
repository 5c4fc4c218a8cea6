#include "base/at_exit.h"

#include <unistd.h>

#include <cstdlib>

namespace km {
namespace {

struct Registered {
  void (*function)(int status);
  pid_t process;
};

void call(int status, void* argument) {
  const auto* const registered = static_cast<const Registered*>(argument);
  if (registered->process == getpid()) registered->function(status);
}

}  // namespace

bool run_at_exit(void (*function)(int status)) {
  auto* const registered = static_cast<Registered*>(std::malloc(sizeof(Registered)));
  if (registered == nullptr) return false;
  *registered = {function, getpid()};  // lives until the process ends
  // atexit() would go through __cxa_atexit, which does nothing in this library.
  if (on_exit(call, registered) == 0) return true;
  std::free(registered);
  return false;
}

}  // namespace km
