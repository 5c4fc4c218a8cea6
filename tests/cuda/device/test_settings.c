/* What a program may set and read back: advice, attributes, core dumps, logs; copies in batches,
 * events of whole contexts. */
#include "support.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Libraries before CUDA 13.1 lack these functions. */
#pragma weak cuGraphGetId
#pragma weak cuMemcpy3DWithAttributesAsync

static void managed_memory_is_advised(void** state) {
  const fixture* f = *state;
  CUdeviceptr memory = 0, other = 0;
  int value = 9, devices[3] = {9, 9, 9};
  CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, {0}}, host = {CU_MEM_LOCATION_TYPE_HOST, {0}};
  OK(cuMemAllocManaged(&memory, 4096, CU_MEM_ATTACH_GLOBAL));
  OK(cuMemRangeGetAttribute(&value, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory, 4096));
  assert_int_equal(value, 0);
  OK(cuMemRangeGetAttribute(&value, 4, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, memory, 4096));
  assert_int_equal(value, -2); /* none */
  OK(cuMemAdvise(memory, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, here));
  OK(cuMemAdvise(memory, 4096, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, host));
  OK(cuMemAdvise(memory, 4096, CU_MEM_ADVISE_SET_ACCESSED_BY, here));
  OK(cuMemPrefetchAsync(memory, 4096, here, 0, f->stream));
  int read_mostly = 9, preferred = 9, type = 9, prefetched = 9;
  void* values[] = {&read_mostly, &preferred, &type, &prefetched, devices};
  size_t sizes[] = {4, 4, 4, 4, sizeof devices};
  CUmem_range_attribute attributes[] = {
      CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION,
      CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION,
      CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY};
  OK(cuMemRangeGetAttributes(values, sizes, attributes, 5, memory, 4096));
  assert_int_equal(read_mostly, 1);
  assert_int_equal(preferred, -1);
  assert_int_equal(type, CU_MEM_LOCATION_TYPE_HOST);
  assert_int_equal(prefetched, 0);
  assert_int_equal(devices[0], 0);
  assert_int_equal(devices[1], -2);
  OK(cuMemAdvise(memory, 4096, CU_MEM_ADVISE_UNSET_ACCESSED_BY, here));
  OK(cuMemRangeGetAttribute(devices, 4, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, memory, 4096));
  assert_int_equal(devices[0], -2);
  EXPECT(CUDA_ERROR_INVALID_VALUE,
         cuMemRangeGetAttribute(&value, 3, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory, 4096));
  EXPECT(CUDA_ERROR_INVALID_VALUE,
         cuMemRangeGetAttribute(&value, 4, (CUmem_range_attribute)77, memory, 4096));
  OK(cuMemAlloc(&other, 64));
  EXPECT(CUDA_ERROR_INVALID_VALUE,
         cuMemRangeGetAttribute(&value, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, other, 64));
  size_t bytes = 4096, first = 0;
  OK(cuMemPrefetchBatchAsync(&memory, &bytes, 1, &host, &first, 1, 0, f->stream));
  OK(cuMemRangeGetAttribute(&value, 4, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, memory, 1));
  assert_int_equal(value, -1);
  OK(cuMemDiscardBatchAsync(&memory, &bytes, 1, 0, f->stream));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemDiscardBatchAsync(&other, &bytes, 1, 0, f->stream));
  OK(cuMemFree(other));
  OK(cuMemFree(memory));
}

static void copies_come_in_batches(void** state) {
  const fixture* f = *state;
  uint32_t from[4] = {1, 2, 3, 4}, to[4] = {0};
  CUdeviceptr memory = 0;
  size_t first = 0;
  CUmemcpyAttributes order;
  memset(&order, 0, sizeof order);
  order.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  OK(cuMemAlloc(&memory, 16));
  CUdeviceptr targets[] = {memory, memory + 8, (CUdeviceptr)(uintptr_t)to};
  CUdeviceptr sources[] = {(CUdeviceptr)(uintptr_t)from, (CUdeviceptr)(uintptr_t)(from + 2),
                           memory};
  size_t sizes[] = {8, 8, 16};
  OK(cuMemcpyBatchAsync(targets, sources, sizes, 3, &order, &first, 1, f->stream));
  OK(cuStreamSynchronize(f->stream));
  assert_memory_equal(from, to, sizeof to);
  EXPECT(CUDA_ERROR_INVALID_VALUE,
         cuMemcpyBatchAsync(targets, sources, sizes, 0, &order, &first, 1, f->stream));
  EXPECT(CUDA_ERROR_INVALID_VALUE,
         cuMemcpyBatchAsync(targets, sources, sizes, 3, &order, &first, 1, NULL));
  sizes[1] = 9; /* beyond the end */
  EXPECT(CUDA_ERROR_INVALID_VALUE,
         cuMemcpyBatchAsync(targets, sources, sizes, 3, &order, &first, 1, f->stream));
  order.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_INVALID;
  EXPECT(CUDA_ERROR_INVALID_VALUE,
         cuMemcpyBatchAsync(targets, sources, sizes, 3, &order, &first, 1, f->stream));
  OK(cuStreamSynchronize(f->stream));
  OK(cuMemFree(memory));
}

