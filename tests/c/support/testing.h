/* What the C tests share: checks that print the library's text, the devices to run on, and a few
 * kernels. Include it first; it brings CMocka. */
#ifndef KM_TESTS_TESTING_H
#define KM_TESTS_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <kernelmill/c_api.h>

/* Fails the test with the library's text unless the call gives `expected`. */
#define EXPECT(expected, call) expect_status((expected), (call), #call, __FILE__, __LINE__)
#define OK(call) EXPECT(KM_SUCCESS, call)
void expect_status(km_status expected, km_status given, const char* call, const char* file,
                   int line);
/* The last error's text has this part. */
void expect_message(const char* part);

/* A device with a context and a stream on it; skips the test where the device cannot have them. */
typedef struct fixture {
  const char* uri;
  km_device device;
  km_context context;
  km_stream stream;
  km_device_info info;
} fixture;

/* Runs the tests once for each device: those of KM_TEST_DEVICE, else cpu:0. Each test finds a
 * fixture in *state. */
int run_on_devices(const char* name, const struct CMUnitTest* tests, size_t count);
#define RUN_ON_DEVICES(name, tests) \
  run_on_devices((name), (tests), sizeof(tests) / sizeof((tests)[0]))

/* Replaces a child by this program, started again with these words, of which the second may be
 * NULL: under the emulator that KM_TEST_EMULATOR names, if it is for another processor. */
__attribute__((noreturn)) void run_again(const char* first, const char* second);

/* Ends a child that hangs: after this time, or twenty times that under an emulator. */
void end_after(unsigned seconds);

/* A further device is there: "cpu:1". */
int has_device(const char* uri);
/* NVIDIA's driver, or the scripted one of tests/fake_cuda. All contexts of a device share its
 * primary one. */
int is_cuda(const fixture* f);
/* Fails the test unless the call gives the error of a kernel that executed trap: CUDA knows it as a
 * launch that failed, or as an illegal instruction. */
#define EXPECT_TRAP(f, call) expect_trap((f), (call), #call, __FILE__, __LINE__)
void expect_trap(const fixture* f, km_status given, const char* call, const char* file, int line);
int is_trap(const fixture* f, km_status status);
/* A test in which a kernel faults: on NVIDIA GPUs that is the end of CUDA in the process, so that
 * there the test has a process of its own. Instead of cmocka_unit_test. */
#define FAULTING_TEST(function) {#function, function, NULL, NULL, (void*)faulting_tests}
extern const char faulting_tests[];
/* Resets the context after a fault. 0 if the process has lost the device, as is so on GPUs: the
 * test ends then. */
int comes_back_after_fault(const fixture* f);
/* Another device of the same backend. */
const char* other_uri(const fixture* f);
/* The fake devices, which know the kernels below by name and has no faults. */
int is_fake(const fixture* f);

/* noop(), fill_index(out, base, n), scale(data, factor, n), crash(), and `counters`, 4 x u32. */
extern const char test_ptx[];
km_module load_test_module(const fixture* f);
km_function load_kernel(const fixture* f, const char* name);
/* One-dimensional launch of a kernel with raw arguments. */
km_status launch(const fixture* f, km_function function, uint32_t grid, uint32_t block,
                 const void* arguments, uint64_t size_bytes);

/* The arguments of the kernels, laid out as PTX does. */
typedef struct fill_index_arguments {
  uint64_t out;
  uint32_t base, n;
} fill_index_arguments;
typedef struct scale_arguments {
  uint64_t data;
  float factor;
  uint32_t n;
} scale_arguments;

#endif
