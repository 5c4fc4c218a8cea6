/* What the hosts of the fault tests share: a device, kernels that misbehave, and checks. */
#ifndef KM_TESTS_FAULT_HOST_H
#define KM_TESTS_FAULT_HOST_H

#include <kernelmill/c_api.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                          \
  do {                                                            \
    if (!(condition)) fail_check(__FILE__, __LINE__, #condition); \
  } while (0)
#define CHECK_STATUS(expected, call) check_status(__FILE__, __LINE__, #call, (expected), (call))
#define OK(call) CHECK_STATUS(KM_SUCCESS, call)

_Noreturn void fail_check(const char* file, int line, const char* text);
void check_status(const char* file, int line, const char* call, km_status expected,
                  km_status actual);

typedef struct host {
  km_device device;
  km_context context;
  km_stream stream;
  km_module module;
} host;

/* Opens the device with a context of its own and loads the kernels:
 *   store(u64 address, u32 value)  one thread stores
 *   endless()                      never ends
 *   trap()                         traps */
void host_open(host* h);
void host_load(host* h); /* the kernels again, after a reset */
void host_close(host* h);

void launch_store(host* h, uint64_t address, uint32_t value);
void launch_plain(host* h, const char* kernel, uint32_t blocks, uint32_t threads);

/* The kernels work: one that stores has done so. */
void check_works(host* h);
/* The context's error text holds `part`. */
void check_message(host* h, const char* part);
uint64_t host_now_ns(void);
/* Runs the check in a child, which opens the device first: what waitpid() gives for it. This
 * process may not have used the library. */
int status_of_child(void (*check)(host*));

#endif