/* Of 2 layers of 3 rows of 4 bytes. */
static CUDA_MEMCPY3D_BATCH_OP block(CUdeviceptr to, CUdeviceptr from) {
  CUDA_MEMCPY3D_BATCH_OP op;
  memset(&op, 0, sizeof op);
  op.src.type = op.dst.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
  op.src.op.ptr.ptr = from;
  op.dst.op.ptr.ptr = to;
  op.extent.width = 4;
  op.extent.height = 3;
  op.extent.depth = 2;
  op.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  return op;
}

static void copies_of_blocks_come_in_batches(void** state) {
  if (cuMemcpy3DWithAttributesAsync == NULL) skip();
  const fixture* f = *state;
  unsigned char host[24], read[64];
  CUdeviceptr memory = 0;
  for (int i = 0; i < 24; ++i) host[i] = (unsigned char)(i + 1);
  OK(cuMemAlloc(&memory, 64));
  OK(cuMemsetD8(memory, 0, 64));
  CUDA_MEMCPY3D_BATCH_OP ops[2] = {block(memory, (CUdeviceptr)(uintptr_t)host),
                                   block((CUdeviceptr)(uintptr_t)read, memory)};
  ops[0].dst.op.ptr.rowLength = 8;
  ops[0].dst.op.ptr.layerHeight = 4;
  ops[1].src = ops[0].dst;
  OK(cuMemcpy3DBatchAsync(2, ops, 0, f->stream));
  OK(cuStreamSynchronize(f->stream));
  assert_memory_equal(read, host, 24);
  OK(cuMemcpyDtoH(read, memory, 64));
  assert_memory_equal(read + 8, host + 4, 4);   /* the second row */
  assert_memory_equal(read + 32, host + 12, 4); /* the second layer */
  assert_int_equal(read[4], 0);
  OK(cuMemcpy3DWithAttributesAsync(&ops[1], 0, f->stream));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpy3DBatchAsync(0, ops, 0, f->stream));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpy3DBatchAsync(1, ops, 1, f->stream));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpy3DBatchAsync(1, ops, 0, NULL));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpy3DBatchAsync(1, NULL, 0, f->stream));
  ops[0].dst.op.ptr.rowLength = 3; /* less than the width */
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpy3DBatchAsync(1, ops, 0, f->stream));
  ops[0] = block(memory, memory + 32);
  ops[0].srcAccessOrder = 0;
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpy3DBatchAsync(1, ops, 0, f->stream));
  ops[0] = block(memory, memory + 32);
  ops[0].extent.depth = 0;
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpy3DBatchAsync(1, ops, 0, f->stream));
  ops[0] = block(memory, memory + 32);
  ops[0].dst.type = CU_MEMCPY_OPERAND_TYPE_ARRAY;
  EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuMemcpy3DBatchAsync(1, ops, 0, f->stream));
  ops[0].dst.type = 0;
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpy3DBatchAsync(1, ops, 0, f->stream));
  OK(cuStreamSynchronize(f->stream));
  OK(cuMemFree(memory));
}

static void wait_for_flag(void* flag) {
  while (!*(atomic_int*)flag) usleep(100);
}

