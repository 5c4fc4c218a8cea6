/* Objects that a capture uses go before its end: graphs, nodes, streams, events, contexts. NVIDIA
 * forbids most of it and does not say what comes of it. Questions and ends in other streams. */
#include "support.h"

static CUdeviceptr new_words(void) {
  CUdeviceptr memory = 0;
  OK(cuMemAlloc(&memory, 64));
  return memory;
}

/* An end with an error and no graph; after it the stream runs work and is captured again. */
static void expect_no_graph(CUstream stream, CUdeviceptr memory) {
  CUgraph graph = (CUgraph)(uintptr_t)1;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  uint32_t word = 0;
  OK(cuStreamIsCapturing(stream, &status));
  assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
  EXPECT(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuMemsetD32Async(memory, 1, 1, stream));
  EXPECT(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream, &graph));
  assert_null(graph);
  OK(cuMemsetD32Async(memory, 6, 1, stream));
  OK(cuStreamSynchronize(stream));
  OK(cuMemcpyDtoH(&word, memory, 4));
  assert_int_equal(word, 6);
  OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  OK(cuMemsetD32Async(memory, 7, 1, stream));
  OK(cuStreamEndCapture(stream, &graph));
  OK(cuGraphDestroy(graph));
}

/* Streams that the legacy one does not wait for are no matter to it. */
static void the_legacy_stream_is_asked_beside_a_capture(void** state) {
  (void)state;
  const CUstream legacy = (CUstream)CU_STREAM_LEGACY;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  cuuint64_t id = 0;
  CUgraph graph = NULL;
  for (unsigned flags = CU_STREAM_DEFAULT; flags <= CU_STREAM_NON_BLOCKING; ++flags) {
    CUstream stream = NULL;
    const int is_blocking = flags == CU_STREAM_DEFAULT;
    const CUresult expected = is_blocking ? CUDA_ERROR_STREAM_CAPTURE_IMPLICIT : CUDA_SUCCESS;
    OK(cuStreamCreate(&stream, flags));
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    EXPECT(expected, cuStreamIsCapturing(legacy, &status));
    EXPECT(expected, cuStreamIsCapturing(NULL, &status));
    EXPECT(expected, cuStreamGetCaptureInfo(legacy, &status, &id, NULL, NULL, NULL, NULL));
    if (!is_blocking) assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_NONE);
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphDestroy(graph));
    OK(cuStreamIsCapturing(legacy, &status));
    OK(cuStreamDestroy(stream));
  }
}

