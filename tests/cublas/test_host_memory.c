/* Pointers to the host's memory that name none: each call says so, and the process goes on. */
#include "support.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int cublasXtCreate(void**);
int cublasXtDestroy(void*);
int cublasXtDeviceSelect(void*, int, int*);
int cublasXtGetNumBoards(int, int*, int*);
int cublasXtMaxBoards(int*);
int cublasXtGetBlockDim(void*, int*);
int cublasXtGetPinningMemMode(void*, int*);
int cublasXtDgemm(void*, int, int, size_t, size_t, size_t, const double*, const double*, size_t,
                  const double*, size_t, const double*, double*, size_t);
int cublasXtDspmm(void*, int, int, size_t, size_t, const double*, const double*, const double*,
                  size_t, const double*, double*, size_t);
int cublasXtDsyrk(void*, int, int, size_t, size_t, const double*, const double*, size_t,
                  const double*, double*, size_t);
int cublasXtDtrsm(void*, int, int, int, int, size_t, size_t, const double*, const double*, size_t,
                  double*, size_t);
int cublasInit(void);
int cublasShutdown(void);
int cublasAlloc(int, int, void**);
int cublasGetLoggerCallback(void (**)(const char*));

/* Addresses that hold nothing: a small number, one that no processor takes, and the page after one
 * that is there. `readable` may be read alone. */
enum { WILD = 4, PAGE = 4096 };
static void* wild[WILD];
static void* readable;

static int make_wild(void** state) {
  (void)state;
  char* const pages =
      mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED || mprotect(pages + PAGE, PAGE, PROT_NONE) != 0) return 1;
  if (mprotect(pages + 2 * PAGE, PAGE, PROT_READ) != 0) return 1;
  wild[0] = (void*)8;
  wild[1] = (void*)0xd0ed80f55cfcc710;
  wild[2] = pages + PAGE;
  wild[3] = pages + PAGE - 2; /* half of it is there */
  readable = pages + 2 * PAGE;
  return 0;
}

static void scalars_are_read_where_they_are(void** state) {
  (void)state;
  float *x = managed(256), *y = managed(256), number = 1;
  for (int i = 0; i < WILD; ++i) {
    const float* const none = (const float*)wild[i];
    EXPECT(INVALID_VALUE, cublasSaxpy_v2(handle, 4, none, x, 1, y, 1));
    EXPECT(INVALID_VALUE, cublasSscal_v2(handle, 4, none, x, 1));
    EXPECT(INVALID_VALUE, cublasSrot_v2(handle, 4, x, 1, y, 1, none, &number));
    EXPECT(INVALID_VALUE, cublasSrot_v2(handle, 4, x, 1, y, 1, &number, none));
    EXPECT(INVALID_VALUE, cublasSrotm_v2(handle, 4, x, 1, y, 1, none));
    EXPECT(INVALID_VALUE,
           cublasSgemm_v2(handle, OP_N, OP_N, 4, 4, 4, none, x, 4, x, 4, &number, y, 4));
    EXPECT(INVALID_VALUE,
           cublasSgemm_v2(handle, OP_N, OP_N, 4, 4, 4, &number, x, 4, x, 4, none, y, 4));
    EXPECT(INVALID_VALUE, cublasSgemv_v2(handle, OP_N, 4, 4, none, x, 4, x, 1, &number, y, 1));
    EXPECT(INVALID_VALUE, cublasGemmEx(handle, OP_N, OP_N, 4, 4, 4, none, x, R_32F, 4, x, R_32F, 4,
                                       &number, y, R_32F, 4, COMPUTE_32F, -1));
    EXPECT(INVALID_VALUE, cublasSgeam(handle, OP_N, OP_N, 4, 4, none, x, 4, &number, x, 4, y, 4));
  }
  wait_for_device();
}