static void contexts_record_events(void** state) {
  const fixture* f = *state;
  atomic_int flag = 0;
  CUevent event = NULL;
  CUstream other = NULL;
  OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  OK(cuLaunchHostFunc(other, wait_for_flag, &flag));
  OK(cuCtxRecordEvent(f->context, event));
  EXPECT(CUDA_ERROR_NOT_READY, cuEventQuery(event));
  OK(cuCtxWaitEvent(f->context, event));
  EXPECT(CUDA_ERROR_NOT_READY, cuStreamQuery(f->stream));
  flag = 1;
  OK(cuEventSynchronize(event));
  OK(cuStreamSynchronize(f->stream));
  EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuCtxRecordEvent(NULL, event));
  EXPECT(CUDA_ERROR_INVALID_HANDLE, cuCtxWaitEvent(f->context, NULL));
  OK(cuStreamDestroy(other));
  CUexecAffinityParam affinity;
  int count = 0;
  OK(cuCtxGetExecAffinity(&affinity, CU_EXEC_AFFINITY_TYPE_SM_COUNT));
  OK(cuDeviceGetAttribute(&count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, f->device));
  assert_int_equal(affinity.param.smCount.val, count);
}

static void streams_keep_attributes(void** state) {
  const fixture* f = *state;
  CUstream other = NULL;
  CUstreamAttrValue value, read;
  memset(&value, 0, sizeof value);
  OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  OK(cuStreamGetAttribute(f->stream, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &read));
  assert_int_equal(read.syncPolicy, CU_SYNC_POLICY_AUTO);
  value.syncPolicy = CU_SYNC_POLICY_YIELD;
  OK(cuStreamSetAttribute(f->stream, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
  OK(cuStreamCopyAttributes(other, f->stream));
  OK(cuStreamGetAttribute(other, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &read));
  assert_int_equal(read.syncPolicy, CU_SYNC_POLICY_YIELD);
  OK(cuStreamGetAttribute(other, CU_LAUNCH_ATTRIBUTE_PRIORITY, &read));
  assert_int_equal(read.priority, 0);
  EXPECT(CUDA_ERROR_INVALID_VALUE,
         cuStreamGetAttribute(other, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &read));
  OK(cuStreamDestroy(other));
}

static void kernel_nodes_keep_attributes(void** state) {
  if (cuGraphGetId == NULL) skip();
  const fixture* f = *state;
  CUgraph graph = NULL, second = NULL;
  CUgraphNode node, copy, empty;
  unsigned id = 0, other_id = 0;
  CUDA_KERNEL_NODE_PARAMS params;
  CUkernelNodeAttrValue value, read;
  memset(&params, 0, sizeof params);
  memset(&value, 0, sizeof value);
  params.func = kernel(f, "noop");
  params.gridDimX = params.gridDimY = params.gridDimZ = 1;
  params.blockDimX = params.blockDimY = params.blockDimZ = 1;
  OK(cuGraphCreate(&graph, 0));
  OK(cuGraphCreate(&second, 0));
  OK(cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
  OK(cuGraphAddKernelNode(&copy, graph, NULL, 0, &params));
  OK(cuGraphAddEmptyNode(&empty, graph, NULL, 0));
  value.priority = -2;
  OK(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
  OK(cuGraphKernelNodeCopyAttributes(copy, node));
  OK(cuGraphKernelNodeGetAttribute(copy, CU_LAUNCH_ATTRIBUTE_PRIORITY, &read));
  assert_int_equal(read.priority, -2);
  value.clusterDim.x = 2;
  value.clusterDim.y = value.clusterDim.z = 1;
  OK(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value));
  OK(cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &read));
  assert_int_equal(read.clusterDim.x, 2);
  OK(cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &read));
  assert_int_equal(read.cooperative, 0);
  OK(cuGraphKernelNodeSetParams(node, &params)); /* which are apart from attributes */
  OK(cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &read));
  assert_int_equal(read.clusterDim.x, 2);
  value.clusterDim.x = 1000;
  EXPECT(CUDA_ERROR_INVALID_CLUSTER_SIZE,
         cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value));
  EXPECT(CUDA_ERROR_INVALID_VALUE,
         cuGraphKernelNodeGetAttribute(empty, CU_LAUNCH_ATTRIBUTE_PRIORITY, &read));
  OK(cuGraphGetId(graph, &id));
  OK(cuGraphGetId(second, &other_id));
  assert_int_not_equal(id, other_id);
  OK(cuGraphDestroy(graph));
  OK(cuGraphDestroy(second));
}

