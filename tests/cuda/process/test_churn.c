/* Objects come and go many times, each time with other values: the heap stays what it was. */
#include "support.h"

#include <malloc.h>
#include <stdatomic.h>
#include <string.h>

enum { CYCLES = 6000, CONTEXTS = 200, GROWTH_BYTES = 256 << 10 };

typedef void cycle(const fixture* f, uintptr_t number);

static uint64_t heap_bytes(void) {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

/* The first half fills what is kept for reuse. */
static void expect_no_growth(const fixture* f, cycle* once, unsigned cycles) {
  uint64_t middle = 0, end = 0;
  for (unsigned i = 0; i < 2 * cycles; ++i) {
    if (i == cycles) middle = heap_bytes();
    once(f, i + 1);
  }
  OK(cuStreamSynchronize(f->stream));
  end = heap_bytes();
  if (end > middle + GROWTH_BYTES) {
    fail_msg("%llu bytes more after %u cycles", (unsigned long long)(end - middle), cycles);
  }
}

static _Atomic uintptr_t last_number;
static void note_number(void* number) { last_number = (uintptr_t)number; }

/* A host function as a node, as what the node becomes, instantiated, and in a capture. */
static void make_host_nodes(const fixture* f, uintptr_t number) {
  CUgraph graph = NULL, captured = NULL;
  CUgraphExec exec = NULL;
  CUgraphNode node = NULL;
  CUDA_HOST_NODE_PARAMS params = {note_number, (void*)(4 * number)};
  OK(cuGraphCreate(&graph, 0));
  OK(cuGraphAddHostNode(&node, graph, NULL, 0, &params));
  params.userData = (void*)(4 * number + 1);
  OK(cuGraphHostNodeSetParams(node, &params));
  memset(&params, 0, sizeof params);
  OK(cuGraphHostNodeGetParams(node, &params));
  assert_ptr_equal(params.fn, note_number);
  assert_ptr_equal(params.userData, (void*)(4 * number + 1));
  OK(cuGraphInstantiate(&exec, graph, 0));
  params.userData = (void*)(4 * number + 2);
  OK(cuGraphExecHostNodeSetParams(exec, node, &params));
  OK(cuGraphLaunch(exec, f->stream));
  OK(cuGraphExecDestroy(exec)); /* the launch may be under way */
  OK(cuGraphDestroy(graph));
  OK(cuStreamSynchronize(f->stream));
  assert_int_equal(last_number, 4 * number + 2);

  OK(cuStreamBeginCapture(f->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  OK(cuLaunchHostFunc(f->stream, note_number, (void*)(4 * number + 3)));
  OK(cuStreamEndCapture(f->stream, &captured));
  OK(cuGraphInstantiate(&exec, captured, 0));
  OK(cuGraphDestroy(captured));
  OK(cuGraphLaunch(exec, f->stream));
  OK(cuGraphLaunch(exec, f->stream));
  OK(cuStreamSynchronize(f->stream));
  OK(cuGraphExecDestroy(exec));
  assert_int_equal(last_number, 4 * number + 3);
}

static void host_functions_of_graphs_leave_nothing(void** state) {
  expect_no_growth(*state, make_host_nodes, CYCLES);
}

/* The context, its streams and memory end while a capture is under way that uses them. */
static void leave_a_capture_open(const fixture* f, uintptr_t number) {
  CUcontext context = NULL;
  CUstream stream = NULL;
  CUdeviceptr memory = 0;
  OK(cuCtxCreate(&context, NULL, 0, f->device));
  OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  OK(cuMemAlloc(&memory, 4096));
  OK(cuMemsetD32Async(memory, 1, 1024, stream));
  OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  OK(cuMemsetD32Async(memory, 2, 1024, stream));
  if (number % 2 == 0) OK(cuStreamDestroy(stream));
  OK(cuCtxDestroy(context));
}

static void captures_that_never_end_leave_nothing(void** state) {
  NOT_ON_NVIDIAS_DRIVER();
  expect_no_growth(*state, leave_a_capture_open, CONTEXTS);
}

static void load_for_a_while(const fixture* f, uintptr_t number) {
  CUlibrary library = NULL;
  (void)f;
  (void)number;
  OK(cuLibraryLoadData(&library, kernels_ptx, NULL, NULL, 0, NULL, NULL, 0));
  OK(cuLibraryUnload(library));
}

static void libraries_leave_nothing(void** state) {
  expect_no_growth(*state, load_for_a_while, CONTEXTS);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(host_functions_of_graphs_leave_nothing),
      TEST(captures_that_never_end_leave_nothing),
      TEST(libraries_leave_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
