/* Functions of the program that libraries call (logs, callbacks of CUPTI, its clock) may call the
 * libraries again: no library holds a lock over them. A lock that is held ends the test by SIGALRM.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <cuda_runtime_api.h>
#include <string.h>
#include <unistd.h>

int cublasInit(void);
int cublasShutdown(void);
int cublasFree(void*);
int cublasCreate_v2(void**);
int cublasDestroy_v2(void*);
int cublasSscal_v2(void*, int, const float*, float*, int);
int cublasGetVersion_v2(void*, int*);
int cublasSetLoggerCallback(void (*)(const char*));
int cusolverDnCreate(void**);
int cusolverDnDestroy(void*);
int cusolverDnGetStream(void*, void**);
int cusolverDnLoggerSetCallback(void (*)(int, const char*, const char*));
int cusolverDnLoggerSetLevel(int);
int cufftPlan1d(int*, int, int, int);
int cufftExecC2C(int, void*, void*, int);
int cufftDestroy(int);
int curandCreateGenerator(void**, int);
int curandGenerateUniform(void*, float*, size_t);
int curandDestroyGenerator(void*);
int cudnnCreate(void**);
int cudnnDestroy(void*);
int cudnnGetStream(void*, void**);
int cudnnCreateTensorDescriptor(void**);
int cudnnSetTensor4dDescriptor(void*, int, int, int, int, int, int);
int cudnnDestroyTensorDescriptor(void*);
int cudnnScaleTensor(void*, void*, void*, const float*);
int cuptiSubscribe(void**, void (*)(void*, int, uint32_t, const void*), void*);
int cuptiUnsubscribe(void*);
int cuptiEnableDomain(uint32_t, void*, int);
int cuptiActivityRegisterTimestampCallback(uint64_t (*)(void));
int cuptiGetTimestamp(uint64_t*);

enum { DRIVER_API = 1, RESOURCE = 3, NOT_INITIALIZED = 1, GIVE_UP_S = 60 };
#define OK(call) assert_int_equal((call), 0)
#define TEST(name) cmocka_unit_test(name)

static int g_calls, g_resources, g_inside;
static float* g_memory;

/* Uses the runtime and a library for each call of the driver: their own locks around the first
 * call, the context and their kernels may not be held now. */
static void hear(void* unused, int domain, uint32_t number, const void* data) {
  (void)unused;
  (void)number;
  (void)data;
  *(domain == RESOURCE ? &g_resources : &g_calls) += 1;
  if (g_inside) return;
  g_inside = 1;
  int device = 0, count = 0;
  void* blas = NULL;
  cudaGetDeviceCount(&count);
  cudaGetDevice(&device);
  if (cublasCreate_v2(&blas) == 0) {
    const float two = 2;
    if (g_memory != NULL) cublasSscal_v2(blas, 8, &two, g_memory, 1);
    cublasDestroy_v2(blas);
  }
  g_inside = 0;
}

static void callbacks_of_cupti_may_make_the_first_calls(void** state) {
  (void)state;
  void *subscriber = NULL, *blas = NULL;
  const float one = 1;
  OK(cuptiSubscribe(&subscriber, hear, NULL));
  OK(cuptiEnableDomain(1, subscriber, DRIVER_API));
  OK(cuptiEnableDomain(1, subscriber, RESOURCE));
  OK(cudaMalloc((void**)&g_memory, 8 * sizeof(float)));
  OK(cudaMemset(g_memory, 0, 8 * sizeof(float)));
  OK(cublasCreate_v2(&blas));
  OK(cublasSscal_v2(blas, 8, &one, g_memory, 1)); /* which loads kernels */
  OK(cublasDestroy_v2(blas));
  assert_true(g_calls > 0 && g_resources > 0);
  const int before = g_calls;
  g_memory = NULL;
  OK(cudaDeviceReset());
  OK(cudaMalloc((void**)&g_memory, 8 * sizeof(float)));
  assert_true(g_calls > before);
  OK(cuptiUnsubscribe(subscriber));
}

static uint64_t later(void) { return 54321; }
static uint64_t tick(void) {
  cuptiActivityRegisterTimestampCallback(later);
  return 12345;
}
static void a_clock_may_call_cupti(void** state) {
  (void)state;
  uint64_t now = 0;
  OK(cuptiActivityRegisterTimestampCallback(tick));
  OK(cuptiGetTimestamp(&now));
  assert_true(now == 12345);
  OK(cuptiGetTimestamp(&now));
  assert_true(now == 54321); /* the clock that the first reading has set */
}

