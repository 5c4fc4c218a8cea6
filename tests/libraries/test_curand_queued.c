/* Calls of cuRAND are queued, also those that make states and tables: none waits for its stream,
 * and a generator that goes on in another stream has its states there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

int curandCreateGenerator(void**, int);
int curandDestroyGenerator(void*);
int curandSetStream(void*, void*);
int curandSetPseudoRandomGeneratorSeed(void*, unsigned long long);
int curandSetQuasiRandomGeneratorDimensions(void*, unsigned);
int curandGenerateSeeds(void*);
int curandGenerateUniform(void*, float*, size_t);
int curandGeneratePoisson(void*, unsigned*, size_t, double);

enum { XORWOW = 101, MRG32K3A = 121, MTGP32 = 141, MT19937 = 142, PHILOX = 161, SOBOL32 = 201 };
enum { SCRAMBLED32 = 202, SOBOL64, SCRAMBLED64, COUNT = 3000, MOST_MS = 20000 };
static const int kinds[] = {XORWOW,  MRG32K3A,    PHILOX,  MTGP32,     MT19937,
                            SOBOL32, SCRAMBLED32, SOBOL64, SCRAMBLED64};

/* Work of a stream that stands still until it is let go, or until a test that waits for it has
 * waited too long. */
typedef struct {
  _Atomic int may_go, was_late;
} Gate;

static void stand_still(void* data) {
  Gate* const gate = data;
  const struct timespec one_ms = {0, 1000000};
  for (int i = 0; !gate->may_go; ++i) {
    if (i == MOST_MS) {
      gate->was_late = 1;
      return;
    }
    nanosleep(&one_ms, NULL);
  }
}

static void* managed(void) {
  void* memory = NULL;
  assert_int_equal(cudaMallocManaged(&memory, COUNT * sizeof(float), cudaMemAttachGlobal), 0);
  memset(memory, 0, COUNT * sizeof(float));
  return memory;
}

typedef struct {
  float* uniform;
  unsigned *first, *second;
} Numbers;

static Numbers new_numbers(void) { return (Numbers){managed(), managed(), managed()}; }

static void free_numbers(Numbers numbers) {
  cudaFree(numbers.uniform), cudaFree(numbers.first), cudaFree(numbers.second);
}

/* Numbers by a table, which the second mean replaces, and then others in `next`. */
static void generate(void* generator, int kind, cudaStream_t next, Numbers to) {
  if (kind < SOBOL32) assert_int_equal(curandSetPseudoRandomGeneratorSeed(generator, 77), 0);
  if (kind >= SOBOL32) assert_int_equal(curandSetQuasiRandomGeneratorDimensions(generator, 3), 0);
  assert_int_equal(curandGeneratePoisson(generator, to.first, COUNT, 4), 0);
  assert_int_equal(curandGeneratePoisson(generator, to.second, COUNT, 5), 0);
  if (kind >= SOBOL32) assert_int_equal(curandSetQuasiRandomGeneratorDimensions(generator, 10), 0);
  assert_int_equal(curandGenerateSeeds(generator), 0);
  assert_int_equal(curandSetStream(generator, next), 0);
  assert_int_equal(curandGenerateUniform(generator, to.uniform, COUNT), 0);
}

static void calls_do_not_wait_for_their_stream(void** state) {
  (void)state;
  cudaStream_t streams[2];
  for (int i = 0; i < 2; ++i) assert_int_equal(cudaStreamCreateWithFlags(&streams[i], 1), 0);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
    Gate gate = {0, 0};
    const Numbers usual = new_numbers(), queued = new_numbers();
    void *first = NULL, *second = NULL;
    assert_int_equal(curandCreateGenerator(&first, kinds[i]), 0);
    assert_int_equal(curandCreateGenerator(&second, kinds[i]), 0);
    generate(first, kinds[i], 0, usual);
    assert_int_equal(cudaDeviceSynchronize(), 0);
    assert_int_equal(curandSetStream(second, streams[0]), 0);
    assert_int_equal(cudaLaunchHostFunc(streams[0], stand_still, &gate), 0);
    generate(second, kinds[i], streams[1], queued);
    assert_int_equal(gate.was_late, 0);
    assert_true(queued.first[0] == 0 && queued.uniform[0] == 0);
    gate.may_go = 1;
    for (int j = 0; j < 2; ++j) assert_int_equal(cudaStreamSynchronize(streams[j]), 0);
    assert_int_equal(gate.was_late, 0);
    assert_memory_equal(usual.first, queued.first, COUNT * sizeof(unsigned));
    assert_memory_equal(usual.second, queued.second, COUNT * sizeof(unsigned));
    assert_memory_equal(usual.uniform, queued.uniform, COUNT * sizeof(float));
    assert_int_equal(curandDestroyGenerator(first), 0);
    assert_int_equal(curandDestroyGenerator(second), 0);
    free_numbers(usual), free_numbers(queued);
  }
  for (int i = 0; i < 2; ++i) assert_int_equal(cudaStreamDestroy(streams[i]), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(calls_do_not_wait_for_their_stream)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
