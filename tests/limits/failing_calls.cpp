#include "failing_calls.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>

namespace km::limits_test {
namespace {

std::atomic<SystemCall> failing{SystemCall::none};
std::atomic<int> left{0};
std::atomic<bool> fails_for_ever{false}, has_failed{false};

bool fails(SystemCall call) {
  if (failing.load() != call) return false;
  const int before = left.fetch_sub(1);
  if (before > 0 || (before < 0 && !fails_for_ever.load())) return false;
  has_failed.store(true);
  return true;
}

template <class Function>
Function real(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

void fail_calls(SystemCall call, int successes, bool for_ever) {
  left.store(successes);
  fails_for_ever.store(for_ever);
  has_failed.store(false);
  failing.store(call);
}

bool stop_failing() {
  failing.store(SystemCall::none);
  return has_failed.load();
}

}  // namespace km::limits_test

using km::limits_test::fails;
using km::limits_test::real;
using km::limits_test::SystemCall;

// Seen by all libraries of the process.
#pragma GCC visibility push(default)

extern "C" {

void* mmap(void* address, size_t length, int protection, int flags, int file,
           off_t offset) noexcept {
  static const auto next = real<decltype(&mmap)>("mmap");
  if (!fails(SystemCall::map)) return next(address, length, protection, flags, file, offset);
  errno = ENOMEM;
  return MAP_FAILED;
}

int mprotect(void* address, size_t length, int protection) noexcept {
  static const auto next = real<decltype(&mprotect)>("mprotect");
  if (!fails(SystemCall::protect)) return next(address, length, protection);
  errno = ENOMEM;
  return -1;
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*),
                   void* argument) noexcept {
  static const auto next = real<decltype(&pthread_create)>("pthread_create");
  if (!fails(SystemCall::start_thread)) return next(thread, attributes, body, argument);
  return EAGAIN;
}

int open(const char* path, int flags, ...) {
  static const auto next = real<decltype(&open)>("open");
  va_list rest;
  va_start(rest, flags);
  const auto mode = static_cast<mode_t>(va_arg(rest, int));
  va_end(rest);
  if (!fails(SystemCall::open_file)) return next(path, flags, mode);
  errno = EMFILE;
  return -1;
}

// Offsets have 64 bits in both.
[[gnu::alias("open")]] int open64(const char* path, int flags, ...);

}  // extern "C"

#pragma GCC visibility pop
