/* cuRAND under stream capture: numbers of graphs are the ones that come next when a graph runs, and
 * what is captured and never runs takes none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

int curandCreateGenerator(void**, int);
int curandCreateGeneratorHost(void**, int);
int curandDestroyGenerator(void*);
int curandSetStream(void*, void*);
int curandSetPseudoRandomGeneratorSeed(void*, unsigned long long);
int curandSetGeneratorOffset(void*, unsigned long long);
int curandSetGeneratorOrdering(void*, int);
int curandSetQuasiRandomGeneratorDimensions(void*, unsigned);
int curandCreatePoissonDistribution(double, void**);
int curandDestroyDistribution(void*);
int curandGenerateSeeds(void*);
int curandGenerateUniformDouble(void*, double*, size_t);
int curandGenerateNormal(void*, float*, size_t, float, float);
int curandGeneratePoisson(void*, unsigned*, size_t, double);

enum { XORWOW = 101, MRG32K3A = 121, MTGP32 = 141, MT19937 = 142, PHILOX = 161, SOBOL32 = 201 };
enum { SCRAMBLED32 = 202, SOBOL64, ROOM = 8 * 100000 };

static const int kinds[] = {XORWOW,  MRG32K3A,    PHILOX,  MTGP32,
                            SOBOL32, SCRAMBLED32, SOBOL64, MT19937};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* The kinds that every test tries: MT19937, whose 8192 states take seconds, only if KM_TEST_ALL is
 * set (`make test-long`). */
static size_t usual_kinds(void) { return getenv("KM_TEST_ALL") != NULL ? KINDS : KINDS - 1; }

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
  for (size_t i = 0; i < KINDS; ++i) {
    for (int is_used = 0; is_used < 2; ++is_used) compare(kinds[i], calls, 4, is_used);
  }
}

/* A setting that comes after the capture is for the calls that follow it: the graph goes on with
 * the numbers that it has begun. */
