// Destroys thread-local objects of a shared library that links this file only in the process that
// created them. The compiler registers their destructors with __cxa_thread_atexit; the hidden
// definition below replaces the C++ runtime's. Otherwise a child of fork() would run the
// destructors of the forking thread at its exit and wait forever for locks that other threads of
// its parent held.
#include <cstdlib>

#include "base/process/fork.h"

extern "C" int __cxa_thread_atexit_impl(  // NOLINT(bugprone-reserved-identifier)
    void (*function)(void*), void* object, void* library);

namespace {

struct Registered {
  void (*destroy)(void*);
  void* object;
  km::ProcessMark maker;
};

void destroy(void* registered) {
  const auto* const record = static_cast<const Registered*>(registered);
  if (!record->maker.is_here()) return;  // the child ends soon and frees its memory with it
  record->destroy(record->object);
  std::free(registered);
}

}  // namespace

extern "C" int __cxa_thread_atexit(  // NOLINT(bugprone-reserved-identifier)
    void (*function)(void*), void* object, void* library) {
  void* const memory = std::malloc(sizeof(Registered));
  if (memory == nullptr) return -1;  // the object outlives its thread
  auto* const record = new (memory) Registered{function, object, km::ProcessMark()};
  return __cxa_thread_atexit_impl(destroy, record, library);
}
