/* Objects of the libraries after a reset of the device, which ends all memory and streams: a call
 * works or says an error at once, and what is freed is never what others have allocated since. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <cuda_runtime_api.h>

int curandCreateGenerator(void**, int);
int curandDestroyGenerator(void*);
int curandSetStream(void*, void*);
int curandSetPseudoRandomGeneratorSeed(void*, unsigned long long);
int curandGenerateSeeds(void*);
int curandGenerate(void*, unsigned*, size_t);
int curandGeneratePoisson(void*, unsigned*, size_t, double);
int curandCreatePoissonDistribution(double, void**);
int curandDestroyDistribution(void*);

typedef struct cublasContext* cublasHandle_t;
typedef struct cublasXtContext* cublasXtHandle_t;
int cublasCreate_v2(cublasHandle_t*);
int cublasDestroy_v2(cublasHandle_t);
int cublasSetStream_v2(cublasHandle_t, void*);
int cublasSscal_v2(cublasHandle_t, int, const float*, float*, int);
int cublasXtCreate(cublasXtHandle_t*);
int cublasXtDestroy(cublasXtHandle_t);
int cublasXtDeviceSelect(cublasXtHandle_t, int, int*);
int cublasXtSgemm(cublasXtHandle_t, int, int, size_t, size_t, size_t, const float*, const float*,
                  size_t, const float*, size_t, const float*, float*, size_t);

enum { XORWOW = 101, MTGP32 = 141, MT19937 = 142, PREEXISTING_FAILURE = 202, COUNT = 1000 };

static unsigned* new_words(void) {
  void* memory = NULL;
  assert_int_equal(cudaMallocManaged(&memory, 4 * COUNT, cudaMemAttachGlobal), 0);
  return memory;
}

/* The generator's numbers cannot go on; with a seed they begin anew. */
static void generators_say_that_their_states_are_gone(void** state) {
  (void)state;
  const int kinds[] = {XORWOW, MTGP32, MT19937};
  for (int i = 0; i < 3; ++i) {
    void *used = NULL, *unused = NULL;
    unsigned first[COUNT];
    assert_int_equal(curandCreateGenerator(&used, kinds[i]), 0);
    assert_int_equal(curandCreateGenerator(&unused, kinds[i]), 0);
    unsigned* out = new_words();
    assert_int_equal(curandGenerate(used, out, COUNT), 0);
    assert_int_equal(cudaDeviceSynchronize(), 0);
    for (int k = 0; k < COUNT; ++k) first[k] = out[k];
    assert_int_equal(cudaDeviceReset(), 0);
    assert_int_equal(curandGenerate(used, out, COUNT), PREEXISTING_FAILURE);
    out = new_words();
    assert_int_equal(curandGenerate(used, out, COUNT), PREEXISTING_FAILURE);
    assert_int_equal(curandGenerateSeeds(used), PREEXISTING_FAILURE);
    assert_int_equal(curandGenerate(unused, out, COUNT), 0);
    assert_int_equal(cudaDeviceSynchronize(), 0);
    assert_memory_equal(out, first, sizeof first);
    assert_int_equal(curandSetPseudoRandomGeneratorSeed(used, 0), 0);
    out[0] = 0;
    assert_int_equal(curandGenerate(used, out, COUNT), 0);
    assert_int_equal(cudaDeviceSynchronize(), 0);
    assert_int_equal(curandDestroyGenerator(used), 0);
    assert_int_equal(curandDestroyGenerator(unused), 0);
    cudaFree(out);
  }
}

/* The first call of a generator may be the first one after the reset. */
static void generators_begin_after_a_reset(void** state) {
  (void)state;
  void* generator = NULL;
  assert_int_equal(cudaFree(NULL), 0); /* the runtime alone has the primary context */
  assert_int_equal(curandCreateGenerator(&generator, XORWOW), 0);
  assert_int_equal(cudaDeviceReset(), 0);
  assert_int_equal(curandGenerateSeeds(generator), 0);
  assert_int_equal(curandDestroyGenerator(generator), 0);
  assert_int_equal(cudaDeviceReset(), 0);
  assert_int_equal(curandCreatePoissonDistribution(3, &generator), 0);
  assert_int_equal(curandDestroyDistribution(generator), 0);
}

/* Memory that is allocated after the reset may lie where the generator's was. */
static void what_went_is_not_freed_again(void** state) {
  (void)state;
  enum { BLOCKS = 512 };
  void *generator = NULL, *distribution = NULL;
  char* blocks[BLOCKS];
  unsigned* const out = new_words();
  assert_int_equal(curandCreateGenerator(&generator, MTGP32), 0);
  assert_int_equal(curandGeneratePoisson(generator, out, COUNT, 5), 0);
  assert_int_equal(curandCreatePoissonDistribution(50, &distribution), 0);
  assert_int_equal(cudaDeviceReset(), 0);
  for (int i = 0; i < BLOCKS; ++i) {
    assert_int_equal(cudaMalloc((void**)&blocks[i], (size_t)512 << (i % 10)), 0);
  }
  assert_int_equal(curandDestroyGenerator(generator), 0);
  assert_int_equal(curandDestroyDistribution(distribution), 0);
  for (int i = 0; i < BLOCKS; ++i) {
    assert_int_equal(cudaMemset(blocks[i], 1, (size_t)512 << (i % 10)), 0);
    assert_int_equal(cudaFree(blocks[i]), 0);
  }
}