static void settings_leave_graphs_alone(void** state) {
  (void)state;
  const request call = {0, 5000, 0};
  for (size_t i = 0; i < usual_kinds(); ++i) {
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
  for (size_t i = 0; i < usual_kinds(); ++i) {
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

/* An idle generator of the default stream, and a distribution, begin and end while another stream
 * is captured, which waits for the default stream or does not, in every mode. */
static void a_capture_of_another_stream_survives(void** state) {
  (void)state;
  const int flags[] = {cudaStreamNonBlocking, cudaStreamDefault};
  double* const out = managed();
  for (int i = 0; i < 6; ++i) {
    void *generator = NULL, *fresh = NULL, *distribution = NULL, *other = NULL;
    cudaStream_t captured_stream = NULL;
    cudaGraph_t graph = NULL;
    size_t node_count = 0;
    assert_int_equal(cudaStreamCreateWithFlags(&captured_stream, flags[i % 2]), 0);
    assert_int_equal(curandCreateGenerator(&generator, XORWOW), 0);
    assert_int_equal(curandGenerateUniformDouble(generator, out, 1000), 0);
    assert_int_equal(curandCreatePoissonDistribution(5, &distribution), 0);
    assert_int_equal(cudaDeviceSynchronize(), 0);
    assert_int_equal(cudaStreamBeginCapture(captured_stream, i / 2), 0);
    assert_int_equal(cudaMemsetAsync(out, 0, 8, captured_stream), 0);
    assert_int_equal(curandDestroyGenerator(generator), 0);
    assert_int_equal(curandCreateGenerator(&fresh, XORWOW), 0);
    assert_int_equal(curandDestroyGenerator(fresh), 0);
    assert_int_equal(curandDestroyDistribution(distribution), 0);
    assert_int_equal(curandCreatePoissonDistribution(7, &other), 0);
    assert_int_equal(cudaStreamEndCapture(captured_stream, &graph), 0);
    assert_int_equal(cudaGraphGetNodes(graph, NULL, &node_count), 0);
    assert_int_equal(node_count, 1);
    assert_int_equal(curandDestroyDistribution(other), 0);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(captured_stream);
  }
  cudaFree(out);
}

/* A generator of a stream that waits for the captured one has no numbers meanwhile, which is an
 * error of its call and none of the capture. */
static void the_default_stream_waits_for_captures(void** state) {
  (void)state;
  cudaStream_t blocking = NULL;
  cudaGraph_t graph = NULL;
  void *plain = generator_of(PHILOX), *other = NULL;
  double *const expected = managed(), *const found = managed();
  assert_int_equal(curandCreateGenerator(&other, PHILOX), 0);
  assert_int_equal(cudaStreamCreate(&blocking), 0);
  assert_int_equal(cudaStreamBeginCapture(blocking, cudaStreamCaptureModeGlobal), 0);
  assert_int_not_equal(curandGenerateUniformDouble(other, found, 100), 0);
  assert_int_equal(cudaStreamEndCapture(blocking, &graph), 0);
  assert_int_equal(curandGenerateUniformDouble(other, found, 100), 0);
  assert_int_equal(curandGenerateUniformDouble(plain, expected, 100), 0);
  assert_int_equal(cudaDeviceSynchronize(), 0);
  assert_memory_equal(found, expected, 800);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(blocking);
  assert_int_equal(curandDestroyGenerator(plain), 0);
  assert_int_equal(curandDestroyGenerator(other), 0);
  cudaFree(expected), cudaFree(found);
}

/* Fills memory that generators have freed. */
static void reuse_freed_memory(void) {
  void* blocks[24];
  for (int i = 0; i < 24; ++i) {
    const size_t size_bytes = (size_t)4096 << i % 12;
    assert_int_equal(cudaMalloc(&blocks[i], size_bytes), 0);
    assert_int_equal(cudaMemset(blocks[i], 0x5a, size_bytes), 0);
  }
  for (int i = 0; i < 24; ++i) assert_int_equal(cudaFree(blocks[i]), 0);
}

/* The first numbers of a generator whose stream is not captured, which take memory, while another
 * stream is captured in the mode that forbids most. */
static void first_numbers_leave_captures_alone(void** state) {
  (void)state;
  const request calls[] = {{0, 3000, 0}, {2, 500, 5}};
  cudaStream_t captured_stream = NULL;
  assert_int_equal(cudaStreamCreate(&captured_stream), 0);
  for (size_t i = 0; i < usual_kinds(); ++i) {
    cudaGraph_t graph = NULL;
    void *const plain = generator_of(kinds[i]), *const other = generator_of(kinds[i]);
    char *const expected = managed(), *const found = managed();
    for (int call = 0; call < 2; ++call) {
      generate(plain, &calls[call], expected + call * ROOM / 2);
    }
    assert_int_equal(cudaStreamBeginCapture(captured_stream, cudaStreamCaptureModeGlobal), 0);
    for (int call = 0; call < 2; ++call) generate(other, &calls[call], found + call * ROOM / 2);
    assert_int_equal(cudaStreamEndCapture(captured_stream, &graph), 0);
    assert_int_equal(cudaStreamSynchronize(stream), 0);
    assert_memory_equal(found, expected, ROOM);
    cudaGraphDestroy(graph);
    assert_int_equal(curandDestroyGenerator(plain), 0);
    assert_int_equal(curandDestroyGenerator(other), 0);
    cudaFree(expected), cudaFree(found);
  }
  cudaStreamDestroy(captured_stream);
}

/* A generator ends between its call and the end of the capture. */
static void generators_end_within_their_capture(void** state) {
  (void)state;
  const request call = {0, 3000, 0};
  for (size_t i = 0; i < usual_kinds(); ++i) {
    void *const plain = generator_of(kinds[i]), *const other = generator_of(kinds[i]);
    void *const expected = managed(), *const of_graph = managed();
    cudaGraph_t graph = NULL, whole = NULL;
    cudaGraphNode_t node;
    cudaGraphExec_t exec = NULL;
    assert_int_equal(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), 0);
    generate(other, &call, of_graph);
    assert_int_equal(curandDestroyGenerator(other), 0);
    assert_int_equal(curandDestroyGenerator(generator_of(kinds[i])), 0);
    assert_int_equal(cudaStreamEndCapture(stream, &graph), 0);
    /* The captured graph runs as a part of another one, too. */
    assert_int_equal(cudaGraphCreate(&whole, 0), 0);
    assert_int_equal(cudaGraphAddChildGraphNode(&node, whole, NULL, 0, graph), 0);
    assert_int_equal(cudaGraphDestroy(graph), 0);
    assert_int_equal(cudaGraphInstantiate(&exec, whole, 0), 0);
    assert_int_equal(cudaGraphDestroy(whole), 0);
    reuse_freed_memory();
    for (int round = 0; round < 2; ++round) {
      generate(plain, &call, expected);
      assert_int_equal(cudaGraphLaunch(exec, stream), 0);
      assert_int_equal(cudaStreamSynchronize(stream), 0);
      assert_memory_equal(of_graph, expected, bytes_of(&call));
    }
    cudaGraphExecDestroy(exec);
    assert_int_equal(curandDestroyGenerator(plain), 0);
    cudaFree(expected), cudaFree(of_graph);
  }
}

/* Calls of a capture that ends as an invalid one fail or take no numbers. */
static void invalid_captures_take_no_numbers(void** state) {
  (void)state;
  const request call = {0, 3000, 0};
  for (size_t i = 0; i < usual_kinds(); ++i) {
    void *const plain = generator_of(kinds[i]), *const other = generator_of(kinds[i]);
    void *const expected = managed(), *const found = managed();
    cudaGraph_t graph = NULL;
    assert_int_equal(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), 0);
    generate(other, &call, found);
    assert_int_not_equal(cudaStreamSynchronize(stream), 0);
    assert_int_not_equal(curandGenerateUniformDouble(other, found, call.count), 0);
    assert_int_not_equal(cudaStreamEndCapture(stream, &graph), 0);
    assert_null(graph);
    cudaGetLastError();
    for (int round = 0; round < 2; ++round) {
      generate(plain, &call, expected);
      generate(other, &call, found);
      assert_int_equal(cudaStreamSynchronize(stream), 0);
      assert_memory_equal(found, expected, bytes_of(&call));
    }
    assert_int_equal(curandDestroyGenerator(plain), 0);
    assert_int_equal(curandDestroyGenerator(other), 0);
    cudaFree(expected), cudaFree(found);
  }
}

enum { ALL = KINDS };

/* All generators in one graph, each of them twice. */
static void one_graph_has_several_generators(void** state) {
  (void)state;
  const request calls[] = {{0, 3000, 0}, {2, 500, 5}};
  void *plain[ALL], *others[ALL];
  char *found[ALL], *const expected = managed();
  cudaGraph_t graph = NULL;
  cudaGraphExec_t exec = NULL;
  for (int i = 0; i < (int)usual_kinds(); ++i) {
    plain[i] = generator_of(kinds[i]), others[i] = generator_of(kinds[i]);
    found[i] = managed();
  }
  assert_int_equal(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), 0);
  for (int call = 0; call < 2; ++call) {
    for (int i = 0; i < (int)usual_kinds(); ++i)
      generate(others[i], &calls[call], found[i] + call * ROOM / 2);
  }
  assert_int_equal(cudaStreamEndCapture(stream, &graph), 0);
  assert_int_equal(cudaGraphInstantiate(&exec, graph, 0), 0);
  for (int round = 0; round < 3; ++round) {
    assert_int_equal(cudaGraphLaunch(exec, stream), 0);
    for (int i = 0; i < (int)usual_kinds(); ++i) {
      for (int call = 0; call < 2; ++call) {
        generate(plain[i], &calls[call], expected);
        assert_int_equal(cudaStreamSynchronize(stream), 0);
        assert_memory_equal(found[i] + call * ROOM / 2, expected, bytes_of(&calls[call]));
      }
    }
  }
  for (int i = 0; i < (int)usual_kinds(); ++i) {
    assert_int_equal(curandDestroyGenerator(plain[i]), 0);
    assert_int_equal(curandDestroyGenerator(others[i]), 0);
    cudaFree(found[i]);
  }
  cudaFree(expected);
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
}

