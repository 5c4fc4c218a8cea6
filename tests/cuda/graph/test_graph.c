/* Graphs: captured ones, explicit ones, what can be asked of them and changed in them. */
#include "support.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void count_call(void* calls) { ++*(atomic_int*)calls; }

static CUdeviceptr new_words(uint32_t count) {
  CUdeviceptr memory = 0;
  OK(cuMemAllocManaged(&memory, 4 * count, CU_MEM_ATTACH_GLOBAL));
  memset((void*)(uintptr_t)memory, 0, 4 * count);
  return memory;
}

static void streams_are_captured(void** state) {
  const fixture* f = *state;
  CUgraph graph = NULL;
  CUgraphExec exec = NULL;
  CUstreamCaptureStatus status;
  CUdeviceptr memory = new_words(64);
  const uint32_t* words = (const uint32_t*)(uintptr_t)memory;
  atomic_int calls = 0;
  uint32_t n = 64;
  size_t count = 0;
  void* arguments[] = {&memory, &n};
  OK(cuStreamBeginCapture(f->stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  OK(cuStreamIsCapturing(f->stream, &status));
  assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  OK(cuMemsetD32Async(memory, 10, n, f->stream));
  OK(cuLaunchKernel(kernel(f, "add_one"), 1, 1, 1, 64, 1, 1, 0, f->stream, arguments, NULL));
  OK(cuLaunchHostFunc(f->stream, count_call, &calls));
  OK(cuStreamEndCapture(f->stream, &graph));
  assert_int_equal(words[5], 0); /* nothing has run */
  OK(cuGraphGetNodes(graph, NULL, &count));
  assert_int_equal(count, 3);
  OK(cuGraphInstantiate(&exec, graph, 0));
  OK(cuGraphLaunch(exec, f->stream));
  OK(cuGraphLaunch(exec, f->stream));
  OK(cuStreamSynchronize(f->stream));
  assert_int_equal(words[5], 11);
  assert_int_equal(calls, 2);
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphDestroy(graph));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(graph));
}