static void core_dumps_have_settings(void** state) {
  const fixture* f = *state;
  bool on = true, read = false;
  char name[1024] = "";
  size_t size = 0;
  (void)f;
  OK(cuCoredumpGetAttribute(CU_COREDUMP_ENABLE_ON_EXCEPTION, NULL, &size));
  assert_int_equal(size, 1);
  OK(cuCoredumpGetAttributeGlobal(CU_COREDUMP_TRIGGER_HOST, &read, &size));
  assert_true(read);
  OK(cuCoredumpSetAttributeGlobal(CU_COREDUMP_LIGHTWEIGHT, &on, &size));
  OK(cuCoredumpGetAttribute(CU_COREDUMP_LIGHTWEIGHT, &read, &size));
  assert_true(read);
  on = false;
  OK(cuCoredumpSetAttribute(CU_COREDUMP_LIGHTWEIGHT, &on, &size));
  OK(cuCoredumpGetAttribute(CU_COREDUMP_LIGHTWEIGHT, &read, &size));
  assert_false(read);
  char file[] = "dump.%p";
  size = sizeof file;
  OK(cuCoredumpSetAttribute(CU_COREDUMP_FILE, file, &size));
  size = sizeof name;
  OK(cuCoredumpGetAttribute(CU_COREDUMP_FILE, name, &size));
  assert_string_equal(name, file);
  size = 3;
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuCoredumpGetAttribute(CU_COREDUMP_FILE, name, &size));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuCoredumpGetAttribute((CUcoredumpSettings)99, name, &size));
  EXPECT(CUDA_ERROR_NOT_PERMITTED, cuCoredumpSetAttribute(CU_COREDUMP_PIPE, name, &size));
}

static void CUDA_CB keep_message(void* data, CUlogLevel level, char* message, size_t length) {
  assert_int_equal(level, CU_LOG_LEVEL_ERROR);
  assert_int_equal(strlen(message), length);
  snprintf(data, 200, "%s", message);
}

static void logs_are_kept(void** state) {
  CUlogsCallbackHandle handle = NULL;
  CUlogIterator begin = 0, at = 0;
  char told[200] = "", text[4000] = "", path[] = "/tmp/km-logs-XXXXXX";
  size_t size = sizeof text;
  (void)state;
  OK(cuLogsCurrent(&begin, 0));
  at = begin;
  OK(cuLogsDumpToMemory(&at, text, &size, 0));
  assert_int_equal(size, 0);
  OK(cuLogsRegisterCallback(keep_message, told, &handle));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemFree(0x1234));
  assert_non_null(strstr(told, "0x1234"));
  OK(cuLogsUnregisterCallback(handle));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuLogsUnregisterCallback(handle));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemFree(0x5678));
  assert_null(strstr(told, "0x5678"));
  size = sizeof text;
  OK(cuLogsDumpToMemory(&at, text, &size, 0));
  assert_non_null(strstr(text, "0x1234"));
  assert_non_null(strstr(text, "0x5678"));
  assert_int_equal(strlen(text), size);
  size = sizeof text;
  OK(cuLogsDumpToMemory(&at, text, &size, 0)); /* it went on */
  assert_int_equal(size, 0);
  const int file = mkstemp(path);
  assert_true(file >= 0);
  close(file);
  OK(cuLogsDumpToFile(&begin, path, 0));
  FILE* dumped = fopen(path, "r");
  assert_non_null(fgets(text, sizeof text, dumped));
  assert_non_null(strstr(text, "0x1234"));
  fclose(dumped);
  unlink(path);
}

/* With a capture goes its graph, with that the memory of its nodes, with that the stream that used
 * it last, which is captured itself. */
static void a_capture_that_goes_may_take_another_along(void** state) {
  CUstream origin = NULL, other = NULL;
  CUdeviceptr memory = 0;
  (void)state;
  OK(cuStreamCreate(&origin, CU_STREAM_NON_BLOCKING));
  OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  OK(cuMemAlloc(&memory, 4 << 20));
  OK(cuMemsetD8Async(memory, 0, 16, other));
  OK(cuStreamSynchronize(other));
  OK(cuStreamBeginCapture(origin, CU_STREAM_CAPTURE_MODE_RELAXED));
  OK(cuMemsetD8Async(memory, 1, 16, origin));
  OK(cuStreamBeginCapture(other, CU_STREAM_CAPTURE_MODE_RELAXED));
  cuMemFree(memory);
  OK(cuStreamDestroy(other));
  OK(cuStreamDestroy(origin)); /* its capture is the last that keeps the other stream */
}