/* One generator takes turns in two streams of one capture, which nothing else orders: its calls are
 * in the order of the program. */
static void one_generator_has_several_streams(void** state) {
  (void)state;
  enum { TURNS = 4 };
  const request call = {0, 20000, 0};
  cudaStream_t fork = NULL;
  cudaEvent_t begin = NULL, end = NULL;
  assert_int_equal(cudaStreamCreate(&fork), 0);
  assert_int_equal(cudaEventCreate(&begin), 0);
  assert_int_equal(cudaEventCreate(&end), 0);
  char *const expected = managed(), *found[TURNS];
  for (int turn = 0; turn < TURNS; ++turn) found[turn] = managed();
  for (int i = 0; i < (int)usual_kinds(); ++i) {
    void *const plain = generator_of(kinds[i]), *const other = generator_of(kinds[i]);
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    assert_int_equal(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), 0);
    assert_int_equal(cudaEventRecord(begin, stream), 0);
    assert_int_equal(cudaStreamWaitEvent(fork, begin, 0), 0);
    for (int turn = 0; turn < TURNS; ++turn) {
      assert_int_equal(curandSetStream(other, turn % 2 == 0 ? fork : stream), 0);
      generate(other, &call, found[turn]);
    }
    assert_int_equal(cudaEventRecord(end, fork), 0);
    assert_int_equal(cudaStreamWaitEvent(stream, end, 0), 0);
    assert_int_equal(cudaStreamEndCapture(stream, &graph), 0);
    size_t root_count = 0;
    assert_int_equal(cudaGraphGetRootNodes(graph, NULL, &root_count), 0);
    assert_int_equal(root_count, 1);
    assert_int_equal(cudaGraphInstantiate(&exec, graph, 0), 0);
    for (int round = 0; round < 3; ++round) {
      assert_int_equal(cudaGraphLaunch(exec, stream), 0);
      for (int turn = 0; turn < TURNS; ++turn) {
        generate(plain, &call, expected);
        assert_int_equal(cudaStreamSynchronize(stream), 0);
        assert_memory_equal(found[turn], expected, bytes_of(&call));
      }
    }
    assert_int_equal(curandDestroyGenerator(plain), 0);
    assert_int_equal(curandDestroyGenerator(other), 0);
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
  }
  for (int turn = 0; turn < TURNS; ++turn) cudaFree(found[turn]);
  cudaFree(expected);
  cudaEventDestroy(begin), cudaEventDestroy(end);
  cudaStreamDestroy(fork);
}