static void captures_can_be_spoilt(void** state) {
  const fixture* f = *state;
  CUgraph graph = (CUgraph)1;
  OK(cuStreamBeginCapture(f->stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT(CUDA_ERROR_ILLEGAL_STATE, cuStreamBeginCapture(f->stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamSynchronize(f->stream));
  EXPECT(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
         cuLaunchKernel(kernel(f, "noop"), 1, 1, 1, 1, 1, 1, 0, f->stream, NULL, NULL));
  EXPECT(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(f->stream, &graph));
  assert_null(graph);
  EXPECT(CUDA_ERROR_ILLEGAL_STATE, cuStreamEndCapture(f->stream, &graph));
  EXPECT(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
         cuStreamBeginCapture(NULL, CU_STREAM_CAPTURE_MODE_GLOBAL));
  /* The legacy stream would have to wait for what does not run. */
  CUstream blocking = NULL;
  OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
  OK(cuStreamBeginCapture(blocking, CU_STREAM_CAPTURE_MODE_GLOBAL));
  EXPECT(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
         cuLaunchKernel(kernel(f, "noop"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
  EXPECT(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(blocking, &graph));
  assert_null(graph);
  OK(cuStreamDestroy(blocking));
}

static void captures_tell_what_they_hold(void** state) {
  const fixture* f = *state;
  CUgraph graph = NULL, ended = NULL;
  CUstreamCaptureStatus status;
  cuuint64_t id = 0;
  const CUgraphNode* nodes = NULL;
  const CUgraphEdgeData* edges = NULL;
  size_t count = 0;
  CUgraphNodeType type;
  OK(cuStreamBeginCapture(f->stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  OK(cuLaunchKernel(kernel(f, "noop"), 1, 1, 1, 1, 1, 1, 0, f->stream, NULL, NULL));
  OK(cuStreamGetCaptureInfo(f->stream, &status, &id, &graph, &nodes, &edges, &count));
  assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  assert_true(id != 0 && graph != NULL);
  assert_int_equal(count, 1);
  OK(cuGraphNodeGetType(nodes[0], &type));
  assert_int_equal(type, CU_GRAPH_NODE_TYPE_KERNEL);
  OK(cuStreamEndCapture(f->stream, &ended));
  assert_ptr_equal(graph, ended);
  OK(cuGraphDestroy(ended));
}

static void graphs_are_made_of_nodes(void** state) {
  const fixture* f = *state;
  CUgraph graph = NULL, clone = NULL;
  CUgraphNode fill = NULL, add = NULL, copy = NULL, again = NULL, from[4], to[4];
  CUgraphExec exec = NULL;
  CUdeviceptr memory = new_words(32);
  uint32_t n = 32, result[32] = {0};
  size_t count = 4;
  void* arguments[] = {&memory, &n};
  CUDA_MEMSET_NODE_PARAMS set = {memory, 0, 5, 4, 32, 1};
  CUDA_KERNEL_NODE_PARAMS launch = {
      kernel(f, "add_one"), 1, 1, 1, 32, 1, 1, 0, arguments, NULL, NULL, NULL};
  CUDA_MEMCPY3D down = {0};
  down.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  down.srcDevice = memory;
  down.dstMemoryType = CU_MEMORYTYPE_HOST;
  down.dstHost = result;
  down.WidthInBytes = sizeof result;
  down.Height = down.Depth = 1;
  OK(cuGraphCreate(&graph, 0));
  OK(cuGraphAddMemsetNode(&fill, graph, NULL, 0, &set, f->context));
  OK(cuGraphAddKernelNode(&add, graph, &fill, 1, &launch));
  OK(cuGraphAddMemcpyNode(&copy, graph, &add, 1, &down, f->context));
  if (!on_nvidias_driver()) { /* which finds circles when the graph is instantiated */
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphAddDependencies(graph, &copy, &fill, NULL, 1));
  }
  OK(cuGraphGetEdges(graph, from, to, NULL, &count));
  assert_int_equal(count, 2);
  assert_ptr_equal(from[0], fill);
  assert_ptr_equal(to[0], add);
  OK(cuGraphInstantiate(&exec, graph, 0));
  OK(cuGraphLaunch(exec, f->stream));
  OK(cuStreamSynchronize(f->stream));
  assert_int_equal(result[31], 6);
  set.value = 100; /* in what runs, not in the graph */
  OK(cuGraphExecMemsetNodeSetParams(exec, fill, &set, f->context));
  OK(cuGraphLaunch(exec, f->stream));
  OK(cuStreamSynchronize(f->stream));
  assert_int_equal(result[31], 101);
  CUDA_MEMSET_NODE_PARAMS read = {0};
  OK(cuGraphMemsetNodeGetParams(fill, &read));
  assert_int_equal(read.value, 5);
  CUDA_KERNEL_NODE_PARAMS kernel_read = {0};
  OK(cuGraphKernelNodeGetParams(add, &kernel_read));
  assert_ptr_equal(kernel_read.func, launch.func);
  assert_int_equal(*(CUdeviceptr*)kernel_read.kernelParams[0], memory);
  OK(cuGraphClone(&clone, graph));
  OK(cuGraphNodeFindInClone(&again, add, clone));
  assert_ptr_not_equal(again, add);
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphDestroyNode(add));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphKernelNodeGetParams(add, &kernel_read));
  OK(cuGraphDestroy(graph));
  OK(cuGraphDestroy(clone));
}

static void copies_of_rows_are_nodes(void** state) {
  const fixture* f = *state;
  enum { kWidth = 12, kRows = 5, kPitch = 20 };
  unsigned char from[kRows][kPitch], to[kRows][kWidth] = {{0}};
  CUgraph graph = NULL;
  CUgraphNode up = NULL, down = NULL;
  CUgraphExec exec = NULL;
  CUDA_MEMCPY3D copy = {0}, read = {0};
  CUdeviceptr memory = new_words(64);
  for (size_t i = 0; i < sizeof from; ++i) ((unsigned char*)from)[i] = (unsigned char)(i * 3);
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = from;
  copy.srcPitch = kPitch;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = memory;
  copy.dstPitch = 16;
  copy.WidthInBytes = kWidth;
  copy.Height = kRows;
  copy.Depth = 1;
  OK(cuGraphCreate(&graph, 0));
  OK(cuGraphAddMemcpyNode(&up, graph, NULL, 0, &copy, f->context));
  OK(cuGraphMemcpyNodeGetParams(up, &read));
  assert_ptr_equal(read.srcHost, from);
  assert_int_equal(read.srcPitch, kPitch);
  assert_int_equal(read.Height, kRows);
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = memory;
  copy.srcPitch = 16;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = to;
  copy.dstPitch = kWidth;
  OK(cuGraphAddMemcpyNode(&down, graph, &up, 1, &copy, f->context));
  OK(cuGraphInstantiate(&exec, graph, 0));
  OK(cuGraphLaunch(exec, f->stream));
  OK(cuStreamSynchronize(f->stream));
  for (int row = 0; row < kRows; ++row) assert_memory_equal(to[row], from[row], kWidth);
}

static void whole_graphs_are_updated(void** state) {
  const fixture* f = *state;
  CUgraph graph = NULL, other = NULL, larger = NULL;
  CUgraphNode node = NULL, more = NULL;
  CUgraphExec exec = NULL;
  CUgraphExecUpdateResultInfo info;
  CUdeviceptr memory = new_words(4);
  const uint32_t* words = (const uint32_t*)(uintptr_t)memory;
  CUDA_MEMSET_NODE_PARAMS set = {memory, 0, 5, 4, 4, 1};
  OK(cuGraphCreate(&graph, 0));
  OK(cuGraphAddMemsetNode(&node, graph, NULL, 0, &set, f->context));
  OK(cuGraphInstantiate(&exec, graph, 0));
  set.value = 6;
  OK(cuGraphCreate(&other, 0));
  OK(cuGraphAddMemsetNode(&node, other, NULL, 0, &set, f->context));
  OK(cuGraphExecUpdate(exec, other, &info));
  assert_int_equal(info.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
  OK(cuGraphLaunch(exec, f->stream));
  OK(cuStreamSynchronize(f->stream));
  assert_int_equal(words[3], 6);
  OK(cuGraphClone(&larger, other));
  OK(cuGraphAddEmptyNode(&more, larger, NULL, 0));
  EXPECT(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(exec, larger, &info));
  assert_int_equal(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
  OK(cuGraphExecDestroy(exec));
}

static void graphs_hold_graphs(void** state) {
  const fixture* f = *state;
  CUgraph inner = NULL, outer = NULL, found = NULL;
  CUgraphNode node = NULL, child = NULL;
  CUgraphExec exec = NULL;
  CUgraphNodeType type;
  atomic_int calls = 0;
  CUDA_HOST_NODE_PARAMS host = {count_call, &calls};
  char path[] = "/tmp/km-graph-XXXXXX";
  OK(cuGraphCreate(&inner, 0));
  OK(cuGraphAddHostNode(&node, inner, NULL, 0, &host));
  OK(cuGraphCreate(&outer, 0));
  OK(cuGraphAddChildGraphNode(&child, outer, NULL, 0, inner));
  OK(cuGraphNodeGetType(child, &type));
  assert_int_equal(type, CU_GRAPH_NODE_TYPE_GRAPH);
  OK(cuGraphChildGraphNodeGetGraph(child, &found));
  assert_non_null(found);
  OK(cuGraphInstantiate(&exec, outer, 0));
  OK(cuGraphDestroy(inner));
  OK(cuGraphLaunch(exec, f->stream));
  OK(cuStreamSynchronize(f->stream));
  assert_int_equal(calls, 1);
  const int file = mkstemp(path);
  assert_true(file >= 0);
  close(file);
  OK(cuGraphDebugDotPrint(outer, path, 0));
  FILE* dot = fopen(path, "r");
  char line[64] = "";
  assert_non_null(fgets(line, sizeof line, dot));
  assert_non_null(strstr(line, "digraph"));
  fclose(dot);
  unlink(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(streams_are_captured),         TEST(captures_can_be_spoilt),
      TEST(captures_tell_what_they_hold), TEST(graphs_are_made_of_nodes),
      TEST(copies_of_rows_are_nodes),     TEST(whole_graphs_are_updated),
      TEST(graphs_hold_graphs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
