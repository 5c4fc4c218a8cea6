#include "base/thread/start_thread.h"

#include <link.h>
#include <pthread.h>
#include <sched.h>

#include <memory>
#include <string>

#include "base/memory/host_allocator.h"
#include "base/thread/thread_signals.h"

namespace km {

__thread bool detail::is_engine_thread __attribute__((tls_model("initial-exec"))) = false;

namespace {

/// The arguments of a new thread, which owns them.
struct Start {
  std::string name;
  int cpu;
  std::function<void()> body;
};

void* run(void* argument) {
  std::unique_ptr<Start> start(static_cast<Start*>(argument));
  detail::is_engine_thread = true;
  pthread_setname_np(pthread_self(), start->name.c_str());
  // Host code that runs on this thread in a callback must not cancel it: the backend needs the
  // thread.
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
  if (start->cpu >= 0) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<size_t>(start->cpu), &set);
    // Pinning is only a preference, so its failure is ignored.
    pthread_setaffinity_np(pthread_self(), sizeof set, &set);
  }
  const HostMemoryNeeded needed;  // the thread has no caller to report a lack of memory to
  start->body();
  return nullptr;
}

int add_thread_local(dl_phdr_info* object, size_t, void* sum) {
  for (unsigned i = 0; i < object->dlpi_phnum; ++i) {
    const auto& header = object->dlpi_phdr[i];
    if (header.p_type != PT_TLS) continue;
    *static_cast<uint64_t*>(sum) += header.p_memsz + header.p_align;
  }
  return 0;
}

/// The size of the thread-local memory of the program and its libraries, which glibc takes from a
/// new thread's stack.
uint64_t thread_local_bytes() {
  uint64_t sum = 16 << 10;
  dl_iterate_phdr(add_thread_local, &sum);
  return sum;
}

}  // namespace

bool start_thread(const char* name, uint64_t stack_bytes, int cpu, std::function<void()> body) {
  auto start = std::make_unique<Start>(Start{name, cpu, std::move(body)});
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack_bytes + thread_local_bytes());
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  bool started = false;
  {
    const LibraryThreadSignals signals;
    started = pthread_create(&thread, &attributes, run, start.get()) == 0;
  }
  pthread_attr_destroy(&attributes);
  if (started) start.release();  // NOLINT: the thread owns it
  return started;
}

}  // namespace km