/* Graphs keep what they need of a generator that ends before them, also after an update. */
static void graphs_outlive_their_generators(void** state) {
  (void)state;
  const request calls[] = {{0, 3000, 0}, {2, 500, 5}};
  for (int i = 0; i < 2 * (int)usual_kinds(); ++i) {
    const int kind = kinds[i / 2];
    const request* const call = &calls[i % 2];
    void *const plain = generator_of(kind), *const other = generator_of(kind);
    void *const expected = managed(), *const of_graph = managed();
    const cudaGraphExec_t graph = captured(other, call, of_graph);
    assert_int_equal(curandDestroyGenerator(other), 0);
    assert_int_equal(curandDestroyGenerator(generator_of(kind)), 0);
    reuse_freed_memory();
    for (int round = 0; round < 3; ++round) {
      generate(plain, call, expected);
      assert_int_equal(cudaGraphLaunch(graph, stream), 0);
      assert_int_equal(cudaStreamSynchronize(stream), 0);
      assert_memory_equal(of_graph, expected, bytes_of(call));
    }
    assert_int_equal(cudaGraphExecDestroy(graph), 0);
    assert_int_equal(curandDestroyGenerator(plain), 0);
    cudaFree(expected), cudaFree(of_graph);
  }
}

/* A graph that is updated takes the numbers of the other generator, and keeps its memory. */
static void graphs_are_updated(void** state) {
  (void)state;
  const request call = {0, 3000, 0};
  for (int i = 0; i < (int)usual_kinds(); ++i) {
    void *const plain = generator_of(kinds[i]), *const first = generator_of(kinds[i]);
    void* const second = generator_of(kinds[i]);
    void *const expected = managed(), *const of_first = managed(), *const of_second = managed();
    cudaGraph_t graph = NULL;
    cudaGraphExecUpdateResultInfo info;
    const cudaGraphExec_t exec = captured(first, &call, of_first);
    generate(second, &call, of_second);
    assert_int_equal(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), 0);
    generate(second, &call, of_second);
    assert_int_equal(cudaStreamEndCapture(stream, &graph), 0);
    assert_int_equal(cudaGraphLaunch(exec, stream), 0);
    assert_int_equal(cudaGraphExecUpdate(exec, graph, &info), 0);
    assert_int_equal(cudaGraphDestroy(graph), 0);
    assert_int_equal(curandDestroyGenerator(second), 0);
    assert_int_equal(curandDestroyGenerator(first), 0);
    reuse_freed_memory();
    generate(plain, &call, expected);
    assert_int_equal(cudaStreamSynchronize(stream), 0);
    assert_memory_equal(of_first, expected, bytes_of(&call));
    for (int round = 0; round < 2; ++round) {
      generate(plain, &call, expected);
      assert_int_equal(cudaGraphLaunch(exec, stream), 0);
      assert_int_equal(cudaStreamSynchronize(stream), 0);
      assert_memory_equal(of_second, expected, bytes_of(&call));
    }
    assert_int_equal(cudaGraphExecDestroy(exec), 0);
    assert_int_equal(curandDestroyGenerator(plain), 0);
    cudaFree(expected), cudaFree(of_first), cudaFree(of_second);
  }
}

