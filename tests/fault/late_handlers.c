/* Hosts that install signal handlers after the library's: kernels' faults stay errors of their
 * context, and the host's handlers get what is the host's, each once, in the order in which a
 * program without the library would see them. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "support/host.h"

enum { kSwitches = 100 };

static sigjmp_buf back;
static volatile sig_atomic_t first_calls, second_calls, third_calls;
static struct sigaction before_second, before_third;

static void install(int signal_number, void (*handler)(int, siginfo_t*, void*), int flags,
                    struct sigaction* before) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | flags;
  CHECK(sigaction(signal_number, &action, before) == 0);
}

static void first_handler(int signal_number, siginfo_t* info, void* context) {
  (void)signal_number;
  (void)info;
  (void)context;
  ++first_calls;
  siglongjmp(back, 1);
}

/* Calls the handler that it found. */
static void second_handler(int signal_number, siginfo_t* info, void* context) {
  ++second_calls;
  if (second_calls > 1) _exit(4); /* a loop */
  if ((before_second.sa_flags & SA_SIGINFO) != 0) {
    before_second.sa_sigaction(signal_number, info, context);
  }
}

/* Puts the handler back that it found, and sends the signal to it. */
static void third_handler(int signal_number, siginfo_t* info, void* context) {
  (void)info;
  (void)context;
  ++third_calls;
  if (third_calls > 1) _exit(5);
  sigaction(signal_number, &before_third, NULL);
  raise(signal_number);
}

static void fault_here(void) {
  first_calls = second_calls = third_calls = 0;
  if (sigsetjmp(back, 1) != 0) return;
  volatile uintptr_t address = 128; /* volatile: the compiler must not see through it */
  *(volatile int*)address = 1;
}

static void* fault_on_a_thread(void* unused) {
  fault_here();
  return unused;
}

static void expect_host_faults(int first, int second, int third) {
  for (int i = 0; i < 3; ++i) {
    fault_here();
    CHECK(first_calls == first && second_calls == second && third_calls == (i == 0 ? third : 0));
  }
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, fault_on_a_thread, NULL) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(first_calls == first && second_calls == second && third_calls == 0);
}

static void expect_kernel_fault(host* h) {
  first_calls = second_calls = third_calls = 0;
  launch_store(h, 64, 1);
  CHECK_STATUS(KM_ERROR_ILLEGAL_ADDRESS, km_stream_synchronize(h->stream));
  CHECK(first_calls == 0 && second_calls == 0 && third_calls == 0);
  OK(km_context_reset(h->context));
  host_load(h);
}

/* Each handler in front of the ones before it. */
static void check_chains(host* h) {
  install(SIGSEGV, first_handler, 0, NULL);
  expect_kernel_fault(h);
  expect_host_faults(1, 0, 0);
  expect_kernel_fault(h);
  install(SIGSEGV, second_handler, 0, &before_second);
  expect_kernel_fault(h);
  expect_host_faults(1, 1, 0);
  expect_kernel_fault(h);
  install(SIGSEGV, third_handler, SA_NODEFER, &before_third);
  expect_kernel_fault(h);
  expect_host_faults(1, 1, 1);
  expect_kernel_fault(h);
  check_works(h);
}

/* Also one that the library has not seen yet passes on what is not its own. */
static void check_unseen(host* h) {
  install(SIGSEGV, first_handler, 0, NULL);
  expect_kernel_fault(h);
  install(SIGSEGV, second_handler, 0, &before_second);
  expect_host_faults(1, 1, 0);
  expect_kernel_fault(h);
}

/* Programs that put handlers in and take them out again all the time. */
static void check_switches(host* h) {
  for (int i = 0; i < kSwitches; ++i) {
    if (i % 3 == 0) {
      signal(SIGSEGV, SIG_DFL);
    } else {
      install(SIGSEGV, first_handler, i % 3 == 1 ? 0 : SA_NODEFER, NULL);
    }
    expect_kernel_fault(h);
    if (i % 3 != 0) expect_host_faults(1, 0, 0);
  }
}

static const char kWaits[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry fault_when_set(.param .u64 flag) {\n"
    "  .reg .b64 %a;\n  .reg .b32 %r;\n  .reg .pred %p;\n"
    "  ld.param.u64 %a, [flag];\nagain:\n  ld.volatile.global.u32 %r, [%a];\n"
    "  setp.eq.u32 %p, %r, 0;\n  @%p bra again;\n"
    "  mov.u64 %a, 64;\n  st.global.u32 [%a], %r;\n  ret;\n}\n";

static void* set_later(void* flag) {
  usleep(50000);
  __atomic_store_n((uint32_t*)flag, 1, __ATOMIC_RELEASE);
  return NULL;
}

/* A kernel is running when the handler comes. */
static void check_under_way(host* h) {
  km_module module;
  km_function function;
  km_slice slice;
  uint32_t flag[16] = {0};
  uint64_t address;
  const km_launch_config config = {{1, 1, 1}, {1, 1, 1}, 0};
  OK(km_slice_from_host(h->context, flag, 16, 4, NULL, NULL, &slice));
  OK(km_slice_address(slice, &address));
  OK(km_module_load_ptx(h->context, kWaits, sizeof kWaits - 1, "waits.ptx", &module));
  OK(km_module_function(module, "fault_when_set", &function));
  OK(km_launch_kernel(h->stream, function, &config, &address, 8, NULL, 0));
  CHECK_STATUS(KM_TIMEOUT, km_stream_synchronize_timeout(h->stream, 20000000));
  first_calls = 0;
  install(SIGSEGV, first_handler, 0, NULL);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, set_later, flag) == 0);
  CHECK_STATUS(KM_ERROR_ILLEGAL_ADDRESS, km_stream_synchronize(h->stream));
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(first_calls == 0);
  OK(km_function_destroy(function));
  OK(km_module_destroy(module));
  OK(km_slice_destroy(slice));
  OK(km_context_reset(h->context));
  host_load(h);
  expect_host_faults(1, 0, 0);
}

/* Interrupts, which stop kernels without an end, come as the same signal. */
static void check_stopping(host* h) {
  install(SIGSEGV, first_handler, 0, NULL);
  launch_plain(h, "endless", 4, 32);
  CHECK_STATUS(KM_TIMEOUT, km_stream_synchronize_timeout(h->stream, 20000000));
  install(SIGSEGV, second_handler, 0, &before_second);
  first_calls = second_calls = 0;
  OK(km_context_reset(h->context));
  CHECK(first_calls == 0 && second_calls == 0);
  host_load(h);
}

int main(void) {
  void (*const checks[])(host*) = {check_chains, check_unseen, check_switches, check_under_way,
                                   check_stopping};
  for (size_t i = 0; i < sizeof checks / sizeof checks[0]; ++i) {
    const int status = status_of_child(checks[i]);
    if (status != 0) fprintf(stderr, "check %zu: status %#x\n", i, (unsigned)status);
    CHECK(status == 0);
  }
  return 0;
}
