#include "compile/compiler_thread.h"

#include <immintrin.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>

#include <cstring>
#include <mutex>

namespace km {
namespace {

constexpr size_t kStackBytes = size_t{64} << 20;
/// Exceptions masked, round to nearest, subnormals kept: what folding constants relies on.
constexpr unsigned kDefaultMxcsr = 0x1F80;

void* thread_main(void* argument) {
  _mm_setcsr(kDefaultMxcsr);
  if (const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr)) uselocale(plain);
  pthread_setname_np(pthread_self(), "km-compile");
  (*static_cast<const std::function<void()>*>(argument))();
  return nullptr;
}

int start(pthread_t& thread, const std::function<void()>& work) {
  pthread_attr_t attributes;
  if (const int failure = pthread_attr_init(&attributes)) return failure;
  int failure = pthread_attr_setstacksize(&attributes, kStackBytes);
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  // The new thread inherits the mask, so that no handler of the host runs on it.
  pthread_sigmask(SIG_SETMASK, &all, &before);
  if (failure == 0) {
    failure = pthread_create(&thread, &attributes, thread_main,
                             const_cast<std::function<void()>*>(&work));
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return failure;
}

}  // namespace

Status run_on_compiler_thread(const std::function<void()>& work) {
  static std::mutex one_at_a_time;
  const std::lock_guard<std::mutex> lock(one_at_a_time);
  pthread_t thread{};
  if (const int failure = start(thread, work)) {
    return make_error(KM_ERROR_OUT_OF_HOST_MEMORY, "cannot start a compiler thread: %s",
                      std::strerror(failure));
  }
  pthread_join(thread, nullptr);
  return {};
}

}  // namespace km