/* A generator goes on where its graphs, which are gone, have stopped. */
static void generators_outlive_their_graphs(void** state) {
  (void)state;
  const request call = {0, 3000, 0};
  for (int i = 0; i < (int)usual_kinds(); ++i) {
    void *const plain = generator_of(kinds[i]), *const other = generator_of(kinds[i]);
    void *const expected = managed(), *const found = managed();
    for (int round = 0; round < 3; ++round) {
      const cudaGraphExec_t graph = captured(other, &call, found);
      assert_int_equal(cudaGraphLaunch(graph, stream), 0);
      assert_int_equal(cudaGraphExecDestroy(graph), 0);
      generate(plain, &call, expected);
      generate(plain, &call, expected);
      generate(other, &call, found);
      assert_int_equal(cudaStreamSynchronize(stream), 0);
      assert_memory_equal(found, expected, bytes_of(&call));
    }
    assert_int_equal(curandDestroyGenerator(plain), 0);
    assert_int_equal(curandDestroyGenerator(other), 0);
    cudaFree(expected), cudaFree(found);
  }
}

/* A seed, an offset or an ordering between two calls of one capture begins anew in the graph, too:
 * each launch goes on with both. */
static void settings_change_within_a_capture(void** state) {
  (void)state;
  const request call = {0, 3000, 0};
  for (int setting = 0; setting < 3; ++setting) {
    void *const plain = generator_of(MRG32K3A), *const set = generator_of(MRG32K3A);
    void* const other = generator_of(MRG32K3A);
    void *const expected = managed(), *const before = managed(), *const after = managed();
    void* const targets[] = {set, other};
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    assert_int_equal(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), 0);
    generate(other, &call, before);
    for (int i = 0; i < 2; ++i) {
      const int failed = setting == 0   ? curandSetPseudoRandomGeneratorSeed(targets[i], 42)
                         : setting == 1 ? curandSetGeneratorOffset(targets[i], 1000)
                                        : curandSetGeneratorOrdering(targets[i], 103);
      assert_int_equal(failed, 0);
    }
    generate(other, &call, after);
    assert_int_equal(cudaStreamEndCapture(stream, &graph), 0);
    assert_int_equal(cudaGraphInstantiate(&exec, graph, 0), 0);
    for (int round = 0; round < 2; ++round) {
      assert_int_equal(cudaGraphLaunch(exec, stream), 0);
      generate(plain, &call, expected);
      assert_int_equal(cudaStreamSynchronize(stream), 0);
      assert_memory_equal(before, expected, bytes_of(&call));
      generate(set, &call, expected);
      assert_int_equal(cudaStreamSynchronize(stream), 0);
      assert_memory_equal(after, expected, bytes_of(&call));
    }
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    assert_int_equal(curandDestroyGenerator(plain), 0);
    assert_int_equal(curandDestroyGenerator(set), 0);
    assert_int_equal(curandDestroyGenerator(other), 0);
    cudaFree(expected), cudaFree(before), cudaFree(after);
  }
}