static int g_lines, g_status;
static void shut_down(const char* line) {
  ++g_lines;
  /* Whatever is said, cublas.h's interface may be used. */
  cublasFree(g_memory);
  g_status = strstr(line, "cublasInit") != NULL ? cublasShutdown() : 0;
}
static void the_log_of_cublas_may_use_its_first_interface(void** state) {
  (void)state;
  OK(cudaMalloc((void**)&g_memory, 64));
  OK(cublasSetLoggerCallback(shut_down));
  g_lines = 0;
  OK(cublasInit());
  OK(g_status);
  assert_in_range(g_lines, 1, 2); /* calls of the callback are not told of */
  OK(cublasSetLoggerCallback(NULL));
  assert_int_equal(NOT_INITIALIZED, cublasShutdown());
  OK(cublasInit());
  OK(cublasSetLoggerCallback(shut_down));
  OK(cublasShutdown());
  OK(cublasSetLoggerCallback(NULL));
}

static void* g_solver;
static void use_solver(int level, const char* function, const char* message) {
  (void)level;
  (void)function;
  (void)message;
  void* stream = NULL;
  ++g_lines;
  g_status = cusolverDnGetStream(g_solver, &stream);
}
static void the_log_of_cusolver_may_use_it(void** state) {
  (void)state;
  void* stream = NULL;
  OK(cusolverDnCreate(&g_solver));
  OK(cusolverDnLoggerSetCallback(use_solver));
  OK(cusolverDnLoggerSetLevel(5));
  g_lines = 0;
  OK(cusolverDnGetStream(g_solver, &stream));
  OK(g_status);
  OK(cusolverDnLoggerSetLevel(0));
  assert_in_range(g_lines, 1, 3);
  OK(cusolverDnLoggerSetCallback(NULL));
  OK(cusolverDnDestroy(g_solver));
}

static int g_plan, g_of_plan, g_of_generator, g_of_dnn;
static void *g_generator, *g_dnn;

/* Uses the objects whose calls it hears of. */
static void use_objects(void* unused, int domain, uint32_t number, const void* data) {
  (void)unused;
  (void)domain;
  (void)number;
  (void)data;
  void* stream = NULL;
  if (g_inside) return;
  g_inside = 1;
  ++g_calls;
  g_of_plan = cufftExecC2C(g_plan, g_memory, g_memory, 1);
  g_of_generator = curandGenerateUniform(g_generator, g_memory, 8);
  g_of_dnn = cudnnGetStream(g_dnn, &stream);
  g_inside = 0;
}

/* A plan and a handle may be used within their own calls; a generator, whose call has begun to
 * change it, says that it may not. */
static void callbacks_may_use_the_object_of_the_call(void** state) {
  (void)state;
  enum { FAILED = 201 };
  void *subscriber = NULL, *tensor = NULL;
  const float one = 1;
  OK(cudaMalloc((void**)&g_memory, 64));
  OK(cudaMemset(g_memory, 0, 64));
  OK(cufftPlan1d(&g_plan, 4, 0x29, 1));
  OK(curandCreateGenerator(&g_generator, 100));
  OK(cudnnCreate(&g_dnn));
  OK(cudnnCreateTensorDescriptor(&tensor));
  OK(cudnnSetTensor4dDescriptor(tensor, 0, 0, 1, 1, 1, 8));
  OK(cuptiSubscribe(&subscriber, use_objects, NULL));
  OK(cuptiEnableDomain(1, subscriber, DRIVER_API));
  g_calls = 0;
  OK(cufftExecC2C(g_plan, g_memory, g_memory, -1));
  assert_true(g_calls > 0);
  OK(g_of_plan), OK(g_of_generator), OK(g_of_dnn);
  g_calls = 0;
  OK(curandGenerateUniform(g_generator, g_memory, 8));
  assert_true(g_calls > 0);
  OK(g_of_plan), assert_int_equal(g_of_generator, FAILED), OK(g_of_dnn);
  g_calls = 0;
  OK(cudnnScaleTensor(g_dnn, tensor, g_memory, &one));
  assert_true(g_calls > 0);
  OK(g_of_plan), OK(g_of_generator), OK(g_of_dnn);
  OK(cuptiUnsubscribe(subscriber));
  OK(cudaDeviceSynchronize());
  OK(cudnnDestroyTensorDescriptor(tensor));
  OK(cudnnDestroy(g_dnn));
  OK(curandDestroyGenerator(g_generator));
  OK(cufftDestroy(g_plan));
}

int main(void) {
  alarm(GIVE_UP_S);
  const struct CMUnitTest tests[] = {
      TEST(callbacks_of_cupti_may_make_the_first_calls), /* comes first: nothing is loaded yet */
      TEST(a_clock_may_call_cupti),
      TEST(the_log_of_cublas_may_use_its_first_interface),
      TEST(the_log_of_cusolver_may_use_it),
      TEST(callbacks_may_use_the_object_of_the_call),
  };
  return cmocka_run_group_tests_name("callback locks", tests, NULL, NULL);
}
