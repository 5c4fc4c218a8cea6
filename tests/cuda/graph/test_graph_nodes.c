/* Nodes of graphs in the generic form, those of events and of memory, objects that graphs look
 * after, and captures: into graphs, with other dependencies, and what they forbid. */
#include "support.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

/* Libraries before CUDA 13.1 lack these functions. */
#pragma weak cuGraphNodeGetParams
#pragma weak cuGraphNodeSetParams

static CUdeviceptr new_words(size_t count) {
  CUdeviceptr memory = 0;
  OK(cuMemAlloc(&memory, count * 4));
  OK(cuMemsetD32(memory, 0, count));
  return memory;
}

static uint32_t word_at(CUdeviceptr address) {
  uint32_t word = 0;
  OK(cuMemcpyDtoH(&word, address, 4));
  return word;
}

static CUgraphNodeParams params_of(CUgraphNodeType type) {
  CUgraphNodeParams params;
  memset(&params, 0, sizeof params);
  params.type = type;
  return params;
}

static void run_graph(const fixture* f, CUgraphExec exec) {
  OK(cuGraphLaunch(exec, f->stream));
  OK(cuStreamSynchronize(f->stream));
}

static CUgraphExec instantiate_and_run(const fixture* f, CUgraph graph) {
  CUgraphExec exec = NULL;
  OK(cuGraphInstantiate(&exec, graph, 0));
  run_graph(f, exec);
  return exec;
}

static void count_call(void* calls) { ++*(atomic_int*)calls; }

static CUgraphNodeParams fill_params(const fixture* f, void** arguments) {
  CUgraphNodeParams params = params_of(CU_GRAPH_NODE_TYPE_KERNEL);
  params.kernel.func = kernel(f, "fill_index");
  params.kernel.gridDimX = params.kernel.gridDimY = params.kernel.gridDimZ = 1;
  params.kernel.blockDimX = 8;
  params.kernel.blockDimY = params.kernel.blockDimZ = 1;
  params.kernel.kernelParams = arguments;
  return params;
}

static void nodes_of_all_types_have_one_form(void** state) {
  if (cuGraphNodeGetParams == NULL || cuGraphNodeSetParams == NULL) skip();
  const fixture* f = *state;
  const CUdeviceptr memory = new_words(64);
  atomic_int calls = 0;
  uint32_t base = 5, n = 8, read[64];
  void* arguments[] = {(void*)&memory, &base, &n};
  CUgraph graph = NULL, child = NULL;
  CUgraphNode kernel_node, set_node, copy_node, host_node, child_node, empty_node, inner;
  OK(cuGraphCreate(&graph, 0));
  OK(cuGraphCreate(&child, 0));
  CUgraphNodeParams params = fill_params(f, arguments);
  OK(cuGraphAddNode(&kernel_node, graph, NULL, NULL, 0, &params));
  params = params_of(CU_GRAPH_NODE_TYPE_MEMSET);
  params.memset = (CUDA_MEMSET_NODE_PARAMS_v2){
      .dst = memory + 32, .value = 9, .elementSize = 4, .width = 8, .height = 1};
  OK(cuGraphAddNode(&set_node, graph, NULL, NULL, 0, &params));
  params = params_of(CU_GRAPH_NODE_TYPE_MEMCPY);
  params.memcpy.copyParams.srcMemoryType = params.memcpy.copyParams.dstMemoryType =
      CU_MEMORYTYPE_DEVICE;
  params.memcpy.copyParams.srcDevice = memory;
  params.memcpy.copyParams.dstDevice = memory + 64;
  params.memcpy.copyParams.WidthInBytes = 64;
  params.memcpy.copyParams.Height = params.memcpy.copyParams.Depth = 1;
  const CUgraphNode before[] = {kernel_node, set_node};
  OK(cuGraphAddNode(&copy_node, graph, before, NULL, 2, &params));
  params = params_of(CU_GRAPH_NODE_TYPE_HOST);
  params.host.fn = count_call;
  params.host.userData = &calls;
  OK(cuGraphAddNode(&host_node, graph, NULL, NULL, 0, &params));
  OK(cuGraphAddNode(&inner, child, NULL, NULL, 0, &params));
  params = params_of(CU_GRAPH_NODE_TYPE_GRAPH);
  params.graph.graph = child;
  OK(cuGraphAddNode(&child_node, graph, &copy_node, NULL, 1, &params));
  params = params_of(CU_GRAPH_NODE_TYPE_EMPTY);
  OK(cuGraphAddNode(&empty_node, graph, &child_node, NULL, 1, &params));
  CUgraphExec exec = instantiate_and_run(f, graph);
  OK(cuMemcpyDtoH(read, memory, sizeof read));
  assert_int_equal(read[16 + 7], 12);
  assert_int_equal(read[16 + 8], 9);
  assert_int_equal(calls, 2);

  OK(cuGraphNodeGetParams(kernel_node, &params));
  assert_int_equal(params.type, CU_GRAPH_NODE_TYPE_KERNEL);
  assert_int_equal(*(uint32_t*)params.kernel.kernelParams[1], 5);
  params.kernel.kernelParams[1] = &base;
  base = 100;
  OK(cuGraphExecNodeSetParams(exec, kernel_node, &params));
  run_graph(f, exec);
  assert_int_equal(word_at(memory), 100);
  OK(cuGraphNodeGetParams(set_node, &params));
  assert_int_equal(params.memset.value, 9);
  params.memset.value = 10;
  OK(cuGraphNodeSetParams(set_node, &params));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphNodeSetParams(kernel_node, &params));
  OK(cuGraphNodeGetParams(copy_node, &params));
  assert_true(params.memcpy.copyParams.dstDevice == memory + 64);
  OK(cuGraphNodeGetParams(child_node, &params));
  assert_non_null(params.graph.graph);
  OK(cuGraphNodeGetParams(empty_node, &params));
  assert_int_equal(params.type, CU_GRAPH_NODE_TYPE_EMPTY);
  OK(cuGraphExecDestroy(exec));
  exec = instantiate_and_run(f, graph);
  assert_int_equal(word_at(memory + 32), 10);
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphDestroy(graph));
  OK(cuGraphDestroy(child));
}