static size_t free_bytes(void) {
  size_t free_now = 0, total = 0;
  assert_int_equal(cudaMemGetInfo(&free_now, &total), 0);
  return free_now;
}

static void* destroy_generator(void* generator) {
  return (void*)(uintptr_t)curandDestroyGenerator(generator);
}

/* The end of the last user of a generator's memory gives it back, also in a thread that has no
 * context; where that is a graph, the next generator that begins or ends does. */
static void memory_is_given_back(void** state) {
  (void)state;
  const request call = {0, 1000, 0};
  for (size_t i = 0; i < usual_kinds(); ++i) {
    void* const out = managed();
    const size_t before = free_bytes();
    void *generator = generator_of(kinds[i]), *failed = NULL;
    pthread_t thread;
    generate(generator, &call, out);
    assert_int_equal(cudaStreamSynchronize(stream), 0);
    assert_true(free_bytes() < before);
    assert_int_equal(pthread_create(&thread, NULL, destroy_generator, generator), 0);
    assert_int_equal(pthread_join(thread, &failed), 0);
    assert_null(failed);
    assert_int_equal(free_bytes(), before);

    generator = generator_of(kinds[i]);
    const cudaGraphExec_t graph = captured(generator, &call, out);
    assert_int_equal(curandDestroyGenerator(generator), 0);
    assert_true(free_bytes() < before);
    assert_int_equal(cudaGraphExecDestroy(graph), 0);
    assert_int_equal(curandDestroyGenerator(generator_of(kinds[i])), 0);
    assert_int_equal(free_bytes(), before);
    cudaFree(out);
  }
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
      cmocka_unit_test(a_capture_of_another_stream_survives),
      cmocka_unit_test(the_default_stream_waits_for_captures),
      cmocka_unit_test(first_numbers_leave_captures_alone),
      cmocka_unit_test(generators_end_within_their_capture),
      cmocka_unit_test(invalid_captures_take_no_numbers),
      cmocka_unit_test(one_graph_has_several_generators),
      cmocka_unit_test(one_generator_has_several_streams),
      cmocka_unit_test(graphs_outlive_their_generators),
      cmocka_unit_test(graphs_are_updated),
      cmocka_unit_test(memory_is_given_back),
      cmocka_unit_test(generators_outlive_their_graphs),
      cmocka_unit_test(settings_change_within_a_capture),
  };
  return cmocka_run_group_tests(tests, make_stream, NULL);
}