static void results_are_written_where_they_can_be(void** state) {
  (void)state;
  float* x = managed(256);
  int info = 1;
  double* const* arrays = managed(256);
  void* places[WILD + 1];
  memcpy(places, wild, sizeof wild);
  places[WILD] = readable;
  for (int i = 0; i <= WILD; ++i) {
    void* const none = places[i];
    assert_int_not_equal(cublasSdot_v2(handle, 4, x, 1, x, 1, none), OK_);
    assert_int_not_equal(cublasSnrm2_v2(handle, 4, x, 1, none), OK_);
    EXPECT(INVALID_VALUE, cublasSdot_v2(handle, 0, x, 1, x, 1, none));
    EXPECT(INVALID_VALUE, cublasCreate_v2(none));
    EXPECT(INVALID_VALUE, cublasGetVersion_v2(handle, none));
    EXPECT(INVALID_VALUE, cublasGetProperty(0, none));
    EXPECT(INVALID_VALUE, cublasGetPointerMode_v2(handle, none));
    EXPECT(INVALID_VALUE, cublasGetStream_v2(handle, none));
    EXPECT(INVALID_VALUE, cublasGetLoggerCallback(none));
    EXPECT(INVALID_VALUE, cublasDgetrsBatched(handle, OP_N, 4, 1, (const double* const*)arrays, 4,
                                              NULL, arrays, 4, none, 1));
    EXPECT(INVALID_VALUE, cublasXtCreate(none));
    EXPECT(INVALID_VALUE, cublasXtMaxBoards(none));
    EXPECT(INVALID_VALUE, cublasXtGetNumBoards(1, &(int){0}, none));
  }
  OK(cublasInit());
  EXPECT(INVALID_VALUE, cublasAlloc(4, 4, wild[2]));
  EXPECT(INVALID_VALUE, cublasAlloc(4, 4, readable));
  OK(cublasShutdown());
  OK(cublasDgetrsBatched(handle, OP_N, 0, 1, (const double* const*)arrays, 4, NULL, arrays, 4,
                         &info, 1));
  assert_int_equal(info, 0);
}

static void rotations_are_made_of_what_is_there(void** state) {
  (void)state;
  for (int i = 0; i < WILD; ++i) {
    float* const none = (float*)wild[i];
    float v[5] = {3, 4, 5, 6, 7};
    EXPECT(INVALID_VALUE, cublasSrotg_v2(handle, none, v, v + 1, v + 2));
    EXPECT(INVALID_VALUE, cublasSrotg_v2(handle, v, none, v + 1, v + 2));
    EXPECT(INVALID_VALUE, cublasSrotg_v2(handle, v, v + 1, none, v + 2));
    EXPECT(INVALID_VALUE, cublasSrotg_v2(handle, v, v + 1, v + 2, none));
    EXPECT(INVALID_VALUE, cublasSrotmg_v2(handle, v, v + 1, v + 2, none, v));
    EXPECT(INVALID_VALUE, cublasSrotmg_v2(handle, v, v + 1, v + 2, v + 3, none));
    EXPECT(INVALID_VALUE, cublasDrotmg_v2(handle, wild[i], wild[i], wild[i], wild[i], wild[i]));
  }
  float a = 3, b = 4, c, s;
  OK(cublasSrotg_v2(handle, &a, &b, &c, &s));
  assert_true(a == 5 && c == 0.6f && s == 0.8f);
}

static void arrays_of_groups_are_read_where_they_are(void** state) {
  (void)state;
  const int op = OP_N, four = 4, one = 1;
  const float number = 1;
  const float* const* matrices = managed(64);
  for (int i = 0; i < WILD; ++i) {
    const int* const none = (const int*)wild[i];
    for (int which = 0; which < 9; ++which) {
      const int* use[9] = {&op, &op, &four, &four, &four, &four, &four, &four, &one};
      use[which] = none;
      EXPECT(INVALID_VALUE,
             cublasSgemmGroupedBatched(handle, use[0], use[1], use[2], use[3], use[4], &number,
                                       matrices, use[5], matrices, use[6], &number,
                                       (float* const*)matrices, use[7], 1, use[8]));
    }
  }
}