static void an_end_in_another_stream_spoils_the_capture(void** state) {
  const fixture* f = *state;
  const CUdeviceptr memory = new_words();
  CUgraph graph = (CUgraph)(uintptr_t)1;
  CUstream other = NULL;
  CUevent event = NULL;
  OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  OK(cuStreamBeginCapture(f->stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT(CUDA_ERROR_ILLEGAL_STATE, cuStreamEndCapture(other, &graph)); /* it has no part yet */
  OK(cuEventRecord(event, f->stream));
  OK(cuStreamWaitEvent(other, event, 0));
  EXPECT(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, cuStreamEndCapture(other, &graph));
  assert_null(graph);
  expect_no_graph(f->stream, memory);
  OK(cuEventDestroy(event));
  OK(cuStreamDestroy(other));
  OK(cuMemFree(memory));
}

static void a_graph_goes_that_is_captured_into(void** state) {
  NOT_ON_NVIDIAS_DRIVER();
  const fixture* f = *state;
  const CUdeviceptr memory = new_words();
  CUgraph graph = NULL;
  for (int is_empty = 0; is_empty < 2; ++is_empty) {
    OK(cuGraphCreate(&graph, 0));
    OK(cuStreamBeginCaptureToGraph(f->stream, graph, NULL, NULL, 0,
                                   CU_STREAM_CAPTURE_MODE_RELAXED));
    if (!is_empty) OK(cuMemsetD32Async(memory, 7, 1, f->stream));
    OK(cuGraphDestroy(graph));
    expect_no_graph(f->stream, memory);
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(graph));
  }
  OK(cuMemFree(memory));
}

/* A graph that the program has by a question, and whose capture goes on. */
static void a_captured_graph_goes(void** state) {
  NOT_ON_NVIDIAS_DRIVER();
  const fixture* f = *state;
  const CUdeviceptr memory = new_words();
  CUstreamCaptureStatus status;
  CUgraph graph = NULL;
  OK(cuStreamBeginCapture(f->stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  OK(cuStreamGetCaptureInfo(f->stream, &status, NULL, &graph, NULL, NULL, NULL));
  OK(cuGraphDestroy(graph));
  expect_no_graph(f->stream, memory);
  OK(cuMemFree(memory));
}

/* The body of a decision goes with the graph that decides. */
static void a_graph_around_goes(void** state) {
  NOT_ON_NVIDIAS_DRIVER();
  const fixture* f = *state;
  const CUdeviceptr memory = new_words();
  CUgraph graph = NULL;
  CUgraphNode node = NULL;
  CUgraphConditionalHandle handle;
  OK(cuGraphCreate(&graph, 0));
  OK(cuGraphConditionalHandleCreate(&handle, graph, f->context, 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
  CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
  params.conditional.handle = handle;
  params.conditional.type = CU_GRAPH_COND_TYPE_IF;
  params.conditional.size = 1;
  params.conditional.ctx = f->context;
  OK(cuGraphAddNode(&node, graph, NULL, NULL, 0, &params));
  OK(cuStreamBeginCaptureToGraph(f->stream, params.conditional.phGraph_out[0], NULL, NULL, 0,
                                 CU_STREAM_CAPTURE_MODE_RELAXED));
  OK(cuMemsetD32Async(memory, 7, 1, f->stream));
  OK(cuGraphDestroy(graph));
  expect_no_graph(f->stream, memory);
  OK(cuMemFree(memory));
}

static void a_node_goes_that_the_next_one_follows(void** state) {
  NOT_ON_NVIDIAS_DRIVER();
  const fixture* f = *state;
  const CUdeviceptr memory = new_words();
  CUstreamCaptureStatus status;
  CUgraph graph = NULL;
  const CUgraphNode* nodes = NULL;
  size_t count = 0;
  OK(cuStreamBeginCapture(f->stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  OK(cuMemsetD32Async(memory, 7, 1, f->stream));
  OK(cuStreamGetCaptureInfo(f->stream, &status, NULL, &graph, &nodes, NULL, &count));
  assert_int_equal(count, 1);
  OK(cuGraphDestroyNode(nodes[0]));
  EXPECT(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuMemsetD32Async(memory, 8, 1, f->stream));
  expect_no_graph(f->stream, memory);
  OK(cuGraphDestroy(graph));
  OK(cuMemFree(memory));
}

/* Two streams of a capture, joined by an event. */
typedef struct fork {
  CUstream first, second;
  CUevent event;
  CUdeviceptr memory;
} fork_of;

static fork_of begin_fork(void) {
  fork_of all = {NULL, NULL, NULL, new_words()};
  OK(cuStreamCreate(&all.first, CU_STREAM_NON_BLOCKING));
  OK(cuStreamCreate(&all.second, CU_STREAM_NON_BLOCKING));
  OK(cuEventCreate(&all.event, CU_EVENT_DISABLE_TIMING));
  OK(cuStreamBeginCapture(all.first, CU_STREAM_CAPTURE_MODE_RELAXED));
  OK(cuMemsetD32Async(all.memory, 3, 1, all.first));
  OK(cuEventRecord(all.event, all.first));
  OK(cuStreamWaitEvent(all.second, all.event, 0));
  OK(cuMemsetD32Async(all.memory + 4, 4, 1, all.second));
  return all;
}

/* Every call that takes an event, for one that marks nothing. */
static void expect_no_mark(CUevent event, CUevent other, CUstream stream) {
  CUcontext context;
  float milliseconds = 0;
  OK(cuCtxGetCurrent(&context));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuEventQuery(event));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuEventSynchronize(event));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuEventElapsedTime(&milliseconds, other, event));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuEventElapsedTime(&milliseconds, event, other));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuStreamWaitEvent(stream, event, 0));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuCtxWaitEvent(context, event));
  OK(cuStreamSynchronize(stream)); /* no error sticks */
}

/* An event of a capture that is over, with its graph and without, and of one that is invalid. */
static void events_of_a_capture_that_is_over(void** state) {
  NOT_ON_NVIDIAS_DRIVER();
  fixture* f = *state;
  CUevent event, other;
  CUgraph graph;
  CUstream second;
  CUdeviceptr memory = new_words();
  OK(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
  OK(cuEventCreate(&event, CU_EVENT_DEFAULT));
  OK(cuEventCreate(&other, CU_EVENT_DEFAULT));
  OK(cuEventRecord(other, second));
  for (int destroyed = 0; destroyed < 2; ++destroyed) {
    OK(cuStreamBeginCapture(f->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    OK(cuMemsetD32Async(memory, 3, 1, f->stream));
    OK(cuEventRecord(event, f->stream));
    OK(cuStreamEndCapture(f->stream, &graph));
    if (destroyed) OK(cuGraphDestroy(graph));
    expect_no_mark(event, other, second);
    if (!destroyed) OK(cuGraphDestroy(graph));
    OK(cuEventRecord(event, second)); /* it marks something again */
    OK(cuStreamWaitEvent(f->stream, event, 0));
    OK(cuEventSynchronize(event));
    OK(cuEventQuery(event));
  }
  OK(cuStreamBeginCapture(f->stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  OK(cuEventRecord(event, f->stream));
  EXPECT(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamQuery(f->stream));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuEventQuery(event));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuEventSynchronize(event));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuStreamWaitEvent(second, event, 0));
  EXPECT(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(f->stream, &graph));
  expect_no_mark(event, other, second);
  OK(cuEventDestroy(event));
  OK(cuEventDestroy(other));
  OK(cuStreamDestroy(second));
  OK(cuMemFree(memory));
}

/* A stream of the capture goes: the first ends it, the second leaves its work unjoined. */
static void a_stream_goes_that_is_captured(void** state) {
  NOT_ON_NVIDIAS_DRIVER();
  (void)state;
  CUgraph graph = (CUgraph)(uintptr_t)1;
  fork_of all = begin_fork();
  OK(cuStreamDestroy(all.first));
  EXPECT(CUDA_ERROR_ILLEGAL_STATE, cuStreamEndCapture(all.second, &graph));
  assert_null(graph);
  OK(cuMemsetD32Async(all.memory, 5, 1, all.second));
  OK(cuStreamSynchronize(all.second));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuStreamWaitEvent(all.second, all.event, 0));
  OK(cuEventDestroy(all.event));
  OK(cuStreamDestroy(all.second));
  OK(cuMemFree(all.memory));

  all = begin_fork();
  OK(cuStreamDestroy(all.second));
  graph = (CUgraph)(uintptr_t)1;
  EXPECT(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, cuStreamEndCapture(all.first, &graph));
  assert_null(graph);
  OK(cuEventDestroy(all.event));
  OK(cuStreamDestroy(all.first));
  OK(cuMemFree(all.memory));
}

static void an_event_goes_that_has_forked(void** state) {
  const fixture* f = *state;
  CUgraph graph = NULL;
  CUgraphExec exec = NULL;
  CUevent joins = NULL;
  uint32_t words[2];
  fork_of all = begin_fork();
  OK(cuEventDestroy(all.event));
  OK(cuEventCreate(&joins, CU_EVENT_DISABLE_TIMING));
  OK(cuEventRecord(joins, all.second));
  OK(cuStreamWaitEvent(all.first, joins, 0));
  OK(cuEventDestroy(joins));
  OK(cuStreamEndCapture(all.first, &graph));
  OK(cuGraphInstantiate(&exec, graph, 0));
  OK(cuGraphLaunch(exec, f->stream));
  OK(cuStreamSynchronize(f->stream));
  OK(cuMemcpyDtoH(words, all.memory, 8));
  assert_int_equal(words[0], 3);
  assert_int_equal(words[1], 4);
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphDestroy(graph));
  OK(cuStreamDestroy(all.first));
  OK(cuStreamDestroy(all.second));
  OK(cuMemFree(all.memory));
}

/* All handles end with their context; the thread may call what captures forbid. */
static void a_context_goes_with_its_captures(void** state) {
  NOT_ON_NVIDIAS_DRIVER();
  const fixture* f = *state;
  CUcontext context = NULL;
  CUstreamCaptureStatus status;
  CUgraph graph = NULL, ended = (CUgraph)(uintptr_t)1;
#if CUDA_VERSION >= 13000
  OK(cuCtxCreate(&context, NULL, 0, f->device));
#else
  OK(cuCtxCreate(&context, 0, f->device));
#endif
  const fork_of all = begin_fork();
  OK(cuStreamGetCaptureInfo(all.first, &status, NULL, &graph, NULL, NULL, NULL));
  OK(cuCtxDestroy(context));
  OK(cuCtxSetCurrent(f->context));
  assert_int_not_equal(cuStreamEndCapture(all.first, &ended), CUDA_SUCCESS);
  assert_null(ended);
  assert_int_not_equal(cuStreamEndCapture(all.second, &ended), CUDA_SUCCESS);
  assert_int_not_equal(cuGraphDestroy(graph), CUDA_SUCCESS);
  assert_int_not_equal(cuEventDestroy(all.event), CUDA_SUCCESS);
  OK(cuMemFree(new_words()));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(the_legacy_stream_is_asked_beside_a_capture),
      TEST(an_end_in_another_stream_spoils_the_capture),
      TEST(a_graph_goes_that_is_captured_into),
      TEST(a_captured_graph_goes),
      TEST(a_graph_around_goes),
      TEST(a_node_goes_that_the_next_one_follows),
      TEST(a_stream_goes_that_is_captured),
      TEST(events_of_a_capture_that_is_over),
      TEST(an_event_goes_that_has_forked),
      TEST(a_context_goes_with_its_captures),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
