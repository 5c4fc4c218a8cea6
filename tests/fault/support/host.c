#include "support/host.h"

#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char kKernels[] =
    ".version 7.0\n"
    ".target sm_70\n"
    ".address_size 64\n"
    ".visible .entry store(.param .u64 address, .param .u32 value)\n"
    "{\n"
    "  .reg .b64 %rd<2>;\n"
    "  .reg .b32 %r<2>;\n"
    "  ld.param.u64 %rd1, [address];\n"
    "  ld.param.u32 %r1, [value];\n"
    "  st.global.u32 [%rd1], %r1;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry endless()\n"
    "{\n"
    "again:\n"
    "  bra again;\n"
    "}\n"
    ".visible .entry trap()\n"
    "{\n"
    "  trap;\n"
    "  ret;\n"
    "}\n";

void fail_check(const char* file, int line, const char* text) {
  fprintf(stderr, "%s:%d: failed: %s\n", file, line, text);
  exit(1);
}

void check_status(const char* file, int line, const char* call, km_status expected,
                  km_status actual) {
  if (expected == actual) return;
  char message[4096] = "";
  uint64_t size = 0;
  km_last_error_message(message, sizeof message, &size);
  fprintf(stderr, "%s:%d: %s gave %d, not %d: %s\n", file, line, call, actual, expected, message);
  exit(1);
}

void host_open(host* h) {
  OK(km_device_open("cpu", &h->device));
  OK(km_context_create(h->device, &h->context));
  host_load(h);
}

void host_load(host* h) {
  OK(km_context_default_stream(h->context, &h->stream));
  OK(km_module_load_ptx(h->context, kKernels, sizeof kKernels - 1, "faults.ptx", &h->module));
}

void host_close(host* h) {
  OK(km_module_destroy(h->module));
  OK(km_stream_destroy(h->stream));
  OK(km_context_destroy(h->context));
  OK(km_device_destroy(h->device));
}

void launch_plain(host* h, const char* kernel, uint32_t blocks, uint32_t threads) {
  km_function function = NULL;
  OK(km_module_function(h->module, kernel, &function));
  km_launch_config config = {{blocks, 1, 1}, {threads, 1, 1}, 0};
  OK(km_launch_kernel(h->stream, function, &config, NULL, 0, NULL, 0));
  OK(km_function_destroy(function));
}

void launch_store(host* h, uint64_t address, uint32_t value) {
  km_function function = NULL;
  OK(km_module_function(h->module, "store", &function));
  km_launch_config config = {{1, 1, 1}, {1, 1, 1}, 0};
  unsigned char arguments[12];
  memcpy(arguments, &address, 8);
  memcpy(arguments + 8, &value, 4);
  OK(km_launch_kernel(h->stream, function, &config, arguments, sizeof arguments, NULL, 0));
  OK(km_function_destroy(function));
}

void check_works(host* h) {
  km_slice slice = NULL;
  OK(km_slice_create(h->context, 4, 4, KM_SLICE_ZEROED, &slice));
  uint64_t address = 0;
  OK(km_slice_address(slice, &address));
  launch_store(h, address + 4, 77);
  OK(km_stream_synchronize(h->stream));
  uint32_t words[4] = {9, 9, 9, 9};
  OK(km_slice_download(h->stream, slice, 0, words, sizeof words));
  CHECK(words[0] == 0 && words[1] == 77 && words[2] == 0);
  OK(km_slice_destroy(slice));
}

void check_message(host* h, const char* part) {
  char message[4096] = "";
  uint64_t size = 0;
  OK(km_context_error_message(h->context, message, sizeof message, &size));
  if (strstr(message, part) != NULL) return;
  fprintf(stderr, "the message '%s' lacks '%s'\n", message, part);
  exit(1);
}

uint64_t host_now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* How long a child may take. An emulator takes twenty times as long to compile its kernels. */
#ifdef KM_TEST_EMULATED
enum { kChildLimitSeconds = 1000 };
#else
enum { kChildLimitSeconds = 100 };
#endif

int status_of_child(void (*check)(host*)) {
  int status = 0;
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    host h;
    alarm(kChildLimitSeconds);
    host_open(&h);
    check_works(&h);
    check(&h);
    host_close(&h);
    exit(0);
  }
  CHECK(waitpid(child, &status, 0) == child);
  return status;
}
