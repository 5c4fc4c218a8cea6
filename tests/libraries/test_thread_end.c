/* Functions of the program that end their thread (pthread_exit) inside calls of the libraries: the
 * call does not come back, the thread has the function's result, and the library goes on working.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

int curandCreateGeneratorHost(void**, int);
int curandDestroyGenerator(void*);
int curandSetStream(void*, void*);
int curandGenerate(void*, unsigned*, size_t);

typedef struct cublasContext* cublasHandle_t;
int cublasCreate_v2(cublasHandle_t*);
int cublasDestroy_v2(cublasHandle_t);
int cublasSscal_v2(cublasHandle_t, int, const float*, float*, int);
int cublasSetVector(int, int, const void*, int, void*, int);
int cublasSetLoggerCallback(void (*)(const char*));

#define OK(call) assert_int_equal((call), 0)

enum { kResult = 42, kXorwow = 101, kCount = 64 };

static void* const no_stream = (void*)0x1234; /* calls of the driver for it fail */
static atomic_int ends;
static atomic_bool ending;

static void end_thread(void) {
  if (!atomic_load(&ending)) return;
  atomic_fetch_add(&ends, 1);
  pthread_exit((void*)(intptr_t)kResult);
}

/* The driver calls it on the thread of each of its calls that fails. */
static void CUDA_CB log_callback(void* unused, CUlogLevel level, char* message, size_t length) {
  (void)unused;
  (void)level;
  (void)message;
  (void)length;
  end_thread();
}
static void blas_logger(const char* line) {
  (void)line;
  end_thread();
}

typedef struct call {
  void (*make)(void);
  int came_back;
} call;

static cublasHandle_t blas;
static void* generator;
static float* memory;
static unsigned words[kCount];

static void* make_call(void* argument) {
  call* one = argument;
  one->make();
  one->came_back = 1;
  return NULL;
}

static void expect_end_of_thread(void (*make)(void)) {
  call one = {make, 0};
  void* result = NULL;
  pthread_t thread;
  atomic_store(&ends, 0);
  atomic_store(&ending, true);
  OK(pthread_create(&thread, NULL, make_call, &one));
  OK(pthread_join(thread, &result));
  atomic_store(&ending, false);
  assert_int_equal(atomic_load(&ends), 1);
  assert_false(one.came_back);
  assert_int_equal((intptr_t)result, kResult);
}

static void free_nothing(void) { cudaFree((void*)0x1234); }
static void wait_for_no_stream(void) { cudaStreamSynchronize(no_stream); }

static void the_runtime_lets_a_thread_end(void** state) {
  (void)state;
  expect_end_of_thread(free_nothing);
  expect_end_of_thread(wait_for_no_stream);
  OK(cudaDeviceSynchronize());
}

static void scale(void) {
  const float two = 2;
  cublasSscal_v2(blas, kCount, &two, memory, 1);
}
static void set_vector(void) { cublasSetVector(1, 4, words, 1, (void*)0x1234, 1); }

static void cublas_lets_a_thread_end(void** state) {
  (void)state;
  expect_end_of_thread(set_vector);
  OK(cublasSetLoggerCallback(blas_logger));
  expect_end_of_thread(scale);
  OK(cublasSetLoggerCallback(NULL));
  scale();
  OK(cudaDeviceSynchronize());
}

static void generate(void) { curandGenerate(generator, words, kCount); }

static void curand_lets_a_thread_end(void** state) {
  (void)state;
  OK(curandCreateGeneratorHost(&generator, kXorwow));
  OK(curandSetStream(generator, no_stream));
  expect_end_of_thread(generate);
  OK(curandSetStream(generator, NULL)); /* whose lock the thread has let go */
  generate();
  assert_int_not_equal(words[kCount - 1], 0);
  OK(curandDestroyGenerator(generator));
}

static int set_up(void** state) {
  static CUlogsCallbackHandle handle;
  *state = &handle;
  OK(cudaMalloc((void**)&memory, kCount * sizeof(float)));
  OK(cublasCreate_v2(&blas));
  OK(cuLogsRegisterCallback(log_callback, NULL, &handle));
  return 0;
}
static int tear_down(void** state) {
  OK(cuLogsUnregisterCallback(*(CUlogsCallbackHandle*)*state));
  OK(cublasDestroy_v2(blas));
  return cudaFree(memory);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(the_runtime_lets_a_thread_end, set_up, tear_down),
      cmocka_unit_test_setup_teardown(cublas_lets_a_thread_end, set_up, tear_down),
      cmocka_unit_test_setup_teardown(curand_lets_a_thread_end, set_up, tear_down),
  };
  return cmocka_run_group_tests_name("thread end", tests, NULL, NULL);
}