/* A reset ends graphs that have captured calls of a generator with its memory; with a seed the
 * generator, which another graph captures, begins anew. */
static void captured_generators_end_with_the_device(void** state) {
  (void)state;
  void* generator = NULL;
  unsigned first[COUNT];
  cudaGraphExec_t execs[2];
  unsigned* out = NULL;
  assert_int_equal(cudaFree(NULL), 0);
  assert_int_equal(curandCreateGenerator(&generator, XORWOW), 0);
  for (int round = 0; round < 2; ++round) {
    cudaStream_t stream = NULL;
    cudaGraph_t graph = NULL;
    out = new_words();
    assert_int_equal(cudaStreamCreate(&stream), 0);
    assert_int_equal(curandSetStream(generator, stream), 0);
    assert_int_equal(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), 0);
    assert_int_equal(curandGenerate(generator, out, COUNT), 0);
    assert_int_equal(cudaStreamEndCapture(stream, &graph), 0);
    assert_int_equal(cudaGraphInstantiate(&execs[round], graph, 0), 0);
    assert_int_equal(cudaGraphLaunch(execs[round], stream), 0);
    assert_int_equal(cudaStreamSynchronize(stream), 0);
    if (round == 1) break;
    for (int i = 0; i < COUNT; ++i) first[i] = out[i];
    assert_int_equal(cudaDeviceReset(), 0);
    assert_int_not_equal(cudaGraphLaunch(execs[0], NULL), 0);
    assert_int_equal(curandSetStream(generator, NULL), 0);
    out = new_words();
    assert_int_equal(curandGenerate(generator, out, COUNT), PREEXISTING_FAILURE);
    assert_int_equal(curandSetPseudoRandomGeneratorSeed(generator, 0), 0);
  }
  assert_memory_equal(out, first, sizeof first);
  assert_int_equal(curandDestroyGenerator(generator), 0);
  assert_int_equal(cudaDeviceReset(), 0);
  assert_int_equal(curandCreateGenerator(&generator, XORWOW), 0);
  assert_int_equal(curandDestroyGenerator(generator), 0);
}

/* A handle of cuBLAS has no memory; a stream that it was given is gone. */
static void handles_of_cublas_work_on(void** state) {
  (void)state;
  cublasHandle_t handle = NULL;
  cudaStream_t stream = NULL;
  const float two = 2;
  float* x = (float*)new_words();
  assert_int_equal(cublasCreate_v2(&handle), 0);
  assert_int_equal(cublasSscal_v2(handle, 4, &two, x, 1), 0);
  assert_int_equal(cudaStreamCreate(&stream), 0);
  assert_int_equal(cublasSetStream_v2(handle, stream), 0);
  assert_int_equal(cudaDeviceReset(), 0);
  x = (float*)new_words();
  assert_int_not_equal(cublasSscal_v2(handle, 4, &two, x, 1), 0);
  assert_int_equal(cublasSetStream_v2(handle, NULL), 0);
  for (int i = 0; i < 4; ++i) x[i] = (float)i;
  assert_int_equal(cublasSscal_v2(handle, 4, &two, x, 1), 0);
  assert_int_equal(cudaDeviceSynchronize(), 0);
  for (int i = 0; i < 4; ++i) assert_true(x[i] == 2 * (float)i);
  assert_int_equal(cublasDestroy_v2(handle), 0);
  assert_int_equal(cublasCreate_v2(&handle), 0);
  assert_int_equal(cudaDeviceReset(), 0);
  assert_int_equal(cublasDestroy_v2(handle), 0);
}

/* The other users of the primary context keep it when the handle goes. */
static void handles_of_cublas_xt_say_an_error(void** state) {
  (void)state;
  cublasXtHandle_t handle = NULL;
  int device = 0;
  const float one = 1, a[4] = {1, 2, 3, 4};
  float c[4] = {0};
  assert_int_equal(cublasXtCreate(&handle), 0);
  assert_int_equal(cublasXtDeviceSelect(handle, 1, &device), 0);
  assert_int_equal(cublasXtSgemm(handle, 0, 0, 2, 2, 2, &one, a, 2, a, 2, &one, c, 2), 0);
  assert_int_equal(cudaDeviceReset(), 0);
  unsigned* const memory = new_words();
  assert_int_not_equal(cublasXtSgemm(handle, 0, 0, 2, 2, 2, &one, a, 2, a, 2, &one, c, 2), 0);
  assert_int_equal(cublasXtDestroy(handle), 0);
  assert_int_equal(cudaMemset(memory, 0, 4 * COUNT), 0);
  assert_int_equal(cudaFree(memory), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(generators_begin_after_a_reset),
      cmocka_unit_test(generators_say_that_their_states_are_gone),
      cmocka_unit_test(what_went_is_not_freed_again),
      cmocka_unit_test(captured_generators_end_with_the_device),
      cmocka_unit_test(handles_of_cublas_work_on),
      cmocka_unit_test(handles_of_cublas_xt_say_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
