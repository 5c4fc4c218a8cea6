/* What the tests of the CUDA driver library share. Include it first; it brings CMocka. */
#ifndef KM_TESTS_CUDA_SUPPORT_H
#define KM_TESTS_CUDA_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <cuda.h>

#define EXPECT(expected, call) expect_result((expected), (call), #call, __FILE__, __LINE__)
#define OK(call) EXPECT(CUDA_SUCCESS, call)
void expect_result(CUresult expected, CUresult given, const char* call, const char* file, int line);

typedef struct fixture {
  CUdevice device;
  CUcontext context; /* the primary one, current */
  CUmodule module;   /* of kernels_ptx */
  CUstream stream;   /* non-blocking */
} fixture;
int set_up(void** state);
int tear_down(void** state);
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

/* noop(); fill_index(u64 out, u32 base, u32 n); add_one(u64 data, u32 n); slow(u64 flag, u64 out)
 * which waits until *flag is not 0 and then sets *out to 1; crash(), by a trap,
 * because CMocka handles signals itself; big(16 bytes by value, u64);
 * `counter`, one u32. */
extern const char kernels_ptx[];
CUfunction kernel(const fixture* f, const char* name);
/* A launch of one thread of the module's kernel. */
CUDA_KERNEL_NODE_PARAMS one_thread_of(CUmodule module, const char* name, void** arguments);
/* Adds such a node behind another one, or behind none. */
CUgraphNode add_kernel(CUgraph graph, CUmodule module, const char* name, void** arguments,
                       const CUgraphNode* after);
/* KM_TEST_NVIDIA=1: the library under test is NVIDIA's. What it does otherwise by design is in
 * docs/guide/dropin.md. */
int on_nvidias_driver(void);
#define NOT_ON_NVIDIAS_DRIVER() \
  if (on_nvidias_driver()) skip()
/* Skips the test where there is one device only. */
#define NEEDS_TWO_DEVICES() \
  if (count_devices() < 2) skip()
int count_devices(void);

#endif