/* The graph of a capture is a graph: nodes can be taken out of it. */
static void a_captured_node_can_be_destroyed(void** state) {
  const fixture* f = *state;
  CUdeviceptr memory = 0;
  CUstreamCaptureStatus status;
  CUgraph graph = NULL, ended = NULL;
  const CUgraphNode* nodes = NULL;
  size_t count = 0;
  OK(cuMemAlloc(&memory, 64));
  OK(cuStreamBeginCapture(f->stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  OK(cuMemsetD8Async(memory, 1, 16, f->stream));
  OK(cuStreamGetCaptureInfo(f->stream, &status, NULL, &graph, &nodes, NULL, &count));
  assert_int_equal(count, 1);
  OK(cuGraphDestroyNode(nodes[0]));
  OK(cuStreamEndCapture(f->stream, &ended));
  assert_ptr_equal(ended, graph);
  OK(cuGraphGetNodes(ended, NULL, &count));
  assert_int_equal(count, 0);
  OK(cuGraphDestroy(ended));
  OK(cuMemFree(memory));
}

typedef struct listener {
  CUdeviceptr memory;
  int calls, depth, deepest;
} listener;

/* Fails in its own call, in the way in which the call that it hears of has. */
static void CUDA_CB call_again(void* data, CUlogLevel level, char* message, size_t length) {
  listener* heard = data;
  (void)level, (void)message, (void)length;
  ++heard->calls;
  if (++heard->depth > heard->deepest) heard->deepest = heard->depth;
  cuMemsetD32Async(heard->memory, 0, 1, CU_STREAM_LEGACY);
  --heard->depth;
}

static void listeners_may_make_calls(void** state) {
  CUlogsCallbackHandle handle = NULL;
  CUstream captured = NULL;
  CUgraph graph = NULL;
  listener heard = {0, 0, 0, 0};
  (void)state;
  OK(cuMemAlloc(&heard.memory, 64));
  OK(cuStreamCreate(&captured, CU_STREAM_DEFAULT));
  OK(cuStreamBeginCapture(captured, CU_STREAM_CAPTURE_MODE_RELAXED));
  OK(cuLogsRegisterCallback(call_again, &heard, &handle));
  EXPECT(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
         cuMemsetD32Async(heard.memory, 0, 1, CU_STREAM_LEGACY));
  OK(cuLogsUnregisterCallback(handle));
  assert_int_equal(heard.calls, 1);
  assert_int_equal(heard.deepest, 1);
  EXPECT(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(captured, &graph));
  assert_null(graph);
  OK(cuStreamDestroy(captured));
  OK(cuMemFree(heard.memory));
}

static void* use_per_thread_stream(void* fixture_state) {
  const fixture* f = fixture_state;
  OK(cuCtxSetCurrent(f->context));
  return (void*)(intptr_t)cuStreamQuery(CU_STREAM_PER_THREAD);
}

/* A stream of a thread that could not be made is none of the context's. */
static void streams_that_were_not_made_are_no_streams(void** state) {
  const fixture* f = *state;
  CUcontext context = NULL;
  CUmodule module = NULL;
  CUfunction crash = NULL;
  CUevent event = NULL;
  pthread_t thread;
  void* result = NULL;
  OK(cuCtxCreate(&context, NULL, 0, f->device));
  OK(cuModuleLoadData(&module, kernels_ptx));
  OK(cuModuleGetFunction(&crash, module, "crash"));
  OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  OK(cuLaunchKernel(crash, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
  EXPECT(CUDA_ERROR_LAUNCH_FAILED, cuCtxSynchronize());
  const fixture failed = {f->device, context, NULL, NULL};
  pthread_create(&thread, NULL, use_per_thread_stream, (void*)&failed);
  pthread_join(thread, &result);
  assert_int_equal((intptr_t)result, CUDA_ERROR_LAUNCH_FAILED);
  assert_int_equal(cuStreamQuery(CU_STREAM_PER_THREAD), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT(CUDA_ERROR_LAUNCH_FAILED, cuCtxRecordEvent(context, event));
  OK(cuCtxDestroy(context));
  OK(cuCtxSetCurrent(f->context));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(managed_memory_is_advised),
      TEST(copies_come_in_batches),
      TEST(copies_of_blocks_come_in_batches),
      TEST(contexts_record_events),
      TEST(streams_keep_attributes),
      TEST(kernel_nodes_keep_attributes),
      TEST(core_dumps_have_settings),
      TEST(logs_are_kept),
      TEST(a_capture_that_goes_may_take_another_along),
      TEST(a_captured_node_can_be_destroyed),
      TEST(listeners_may_make_calls),
      TEST(streams_that_were_not_made_are_no_streams),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
