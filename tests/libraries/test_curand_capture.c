/* cuRAND under stream capture: numbers of graphs are the ones that come next when a graph runs, and
 * what is captured and never runs takes none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <cuda_runtime_api.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

int curandCreateGenerator(void**, int);
int curandCreateGeneratorHost(void**, int);
int curandDestroyGenerator(void*);
int curandSetStream(void*, void*);
int curandSetPseudoRandomGeneratorSeed(void*, unsigned long long);
int curandSetQuasiRandomGeneratorDimensions(void*, unsigned);
int curandGenerateSeeds(void*);
int curandGenerateUniformDouble(void*, double*, size_t);
int curandGenerateNormal(void*, float*, size_t, float, float);
int curandGeneratePoisson(void*, unsigned*, size_t, double);

enum { XORWOW = 101, MRG32K3A = 121, MTGP32 = 141, MT19937 = 142, PHILOX = 161, SOBOL32 = 201 };
enum { SCRAMBLED32 = 202, SOBOL64, ROOM = 8 * 100000 };

static const int kinds[] = {XORWOW,  MRG32K3A, PHILOX,      MTGP32,
                            MT19937, SOBOL32,  SCRAMBLED32, SOBOL64};

static cudaStream_t stream;

static void* managed(void) {
  void* memory = NULL;
  assert_int_equal(cudaMallocManaged(&memory, ROOM, cudaMemAttachGlobal), 0);
  memset(memory, 0, ROOM);
  return memory;
}

static void* generator_of(int kind) {
  void* generator = NULL;
  assert_int_equal(curandCreateGenerator(&generator, kind), 0);
  assert_int_equal(curandSetStream(generator, stream), 0);
  return generator;
}

/* One call: which kind of numbers, how many, a parameter. */
typedef struct {
  int distribution;
  size_t count;
  double mean;
} request;

static size_t bytes_of(const request* asked) {
  return asked->count * (asked->distribution == 0 ? 8 : 4);
}

static void generate(void* generator, const request* asked, void* out) {
  switch (asked->distribution) {
    case 0:
      assert_int_equal(curandGenerateUniformDouble(generator, out, asked->count), 0);
      break;
    case 1:
      assert_int_equal(curandGenerateNormal(generator, out, asked->count, (float)asked->mean, 2),
                       0);
      break;
    default:
      assert_int_equal(curandGeneratePoisson(generator, out, asked->count, asked->mean), 0);
  }
}

static cudaGraphExec_t captured(void* generator, const request* asked, void* out) {
  cudaGraph_t graph = NULL;
  cudaGraphExec_t exec = NULL;
  assert_int_equal(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), 0);
  generate(generator, asked, out);
  assert_int_equal(cudaStreamEndCapture(stream, &graph), 0);
  assert_int_equal(cudaGraphInstantiate(&exec, graph, 0), 0);
  assert_int_equal(cudaGraphDestroy(graph), 0);
  return exec;
}

/* Lets one generator make each of the calls twice in a row, and another one make the first by hand
 * and the second by a graph that was captured before. */
static void compare(int kind, const request* calls, int call_count, int is_used_before) {
  void *const plain = generator_of(kind), *const other = generator_of(kind);
  void *const expected = managed(), *const found = managed(), *const of_graph = managed();
  cudaGraphExec_t graphs[4];
  if (is_used_before) {
    const request first = {0, 1002, 0};
    generate(plain, &first, expected);
    generate(other, &first, found);
  }
  for (int i = 0; i < call_count; ++i) graphs[i] = captured(other, &calls[i], of_graph);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < call_count; ++i) {
      generate(plain, &calls[i], expected);
      generate(other, &calls[i], found);
      assert_int_equal(cudaStreamSynchronize(stream), 0);
      assert_memory_equal(found, expected, bytes_of(&calls[i]));
      generate(plain, &calls[i], expected);
      assert_int_equal(cudaGraphLaunch(graphs[i], stream), 0);
      assert_int_equal(cudaStreamSynchronize(stream), 0);
      assert_memory_equal(of_graph, expected, bytes_of(&calls[i]));
    }
  }
  assert_int_equal(curandDestroyGenerator(plain), 0);
  assert_int_equal(curandDestroyGenerator(other), 0);
  for (int i = 0; i < call_count; ++i) cudaGraphExecDestroy(graphs[i]);
  cudaFree(expected), cudaFree(found), cudaFree(of_graph);
}

static void graphs_take_the_numbers_that_come_next(void** state) {
  (void)state;
  const request calls[] = {{0, 1234, 0}, {1, 90002, 1}, {2, 777, 5}, {2, 70001, 3}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
    for (int is_used = 0; is_used < 2; ++is_used) compare(kinds[i], calls, 4, is_used);
  }
}

/* A setting that comes after the capture is for the calls that follow it: the graph goes on with
 * the numbers that it has begun. */