static void wrong_nodes_are_refused(void** state) {
  CUgraph graph = NULL;
  CUgraphNode inner;
  (void)state;
  OK(cuGraphCreate(&graph, 0));
  CUgraphNodeParams params = params_of(CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT);
  EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuGraphAddNode(&inner, graph, NULL, NULL, 0, &params));
  params = params_of((CUgraphNodeType)77);
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphAddNode(&inner, graph, NULL, NULL, 0, &params));
  params = params_of(CU_GRAPH_NODE_TYPE_EMPTY);
  params.reserved0[1] = 1;
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphAddNode(&inner, graph, NULL, NULL, 0, &params));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphAddNode(&inner, graph, NULL, NULL, 0, NULL));
  OK(cuGraphDestroy(graph));
}

static void nodes_are_switched_off(void** state) {
  const fixture* f = *state;
  const CUdeviceptr memory = new_words(1);
  CUgraph graph = NULL;
  CUgraphNode set, empty;
  unsigned on = 9;
  CUDA_MEMSET_NODE_PARAMS params = {memory, 0, 4, 4, 1, 1};
  OK(cuGraphCreate(&graph, 0));
  OK(cuGraphAddMemsetNode(&set, graph, NULL, 0, &params, f->context));
  OK(cuGraphAddEmptyNode(&empty, graph, &set, 1));
  CUgraphExec exec = instantiate_and_run(f, graph);
  OK(cuGraphNodeGetEnabled(exec, set, &on));
  assert_int_equal(on, 1);
  OK(cuMemsetD32(memory, 0, 1));
  OK(cuGraphNodeSetEnabled(exec, set, 0));
  OK(cuGraphNodeGetEnabled(exec, set, &on));
  assert_int_equal(on, 0);
  run_graph(f, exec);
  assert_int_equal(word_at(memory), 0);
  params.value = 5; /* new parameters do not switch it on */
  OK(cuGraphExecMemsetNodeSetParams(exec, set, &params, f->context));
  run_graph(f, exec);
  assert_int_equal(word_at(memory), 0);
  OK(cuGraphNodeSetEnabled(exec, set, 1));
  run_graph(f, exec);
  assert_int_equal(word_at(memory), 5);
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphNodeSetEnabled(exec, empty, 0));
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphDestroy(graph));
}