static void matrices_of_xt_are_read_where_they_are(void** state) {
  (void)state;
  enum { HUGE_ORDER = 100000 };
  void* xt = NULL;
  int device = 0;
  double one = 1, b[64] = {0}, c[64] = {0};
  OK(cublasXtCreate(&xt));
  EXPECT(INVALID_VALUE, cublasXtDeviceSelect(xt, 1, (int*)wild[0]));
  EXPECT(INVALID_VALUE, cublasXtDeviceSelect(xt, 2147483647, (int*)readable + PAGE / 4 - 1));
  OK(cublasXtDeviceSelect(xt, 1, &device));
  for (int i = 0; i < WILD; ++i) {
    double* const none = (double*)wild[i];
    EXPECT(INVALID_VALUE, cublasXtDspmm(xt, LEFT, LOWER, 8, 8, &one, none, b, 8, &one, c, 8));
    EXPECT(INVALID_VALUE, cublasXtDspmm(xt, LEFT, LOWER, 8, 8, none, b, b, 8, &one, c, 8));
    EXPECT(INVALID_VALUE, cublasXtDsyrk(xt, LOWER, OP_N, 8, 8, none, b, 8, &one, c, 8));
    EXPECT(INVALID_VALUE, cublasXtDgemm(xt, OP_N, OP_N, 8, 8, 8, &one, none, 8, b, 8, &one, c, 8));
    EXPECT(INVALID_VALUE, cublasXtDgemm(xt, OP_N, OP_N, 8, 8, 8, &one, b, 8, b, 8, none, c, 8));
    EXPECT(INVALID_VALUE, cublasXtDtrsm(xt, LEFT, LOWER, OP_N, UNIT, 8, 8, none, b, 8, c, 8));
    EXPECT(INVALID_VALUE, cublasXtGetBlockDim(xt, (int*)wild[i]));
    EXPECT(INVALID_VALUE, cublasXtGetPinningMemMode(xt, (int*)wild[i]));
  }
  /* Wrong before anything is read, or takes 80 GB. */
  EXPECT(INVALID_VALUE,
         cublasXtDspmm(xt, LEFT, LOWER, HUGE_ORDER, 8, &one, b, c, (size_t)-1, &one, c, 0));
  EXPECT(INVALID_VALUE, cublasXtDspmm(xt, LEFT, LOWER, HUGE_ORDER, 8, &one, b, c, HUGE_ORDER, &one,
                                      c, HUGE_ORDER));
  /* The product of columns and leading dimension is more than 64 bits hold. */
  EXPECT(INVALID_VALUE,
         cublasXtDgemm(xt, OP_N, OP_N, 8, 8, 8, &one, b, (size_t)1 << 61, b, 8, &one, c, 8));
  OK(cublasXtDestroy(xt));
}

/* A handler that the program installs later stands in front of the library's own. */
static volatile sig_atomic_t caught;
static void note(int signal) {
  (void)signal;
  caught = 1;
  _exit(3);
}
static void handlers_of_the_program_come_second(void** state) {
  (void)state;
  float* x = managed(256);
  struct sigaction action = {.sa_handler = note}, before;
  assert_int_equal(sigaction(SIGSEGV, &action, &before), 0);
  usleep(1000);
  EXPECT(INVALID_VALUE, cublasSscal_v2(handle, 4, (const float*)wild[0], x, 1));
  assert_int_equal(caught, 0);
}

static void* call_with_blocked_signals(void* out) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, NULL);
  float number = 2;
  *(int*)out = cublasSrotg_v2(handle, (float*)wild[1], &number, &number, &number);
  return NULL;
}
static void threads_without_signals_get_statuses(void** state) {
  (void)state;
  pthread_t thread;
  int status = -1;
  assert_int_equal(pthread_create(&thread, NULL, call_with_blocked_signals, &status), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_int_equal(status, INVALID_VALUE);
}

/* No call is a cancellation point: a thread that is cancelled ends where it asks. */
static void* call_until_cancelled(void* data) {
  const float number = 1;
  for (;;) {
    cublasSscal_v2(handle, 4, &number, data, 1);
    float sum = 0;
    if (cublasSasum_v2(handle, 4, data, 1, &sum) != OK_) return data;
    pthread_testcancel();
  }
}
static void cancelled_threads_end_between_calls(void** state) {
  (void)state;
  enum { ROUNDS = 20 };
  float* const x = managed(256);
  for (int i = 0; i < ROUNDS; ++i) {
    pthread_t thread;
    void* result = NULL;
    assert_int_equal(pthread_create(&thread, NULL, call_until_cancelled, x), 0);
    usleep(2000);
    assert_int_equal(pthread_cancel(thread), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, PTHREAD_CANCELED);
    float sum = 1;
    OK(cublasSasum_v2(handle, 4, x, 1, &sum));
    assert_true(sum == 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(scalars_are_read_where_they_are),        TEST(results_are_written_where_they_can_be),
      TEST(rotations_are_made_of_what_is_there),    TEST(arrays_of_groups_are_read_where_they_are),
      TEST(matrices_of_xt_are_read_where_they_are), TEST(threads_without_signals_get_statuses),
      TEST(cancelled_threads_end_between_calls),    TEST(handlers_of_the_program_come_second),
  };
  return cmocka_run_group_tests_name("host_memory", tests, make_wild, NULL);
}