static void settings_leave_graphs_alone(void** state) {
  (void)state;
  const request call = {0, 5000, 0};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
    void *const plain = generator_of(kinds[i]), *const other = generator_of(kinds[i]);
    void *const expected = managed(), *const found = managed(), *const of_graph = managed();
    const cudaGraphExec_t graph = captured(other, &call, of_graph);
    const int failed = kinds[i] < SOBOL32 ? curandSetPseudoRandomGeneratorSeed(other, 99)
                                          : curandSetQuasiRandomGeneratorDimensions(other, 500);
    assert_int_equal(failed, 0);
    generate(other, &call, found);
    for (int round = 0; round < 2; ++round) {
      generate(plain, &call, expected);
      assert_int_equal(cudaGraphLaunch(graph, stream), 0);
      assert_int_equal(cudaStreamSynchronize(stream), 0);
      assert_memory_equal(of_graph, expected, bytes_of(&call));
      if (round == 0) assert_memory_not_equal(found, expected, bytes_of(&call));
    }
    assert_int_equal(curandDestroyGenerator(plain), 0);
    assert_int_equal(curandDestroyGenerator(other), 0);
    cudaGraphExecDestroy(graph);
    cudaFree(expected), cudaFree(found), cudaFree(of_graph);
  }
}

/* Seeds may be made, and other generators may end, while the stream is captured. */
static void a_capture_survives_other_calls(void** state) {
  (void)state;
  cudaGraph_t graph = NULL;
  size_t node_count = 7;
  void *const generator = generator_of(XORWOW), *const other = generator_of(MT19937);
  double* const out = managed();
  assert_int_equal(curandGenerateUniformDouble(other, out, 100), 0);
  assert_int_equal(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), 0);
  assert_int_equal(curandGenerateSeeds(generator), 0);
  assert_int_equal(curandDestroyGenerator(other), 0);
  assert_int_equal(cudaStreamEndCapture(stream, &graph), 0);
  assert_int_equal(cudaGraphGetNodes(graph, NULL, &node_count), 0);
  assert_int_equal(node_count, 0);
  cudaGraphDestroy(graph);
  assert_int_equal(curandDestroyGenerator(generator), 0);
  cudaFree(out);
}

static atomic_int is_released;

static void wait_for_release(void* unused) {
  (void)unused;
  while (!is_released) sched_yield();
}

/* A captured call with another mean leaves the table to a call that waits in the stream. */
static void a_capture_leaves_queued_calls_alone(void** state) {
  (void)state;
  const request queued = {2, 5000, 5}, other_mean = {2, 5000, 30};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
    void *const plain = generator_of(kinds[i]), *const other = generator_of(kinds[i]);
    void *const expected = managed(), *const found = managed(), *const of_graph = managed();
    for (int call = 0; call < 2; ++call) generate(plain, &queued, expected);
    generate(other, &queued, found);
    assert_int_equal(cudaStreamSynchronize(stream), 0);
    is_released = 0;
    assert_int_equal(cudaLaunchHostFunc(stream, wait_for_release, NULL), 0);
    generate(other, &queued, found);
    const cudaGraphExec_t graph = captured(other, &other_mean, of_graph);
    is_released = 1;
    assert_int_equal(cudaStreamSynchronize(stream), 0);
    assert_memory_equal(found, expected, bytes_of(&queued));
    assert_int_equal(curandDestroyGenerator(plain), 0);
    assert_int_equal(curandDestroyGenerator(other), 0);
    cudaGraphExecDestroy(graph);
    cudaFree(expected), cudaFree(found), cudaFree(of_graph);
  }
}

/* A captured call of a generator for the host writes when the graph runs. */
static void generators_of_the_host_are_captured(void** state) {
  (void)state;
  void *plain = NULL, *other = NULL;
  const request call = {0, 600, 0};
  double expected[600], found[600] = {0};
  assert_int_equal(curandCreateGeneratorHost(&plain, PHILOX), 0);
  assert_int_equal(curandCreateGeneratorHost(&other, PHILOX), 0);
  assert_int_equal(curandSetStream(other, stream), 0);
  const cudaGraphExec_t graph = captured(other, &call, found);
  assert_true(found[0] == 0);
  for (int round = 0; round < 2; ++round) {
    generate(plain, &call, expected);
    assert_int_equal(cudaGraphLaunch(graph, stream), 0);
    assert_int_equal(cudaStreamSynchronize(stream), 0);
    assert_memory_equal(found, expected, sizeof expected);
  }
  cudaGraphExecDestroy(graph);
  assert_int_equal(curandDestroyGenerator(plain), 0);
  assert_int_equal(curandDestroyGenerator(other), 0);
}

static int make_stream(void** state) {
  (void)state;
  return (int)cudaStreamCreate(&stream);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(graphs_take_the_numbers_that_come_next),
      cmocka_unit_test(settings_leave_graphs_alone),
      cmocka_unit_test(a_capture_survives_other_calls),
      cmocka_unit_test(a_capture_leaves_queued_calls_alone),
      cmocka_unit_test(generators_of_the_host_are_captured),
  };
  return cmocka_run_group_tests(tests, make_stream, NULL);
}