/* A host function that waits until it may go on. */
static void wait_for_flag(void* flag) {
  while (!*(atomic_int*)flag) usleep(100);
}

static void graphs_record_events(void** state) {
  const fixture* f = *state;
  atomic_int first = 0, second = 0;
  CUgraph graph = NULL;
  CUgraphNode before, record, after;
  CUgraphNodeType type;
  CUgraphExec exec = NULL;
  CUevent event = NULL, other = NULL, found = NULL;
  CUDA_HOST_NODE_PARAMS host = {wait_for_flag, &first};
  OK(cuEventCreate(&event, CU_EVENT_DEFAULT));
  OK(cuEventCreate(&other, CU_EVENT_DEFAULT));
  OK(cuGraphCreate(&graph, 0));
  OK(cuGraphAddHostNode(&before, graph, NULL, 0, &host));
  OK(cuGraphAddEventRecordNode(&record, graph, &before, 1, event));
  host.userData = &second;
  OK(cuGraphAddHostNode(&after, graph, &record, 1, &host));
  OK(cuGraphNodeGetType(record, &type));
  assert_int_equal(type, CU_GRAPH_NODE_TYPE_EVENT_RECORD);
  OK(cuGraphEventRecordNodeGetEvent(record, &found));
  assert_ptr_equal(found, event);
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphEventWaitNodeGetEvent(record, &found));
  OK(cuGraphInstantiate(&exec, graph, 0));
  OK(cuEventQuery(event)); /* never recorded */
  OK(cuGraphLaunch(exec, f->stream));
  EXPECT(CUDA_ERROR_NOT_READY, cuEventQuery(event));
  first = 1;
  OK(cuEventSynchronize(event)); /* while the graph goes on */
  EXPECT(CUDA_ERROR_NOT_READY, cuStreamQuery(f->stream));
  second = 1;
  OK(cuStreamSynchronize(f->stream));
  /* Another event for what is instantiated. */
  OK(cuGraphExecEventRecordNodeSetEvent(exec, record, other));
  run_graph(f, exec);
  float milliseconds = -1;
  OK(cuEventElapsedTime(&milliseconds, event, other));
  assert_true(milliseconds >= 0);
  OK(cuGraphEventRecordNodeSetEvent(record, other));
  OK(cuGraphEventRecordNodeGetEvent(record, &found));
  assert_ptr_equal(found, other);
  EXPECT(CUDA_ERROR_INVALID_HANDLE, cuGraphAddEventRecordNode(&after, graph, NULL, 0, NULL));
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphDestroy(graph));
}

static void graphs_wait_for_events(void** state) {
  const fixture* f = *state;
  const CUdeviceptr memory = new_words(2);
  atomic_int flag = 0;
  CUgraph graph = NULL;
  CUgraphNode wait, set;
  CUgraphExec exec = NULL;
  CUevent event = NULL;
  CUstream other = NULL;
  CUDA_MEMSET_NODE_PARAMS params = {memory, 0, 7, 4, 1, 1};
  OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  OK(cuGraphCreate(&graph, 0));
  OK(cuGraphAddEventWaitNode(&wait, graph, NULL, 0, event));
  OK(cuGraphAddMemsetNode(&set, graph, &wait, 1, &params, f->context));
  OK(cuGraphInstantiate(&exec, graph, 0));
  run_graph(f, exec); /* never recorded: nothing to wait for */
  assert_int_equal(word_at(memory), 7);
  OK(cuMemsetD32(memory, 0, 1));
  for (int round = 0; round < 3; ++round) {
    flag = 0;
    OK(cuLaunchHostFunc(other, wait_for_flag, &flag));
    OK(cuEventRecord(event, other));
    OK(cuGraphLaunch(exec, f->stream));
    usleep(2000);
    EXPECT(CUDA_ERROR_NOT_READY, cuStreamQuery(f->stream));
    flag = 1;
    OK(cuStreamSynchronize(f->stream));
  }
  assert_int_equal(word_at(memory), 7);
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphDestroy(graph));
  OK(cuStreamDestroy(other));
}

