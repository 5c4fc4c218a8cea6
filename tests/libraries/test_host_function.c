/* Host functions of streams may make no calls of CUDA's libraries that wait. Made all the same,
 * such a call says so at once: it waits for no handle, whose holder may wait for that function. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <cuda_runtime_api.h>
#include <stdatomic.h>
#include <unistd.h>

int curandCreateGenerator(void**, int);
int curandDestroyGenerator(void*);
int curandSetStream(void*, void*);
int curandSetGeneratorOffset(void*, unsigned long long);
int curandGenerate(void*, unsigned*, size_t);

typedef struct cublasContext* cublasHandle_t;
int cublasCreate_v2(cublasHandle_t*);
int cublasDestroy_v2(cublasHandle_t);
int cublasSetStream_v2(cublasHandle_t, void*);
int cublasSasum_v2(cublasHandle_t, int, const float*, int, float*);

enum { kXorwow = 101, kCount = 100, kPauseUs = 300000 };

static cublasHandle_t blas;
static void* generator;
static float* numbers;
static unsigned* words;
static atomic_int began;
static int results[3];

/* The pause lets the thread that the test runs on enter its call, with the handle. */
static void call_libraries(void* unused) {
  (void)unused;
  float sum = 0;
  atomic_store(&began, 1);
  usleep(kPauseUs);
  results[0] = curandGenerate(generator, words, kCount);
  results[1] = curandSetGeneratorOffset(generator, 5);
  results[2] = cublasSasum_v2(blas, kCount, numbers, 1, &sum);
}

static cudaStream_t begin_function(void) {
  cudaStream_t stream = NULL;
  assert_int_equal(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), 0);
  atomic_store(&began, 0);
  for (int i = 0; i < 3; ++i) results[i] = 0;
  assert_int_equal(cudaLaunchHostFunc(stream, call_libraries, NULL), 0);
  while (atomic_load(&began) == 0) usleep(100);
  return stream;
}

static void end_function(cudaStream_t stream) {
  assert_int_equal(cudaStreamSynchronize(stream), 0);
  for (int i = 0; i < 3; ++i) assert_int_not_equal(results[i], 0);
  assert_int_equal(cudaStreamDestroy(stream), 0);
}

/* The first numbers of a generator wait for their stream, with the generator. */
static void numbers_that_wait_for_a_function_come(void** state) {
  (void)state;
  assert_int_equal(curandCreateGenerator(&generator, kXorwow), 0);
  cudaStream_t stream = begin_function();
  assert_int_equal(curandSetStream(generator, stream), 0);
  assert_int_equal(curandGenerate(generator, words, kCount), 0);
  end_function(stream);
  assert_int_not_equal(words[kCount - 1], 0);
  assert_int_equal(curandSetStream(generator, NULL), 0);
  assert_int_equal(curandDestroyGenerator(generator), 0);
}

/* A result in the host's memory waits for its stream as well. */
static void a_result_that_waits_for_a_function_comes(void** state) {
  (void)state;
  float sum = 0;
  for (int i = 0; i < kCount; ++i) numbers[i] = 1;
  assert_int_equal(curandCreateGenerator(&generator, kXorwow), 0);
  cudaStream_t stream = begin_function();
  assert_int_equal(cublasSetStream_v2(blas, stream), 0);
  assert_int_equal(cublasSasum_v2(blas, kCount, numbers, 1, &sum), 0);
  assert_true(sum == kCount);
  end_function(stream);
  assert_int_equal(cublasSetStream_v2(blas, NULL), 0);
  assert_int_equal(curandDestroyGenerator(generator), 0);
}

int main(void) {
  alarm(60);
  assert_int_equal(cudaMallocManaged((void**)&numbers, kCount * sizeof(float), 1), 0);
  assert_int_equal(cudaMallocManaged((void**)&words, kCount * sizeof(unsigned), 1), 0);
  assert_int_equal(cublasCreate_v2(&blas), 0);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_that_wait_for_a_function_come),
      cmocka_unit_test(a_result_that_waits_for_a_function_comes),
  };
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  return failed | cublasDestroy_v2(blas) | cudaFree(numbers) | cudaFree(words);
}