static void external_events_are_captured_as_nodes(void** state) {
  const fixture* f = *state;
  CUgraph graph = NULL;
  CUgraphNode nodes[3];
  CUgraphNodeType type;
  CUevent event = NULL;
  size_t count = 3;
  OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  EXPECT(CUDA_ERROR_INVALID_VALUE,
         cuEventRecordWithFlags(event, f->stream, CU_EVENT_RECORD_EXTERNAL));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuStreamWaitEvent(f->stream, event, CU_EVENT_WAIT_EXTERNAL));
  OK(cuStreamBeginCapture(f->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  OK(cuStreamWaitEvent(f->stream, event, CU_EVENT_WAIT_EXTERNAL));
  OK(cuEventRecordWithFlags(event, f->stream, CU_EVENT_RECORD_EXTERNAL));
  OK(cuStreamEndCapture(f->stream, &graph));
  OK(cuGraphGetNodes(graph, nodes, &count));
  assert_int_equal(count, 2);
  OK(cuGraphNodeGetType(nodes[0], &type));
  assert_int_equal(type, CU_GRAPH_NODE_TYPE_WAIT_EVENT);
  OK(cuGraphNodeGetType(nodes[1], &type));
  assert_int_equal(type, CU_GRAPH_NODE_TYPE_EVENT_RECORD);
  OK(cuGraphExecDestroy(instantiate_and_run(f, graph)));
  OK(cuEventSynchronize(event));
  OK(cuGraphDestroy(graph));
}

static uint64_t graph_bytes(const fixture* f) {
  uint64_t bytes = 0;
  OK(cuDeviceGetGraphMemAttribute(f->device, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &bytes));
  return bytes;
}

static void graphs_allocate_memory(void** state) {
  const fixture* f = *state;
  const CUdeviceptr out = new_words(4);
  const uint64_t before = graph_bytes(f);
  CUgraph graph = NULL, clone = NULL;
  CUgraphNode alloc, set, copy, last;
  CUgraphNodeType type;
  CUDA_MEM_ALLOC_NODE_PARAMS params, read;
  CUdeviceptr freed = 0;
  memset(&params, 0, sizeof params);
  params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  params.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  params.poolProps.location.id = f->device;
  params.bytesize = 256;
  OK(cuGraphCreate(&graph, 0));
  OK(cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &params));
  assert_true(params.dptr != 0);
  assert_true(graph_bytes(f) == before + 256);
  OK(cuGraphNodeGetType(alloc, &type));
  assert_int_equal(type, CU_GRAPH_NODE_TYPE_MEM_ALLOC);
  OK(cuGraphMemAllocNodeGetParams(alloc, &read));
  assert_true(read.dptr == params.dptr && read.bytesize == 256);
  CUDA_MEMSET_NODE_PARAMS fill = {params.dptr, 0, 3, 4, 64, 1};
  OK(cuGraphAddMemsetNode(&set, graph, &alloc, 1, &fill, f->context));
  CUDA_MEMCPY3D move;
  memset(&move, 0, sizeof move);
  move.srcMemoryType = move.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  move.srcDevice = params.dptr;
  move.dstDevice = out;
  move.WidthInBytes = 16;
  move.Height = move.Depth = 1;
  OK(cuGraphAddMemcpyNode(&copy, graph, &set, 1, &move, f->context));
  OK(cuGraphAddMemFreeNode(&last, graph, &copy, 1, params.dptr));
  OK(cuGraphMemFreeNodeGetParams(last, &freed));
  assert_true(freed == params.dptr);
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphAddMemFreeNode(&last, graph, &copy, 1, params.dptr));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphAddMemFreeNode(&last, graph, &copy, 1, out));
  EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuGraphClone(&clone, graph));
  EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuGraphDestroyNode(alloc));
  CUgraphExec exec = instantiate_and_run(f, graph);
  assert_int_equal(word_at(out + 12), 3);
  run_graph(f, exec);
  OK(cuGraphDestroy(graph));
  assert_true(graph_bytes(f) == before + 256); /* what is instantiated needs it */
  run_graph(f, exec);
  OK(cuGraphExecDestroy(exec));
  assert_true(graph_bytes(f) == before);
  params.poolProps.location.id = 99;
  OK(cuGraphCreate(&graph, 0));
  EXPECT(CUDA_ERROR_INVALID_DEVICE, cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &params));
  OK(cuGraphDestroy(graph));
}

static void memory_of_graphs_outlives_the_launch(void** state) {
  const fixture* f = *state;
  CUgraph graph = NULL;
  CUgraphExec exec = NULL, frees_itself = NULL;
  CUdeviceptr memory = 0;
  OK(cuStreamBeginCapture(f->stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  OK(cuMemAllocAsync(&memory, 64, f->stream)); /* allocates when the graph runs */
  OK(cuMemsetD32Async(memory, 6, 16, f->stream));
  OK(cuStreamEndCapture(f->stream, &graph));
  OK(cuGraphInstantiate(&exec, graph, 0));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemFreeAsync(memory, f->stream)); /* not yet */
  run_graph(f, exec);
  assert_int_equal(word_at(memory + 60), 6);
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphLaunch(exec, f->stream)); /* it is still there */
  OK(cuMemFreeAsync(memory, f->stream));
  run_graph(f, exec);
  OK(cuMemFree(memory));
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphInstantiateWithFlags(&frees_itself, graph,
                                 CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
  run_graph(f, frees_itself);
  run_graph(f, frees_itself);
  OK(cuGraphExecDestroy(frees_itself));
  OK(cuGraphDestroy(graph));
}

static void graphs_look_after_objects(void** state) {
  const fixture* f = *state;
  atomic_int destroyed = 0, flag = 0;
  CUuserObject object = NULL;
  CUgraph graph = NULL, clone = NULL;
  CUgraphNode node;
  CUgraphExec exec = NULL;
  CUDA_HOST_NODE_PARAMS host = {wait_for_flag, &flag};
  OK(cuGraphCreate(&graph, 0));
  OK(cuGraphAddHostNode(&node, graph, NULL, 0, &host));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuUserObjectCreate(&object, &destroyed, count_call, 1, 0));
  EXPECT(CUDA_ERROR_INVALID_VALUE,
         cuUserObjectCreate(&object, &destroyed, count_call, 0, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  EXPECT(CUDA_ERROR_INVALID_VALUE,
         cuUserObjectCreate(&object, &destroyed, NULL, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  OK(cuUserObjectCreate(&object, &destroyed, count_call, 2, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  OK(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
  OK(cuGraphRetainUserObject(graph, object, INT_MAX, 0)); /* as many take no longer than one */
  OK(cuGraphReleaseUserObject(graph, object, INT_MAX - 2));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphReleaseUserObject(graph, object, 4));
  OK(cuGraphReleaseUserObject(graph, object, 2));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphReleaseUserObject(graph, object, 2));
  OK(cuUserObjectRetain(object, 3));
  OK(cuUserObjectRelease(object, 4)); /* only the graph's is left */
  assert_int_equal(destroyed, 0);
  OK(cuGraphClone(&clone, graph));
  OK(cuGraphInstantiate(&exec, clone, 0));
  OK(cuGraphDestroy(graph));
  OK(cuGraphDestroy(clone));
  assert_int_equal(destroyed, 0);
  OK(cuGraphLaunch(exec, f->stream));
  OK(cuGraphExecDestroy(exec));
  assert_int_equal(destroyed, 0); /* a launch is under way */
  flag = 1;
  OK(cuStreamSynchronize(f->stream));
  for (int turn = 0; turn < 10000 && destroyed == 0; ++turn) usleep(1000);
  assert_int_equal(destroyed, 1);
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuUserObjectRelease(object, 1));
}

/* Objects that graphs refer to stay until they let them go, whatever the program does with them. */
static void references_of_graphs_are_their_own(void** state) {
  NOT_ON_NVIDIAS_DRIVER();
  (void)state;
  atomic_int destroyed = 0;
  CUuserObject object = NULL;
  CUgraph graph = NULL;
  OK(cuGraphCreate(&graph, 0));
  OK(cuUserObjectCreate(&object, &destroyed, count_call, 2, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  OK(cuGraphRetainUserObject(graph, object, 3, 0));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuUserObjectRelease(object, 3)); /* two are the program's */
  EXPECT(CUDA_ERROR_INVALID_VALUE,
         cuGraphRetainUserObject(graph, object, 3, CU_GRAPH_USER_OBJECT_MOVE));
  OK(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
  OK(cuUserObjectRelease(object, 1));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuUserObjectRelease(object, 1));
  OK(cuGraphReleaseUserObject(graph, object, 3));
  assert_int_equal(destroyed, 0);
  OK(cuGraphDestroy(graph));
  assert_int_equal(destroyed, 1);
}

/* An empty graph that looks after a count of its ends. */
static CUgraph looks_after(atomic_int* destroyed) {
  CUgraph graph = NULL;
  CUgraphNode node;
  CUuserObject object = NULL;
  OK(cuGraphCreate(&graph, 0));
  OK(cuGraphAddEmptyNode(&node, graph, NULL, 0));
  OK(cuUserObjectCreate(&object, destroyed, count_call, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  OK(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
  return graph;
}

/* An update replaces what the instantiation looks after; a captured launch has it looked after. */
static void user_objects_follow_the_work(void** state) {
  const fixture* f = *state;
  atomic_int destroyed[2] = {0, 0};
  CUgraph first = looks_after(&destroyed[0]), second = looks_after(&destroyed[1]);
  CUgraph captured = NULL;
  CUgraphExec exec = NULL;
  CUgraphExecUpdateResultInfo info;
  OK(cuGraphInstantiate(&exec, first, 0));
  OK(cuGraphDestroy(first));
  OK(cuGraphExecUpdate(exec, second, &info));
  OK(cuGraphDestroy(second));
  assert_int_equal(destroyed[0], 1);
  assert_int_equal(destroyed[1], 0);
  OK(cuStreamBeginCapture(f->stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  OK(cuGraphLaunch(exec, f->stream));
  OK(cuStreamEndCapture(f->stream, &captured));
  OK(cuGraphExecDestroy(exec));
  assert_int_equal(destroyed[1], 0);
  OK(cuGraphDestroy(captured));
  assert_int_equal(destroyed[1], 1);
}

static void streams_are_captured_into_graphs(void** state) {
  const fixture* f = *state;
  const CUdeviceptr memory = new_words(4);
  CUgraph graph = NULL, captured = NULL, seen = NULL;
  CUgraphNode first, nodes[8];
  CUstreamCaptureStatus status;
  size_t count = 8, edges = 0;
  CUDA_MEMSET_NODE_PARAMS params = {memory, 0, 7, 4, 1, 1};
  OK(cuGraphCreate(&graph, 0));
  OK(cuGraphAddMemsetNode(&first, graph, NULL, 0, &params, f->context));
  EXPECT(CUDA_ERROR_ILLEGAL_STATE,
         cuStreamUpdateCaptureDependencies(f->stream, &first, NULL, 1, 0));
  OK(cuStreamBeginCaptureToGraph(f->stream, graph, &first, NULL, 1,
                                 CU_STREAM_CAPTURE_MODE_RELAXED));
  OK(cuMemcpyDtoDAsync(memory + 4, memory, 4, f->stream));
  OK(cuStreamGetCaptureInfo(f->stream, &status, NULL, &seen, NULL, NULL, NULL));
  assert_ptr_equal(seen, graph);
  /* The next node runs after nothing but the first. */
  OK(cuStreamUpdateCaptureDependencies(f->stream, &first, NULL, 1,
                                       CU_STREAM_SET_CAPTURE_DEPENDENCIES));
  OK(cuMemcpyDtoDAsync(memory + 8, memory, 4, f->stream));
  OK(cuGraphGetNodes(graph, nodes, &count));
  assert_int_equal(count, 3);
  OK(cuStreamUpdateCaptureDependencies(f->stream, &nodes[1], NULL, 1,
                                       CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
  OK(cuMemcpyDtoDAsync(memory + 12, memory + 4, 4, f->stream));
  EXPECT(CUDA_ERROR_INVALID_VALUE,
         cuStreamUpdateCaptureDependencies(f->stream, &first, NULL, 1, 7));
  OK(cuStreamEndCapture(f->stream, &captured));
  assert_ptr_equal(captured, graph);
  OK(cuGraphGetEdges(graph, NULL, NULL, NULL, &edges));
  assert_int_equal(edges, 4); /* first to second and third; both to the fourth */
  OK(cuGraphExecDestroy(instantiate_and_run(f, graph)));
  assert_int_equal(word_at(memory + 12), 7);
  assert_int_equal(word_at(memory + 8), 7);
  OK(cuGraphDestroy(graph));
}

/* The result of a call on another thread. */
typedef struct calling {
  const fixture* f;
  CUstreamCaptureMode mode;
  CUstream to_end;
  CUresult result;
} calling;

static void* call_elsewhere(void* given) {
  calling* c = given;
  CUdeviceptr memory = 0;
  CUgraph graph = NULL;
  OK(cuCtxSetCurrent(c->f->context));
  OK(cuThreadExchangeStreamCaptureMode(&c->mode));
  c->result = c->to_end != NULL ? cuStreamEndCapture(c->to_end, &graph) : cuMemAlloc(&memory, 16);
  if (memory != 0) OK(cuMemFree(memory));
  return NULL;
}

static CUresult alloc_elsewhere(const fixture* f, CUstreamCaptureMode mode, CUstream to_end) {
  calling c = {f, mode, to_end, CUDA_ERROR_UNKNOWN};
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, call_elsewhere, &c), 0);
  pthread_join(thread, NULL);
  return c.result;
}

static CUresult alloc_here(void) {
  CUdeviceptr memory = 0;
  const CUresult result = cuMemAlloc(&memory, 16);
  if (result == CUDA_SUCCESS) OK(cuMemFree(memory));
  return result;
}

static void captures_forbid_calls(void** state) {
  enum {
    kGlobal = CU_STREAM_CAPTURE_MODE_GLOBAL,
    kLocal = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
    kRelaxed = CU_STREAM_CAPTURE_MODE_RELAXED
  };
  /* The mode of the capture, that of the thread, whether it is this one, whether it may call. */
  const struct {
    int capture, thread, is_here, allowed;
  } all[] = {
      {kGlobal, kGlobal, 1, 0},  {kGlobal, kLocal, 1, 0},   {kGlobal, kRelaxed, 1, 1},
      {kGlobal, kGlobal, 0, 0},  {kGlobal, kLocal, 0, 1},   {kGlobal, kRelaxed, 0, 1},
      {kLocal, kGlobal, 1, 0},   {kLocal, kGlobal, 0, 1},   {kLocal, kRelaxed, 1, 1},
      {kRelaxed, kGlobal, 1, 1}, {kRelaxed, kGlobal, 0, 1},
  };
  const fixture* f = *state;
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
    CUstreamCaptureMode mode = (CUstreamCaptureMode)all[i].thread;
    CUgraph graph = NULL;
    OK(cuStreamBeginCapture(f->stream, (CUstreamCaptureMode)all[i].capture));
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    assert_int_equal(mode, kGlobal);
    const CUresult result = all[i].is_here
                                ? alloc_here()
                                : alloc_elsewhere(f, (CUstreamCaptureMode)all[i].thread, NULL);
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    assert_int_equal(result, all[i].allowed ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    EXPECT(all[i].allowed ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
           cuStreamEndCapture(f->stream, &graph));
    if (graph != NULL) OK(cuGraphDestroy(graph));
  }
  OK(alloc_here());
}

static void captures_end_where_they_began(void** state) {
  const fixture* f = *state;
  CUgraph graph = NULL;
  OK(cuStreamBeginCapture(f->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  assert_int_equal(alloc_elsewhere(f, CU_STREAM_CAPTURE_MODE_GLOBAL, f->stream),
                   CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
  OK(cuStreamEndCapture(f->stream, &graph));
  OK(cuGraphDestroy(graph));
  OK(cuStreamBeginCapture(f->stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  assert_int_equal(alloc_elsewhere(f, CU_STREAM_CAPTURE_MODE_GLOBAL, f->stream), CUDA_SUCCESS);
  EXPECT(CUDA_ERROR_ILLEGAL_STATE, cuStreamEndCapture(f->stream, &graph));
  /* A stream that goes takes its capture along. */
  CUstream stream = NULL;
  OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  OK(cuStreamDestroy(stream));
  OK(alloc_here());
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(nodes_of_all_types_have_one_form),
      TEST(wrong_nodes_are_refused),
      TEST(nodes_are_switched_off),
      TEST(graphs_record_events),
      TEST(graphs_wait_for_events),
      TEST(external_events_are_captured_as_nodes),
      TEST(graphs_allocate_memory),
      TEST(memory_of_graphs_outlives_the_launch),
      TEST(graphs_look_after_objects),
      TEST(user_objects_follow_the_work),
      TEST(references_of_graphs_are_their_own),
      TEST(streams_are_captured_into_graphs),
      TEST(captures_forbid_calls),
      TEST(captures_end_where_they_began),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
