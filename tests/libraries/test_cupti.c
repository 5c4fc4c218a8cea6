/* CUPTI's callback and activity APIs: calls that are told of, and records of operations. Structures
 * are those of CUDA 13. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { DRIVER_API = 1, RUNTIME_API = 2, RESOURCE = 3, SYNCHRONIZE = 4, NVTX = 5 };
enum { INVALID_PARAMETER = 1, INVALID_CONTEXT = 3, NOT_COMPATIBLE = 14, QUEUE_EMPTY = 18 };
enum { INVALID_STREAM = 20, INVALID_KIND = 21, NOT_SUPPORTED = 27, MAX_LIMIT = 12 };
enum { MEMCPY = 1, MEMSET = 2, KERNEL = 3, DRIVER = 4, RUNTIME = 5, CONCURRENT_KERNEL = 10 };
enum { SYNCHRONIZATION = 38, EXTERNAL = 39, ONE_SUBSCRIBER = 39, TOO_SMALL = 10 };
enum { cbid_cuMemAlloc = 243, cbid_cuLaunchKernel = 307, cbid_cudaMalloc = 20 };

typedef struct {
  int site;
  const char* function;
  const void* parameters;
  const void* result;
  const char* symbol;
  CUcontext context;
  uint32_t context_id;
  uint64_t* word;
  uint32_t correlation;
} callback_data;
typedef void (*callback)(void*, int, uint32_t, const void*);

int cuptiSubscribe(void**, callback, void*);
int cuptiUnsubscribe(void*);
int cuptiEnableCallback(uint32_t, void*, int, uint32_t);
int cuptiEnableDomain(uint32_t, void*, int);
int cuptiEnableAllDomains(uint32_t, void*);
int cuptiGetCallbackState(uint32_t*, void*, int, uint32_t);
int cuptiGetCallbackName(int, uint32_t, const char**);
int cuptiActivityEnable(int);
int cuptiActivityDisable(int);
int cuptiActivityRegisterCallbacks(void (*)(uint8_t**, size_t*, size_t*),
                                   void (*)(CUcontext, uint32_t, uint8_t*, size_t, size_t));
int cuptiActivityFlushAll(uint32_t);
int cuptiActivityGetNextRecord(uint8_t*, size_t, void**);
int cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t*);
int cuptiActivityPushExternalCorrelationId(int, uint64_t);
int cuptiActivityPopExternalCorrelationId(int, uint64_t*);
int cuptiActivityEnableRuntimeApi(uint32_t, uint8_t);
int cuptiActivityGetAttribute(int, size_t*, void*);
int cuptiActivitySetAttribute(int, size_t*, void*);
int cuptiActivityRegisterTimestampCallback(uint64_t (*)(void));
int cuptiGetTimestamp(uint64_t*);
int cuptiGetVersion(uint32_t*);
int cuptiGetContextId(CUcontext, uint32_t*);
int cuptiGetDeviceId(CUcontext, uint32_t*);
int cuptiGetStreamId(CUcontext, CUstream, uint32_t*);
int cuptiGetStreamIdEx(CUcontext, CUstream, uint8_t, uint32_t*);
int cuptiGetResultString(int, const char**);
int cuptiGetLastError(void);
int cuptiGetGraphExecId(CUgraphExec, uint32_t*);
int cuptiEventGroupCreate(CUcontext, void**, uint32_t);

static const char kPtx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry count(.param .u64 at) {\n"
    "  .reg .u64 %a; .reg .u32 %v;\n  .shared .b32 kept[16];\n"
    "  ld.param.u64 %a, [at];\n  mov.u32 %v, 1;\n  st.shared.u32 [kept], %v;\n  red.global.add.u32 "
    "[%a], %v;\n  ret;\n}\n";

static CUfunction g_count;
static CUdeviceptr g_counter;

static int set_up(void** state) {
  (void)state;
  CUmodule module = NULL;
  return cudaFree(NULL) != cudaSuccess || cuModuleLoadData(&module, kPtx) != CUDA_SUCCESS ||
         cuModuleGetFunction(&g_count, module, "count") != CUDA_SUCCESS ||
         cuMemAlloc(&g_counter, 4) != CUDA_SUCCESS;
}

static void launch(unsigned blocks, unsigned threads, CUstream stream) {
  void* arguments[] = {&g_counter};
  assert_int_equal(CUDA_SUCCESS, cuLaunchKernel(g_count, blocks, 1, 1, threads, 1, 1, 0, stream,
                                                arguments, NULL));
}

/* What a subscriber heard of one callback. */
typedef struct {
  int enters, exits;
  size_t size_bytes; /* of cuMemAlloc and cudaMalloc */
  int result;
  char symbol[64];
  uint32_t correlation, context_id;
  uint64_t word;
} heard;
static heard g_driver_alloc, g_runtime_alloc, g_launch;
static int g_resources[32], g_waits[4], g_others;

static void hear_call(heard* of, const callback_data* data) {
  if (data->site == 0) {
    ++of->enters;
    *data->word = 0x1234567890abcdefu ^ data->correlation;
  } else {
    ++of->exits;
    of->result = *(const int*)data->result;
    of->word = *data->word ^ data->correlation;
  }
  of->correlation = data->correlation;
  of->context_id = data->context_id;
  if (data->symbol != NULL) strncpy(of->symbol, data->symbol, sizeof of->symbol - 1);
}

typedef struct {
  CUgraph graph, original;
  CUgraphNode node, original_node;
  int node_type;
} graph_data;
static graph_data g_graph; /* of the node that was cloned */

static void hear(void* user_data, int domain, uint32_t number, const void* data) {
  assert_ptr_equal(user_data, &g_others);
  if (domain == RESOURCE) {
    ++g_resources[number];
    const struct {
      CUcontext context;
      CUstream stream;
      const graph_data* graph;
    }* const resource = data;
    if (number == 20) g_graph = *resource->graph;
  } else if (domain == SYNCHRONIZE) {
    ++g_waits[number];
  } else if (domain == DRIVER_API && number == cbid_cuMemAlloc) {
    hear_call(&g_driver_alloc, data);
    g_driver_alloc.size_bytes = ((const struct {
                                   CUdeviceptr* at;
                                   size_t size;
                                 }*)((const callback_data*)data)
                                     ->parameters)
                                    ->size;
  } else if (domain == RUNTIME_API && number == cbid_cudaMalloc) {
    hear_call(&g_runtime_alloc, data);
  } else if (domain == DRIVER_API && number == cbid_cuLaunchKernel) {
    hear_call(&g_launch, data);
  } else {
    ++g_others;
  }
}

/* A graph with one node is made, cloned, instantiated and destroyed. */
static void check_graphs(void) {
  CUgraph graph = NULL, clone = NULL;
  CUgraphNode node = NULL;
  CUgraphExec exec = NULL;
  assert_int_equal(CUDA_SUCCESS, cuGraphCreate(&graph, 0));
  assert_int_equal(CUDA_SUCCESS, cuGraphAddEmptyNode(&node, graph, NULL, 0));
  assert_int_equal(CUDA_SUCCESS, cuGraphClone(&clone, graph));
  assert_int_equal(CUDA_SUCCESS, cuGraphInstantiateWithFlags(&exec, clone, 0));
  assert_int_equal(CUDA_SUCCESS, cuGraphExecDestroy(exec));
  assert_int_equal(CUDA_SUCCESS, cuGraphDestroy(clone));
  const int graph_calls[] = {9, 10, 11, 13, 17, 18, 19, 20};
  for (size_t i = 0; i < sizeof graph_calls / sizeof *graph_calls; ++i) {
    assert_int_equal(1, g_resources[graph_calls[i]]);
  }
  assert_ptr_equal(graph, g_graph.original);
  assert_ptr_equal(clone, g_graph.graph);
  assert_ptr_equal(node, g_graph.original_node);
  assert_non_null(g_graph.node);
  assert_int_equal(CU_GRAPH_NODE_TYPE_EMPTY, g_graph.node_type);
  assert_int_equal(CUDA_SUCCESS, cuGraphDestroy(graph));
}

typedef struct {
  size_t size;
  const char* name;
  char* old_name;
  size_t old_size;
  uint8_t allows_several, padding[7];
} subscriber_params;
int cuptiSubscribe_v2(void**, callback, void*, subscriber_params*);

/* A subscriber may have a name, which the next one is told. */
static void subscribers_have_names(void** state) {
  (void)state;
  enum { PARAMS = 33 };
  void *subscriber = NULL, *other = NULL;
  char old_name[64] = "", short_name[9] = "........";
  subscriber_params first = {PARAMS, "a tool", NULL, 0, 0, {0}};
  subscriber_params second = {PARAMS, NULL, old_name, sizeof old_name, 0, {0}};
  assert_int_equal(0, cuptiSubscribe_v2(&subscriber, hear, NULL, &first));
  assert_int_equal(ONE_SUBSCRIBER, cuptiSubscribe_v2(&other, hear, NULL, &second));
  assert_string_equal(old_name, "CUPTI for a tool");
  second.old_name = short_name, second.old_size = 6;
  assert_int_equal(ONE_SUBSCRIBER, cuptiSubscribe_v2(&other, hear, NULL, &second));
  assert_string_equal(short_name, "CUPTI");
  assert_int_equal(0, cuptiUnsubscribe(subscriber));
  first.allows_several = 1;
  assert_int_equal(ONE_SUBSCRIBER, cuptiSubscribe_v2(&subscriber, hear, NULL, &first));
  first.allows_several = 0, first.size = 8;
  assert_int_equal(INVALID_PARAMETER, cuptiSubscribe_v2(&subscriber, hear, NULL, &first));
  first.size = PARAMS, first.name = (const char*)24;
  assert_int_equal(INVALID_PARAMETER, cuptiSubscribe_v2(&subscriber, hear, NULL, &first));
  assert_int_equal(INVALID_PARAMETER,
                   cuptiSubscribe_v2(&subscriber, hear, NULL, (subscriber_params*)8));
  assert_int_equal(0, cuptiSubscribe_v2(&subscriber, hear, NULL, NULL));
  assert_int_equal(0, cuptiUnsubscribe(subscriber));
}

static void calls_are_told_of_at_both_ends(void** state) {
  (void)state;
  void *subscriber = NULL, *other = NULL, *memory = NULL;
  assert_int_equal(0, cuptiSubscribe(&subscriber, hear, &g_others));
  assert_int_equal(ONE_SUBSCRIBER, cuptiSubscribe(&other, hear, &g_others));
  assert_int_equal(0, cuptiEnableCallback(1, subscriber, DRIVER_API, cbid_cuMemAlloc));
  assert_int_equal(0, cuptiEnableCallback(1, subscriber, DRIVER_API, cbid_cuLaunchKernel));
  assert_int_equal(0, cuptiEnableCallback(1, subscriber, RUNTIME_API, cbid_cudaMalloc));
  assert_int_equal(0, cuptiEnableDomain(1, subscriber, RESOURCE));
  assert_int_equal(0, cuptiEnableDomain(1, subscriber, SYNCHRONIZE));
  uint32_t is_on = 7;
  assert_int_equal(0, cuptiGetCallbackState(&is_on, subscriber, DRIVER_API, cbid_cuMemAlloc));
  assert_int_equal(1, is_on);

  assert_int_equal(cudaSuccess, cudaMalloc(&memory, 12345));
  assert_int_equal(1, g_runtime_alloc.enters);
  assert_int_equal(1, g_runtime_alloc.exits);
  assert_int_equal(1, g_driver_alloc.enters);
  assert_int_equal(1, g_driver_alloc.exits);
  assert_int_equal(12345, g_driver_alloc.size_bytes);
  assert_int_equal(0, g_driver_alloc.result);
  assert_true(g_driver_alloc.word == 0x1234567890abcdefu);
  /* The driver's call is a part of the runtime's. */
  assert_int_equal(g_runtime_alloc.correlation, g_driver_alloc.correlation);
  uint32_t context_id = 0;
  CUcontext context = NULL;
  cuCtxGetCurrent(&context);
  assert_int_equal(0, cuptiGetContextId(context, &context_id));
  assert_int_equal(context_id, g_driver_alloc.context_id);

  CUdeviceptr too_large = 0;
  assert_int_not_equal(CUDA_SUCCESS, cuMemAlloc(&too_large, (size_t)1 << 60));
  assert_int_equal(CUDA_ERROR_OUT_OF_MEMORY, g_driver_alloc.result);
  assert_int_not_equal(g_runtime_alloc.correlation, g_driver_alloc.correlation);

  launch(2, 3, NULL);
  assert_string_equal("count", g_launch.symbol);
  CUstream stream = NULL;
  assert_int_equal(CUDA_SUCCESS, cuStreamCreate(&stream, 0));
  assert_int_equal(CUDA_SUCCESS, cuStreamSynchronize(stream));
  assert_int_equal(CUDA_SUCCESS, cuCtxSynchronize());
  assert_int_equal(CUDA_SUCCESS, cuStreamDestroy(stream));
  assert_int_equal(1, g_resources[3]);
  assert_int_equal(1, g_resources[4]);
  check_graphs();
  assert_int_equal(1, g_waits[1]);
  assert_int_equal(1, g_waits[2]);
  assert_int_equal(0, g_others);

  assert_int_equal(0, cuptiEnableCallback(0, subscriber, DRIVER_API, cbid_cuMemAlloc));
  const int enters = g_driver_alloc.enters;
  assert_int_equal(cudaSuccess, cudaFree(memory));
  assert_int_equal(cudaSuccess, cudaMalloc(&memory, 1));
  assert_int_equal(enters, g_driver_alloc.enters);
  assert_int_equal(0, cuptiUnsubscribe(subscriber));
  assert_int_equal(cudaSuccess, cudaFree(memory));
  assert_int_equal(2, g_runtime_alloc.enters);
  assert_int_equal(INVALID_PARAMETER, cuptiUnsubscribe(subscriber));
  assert_int_equal(0, cuptiSubscribe(&subscriber, hear, &g_others));
  assert_int_equal(0, cuptiUnsubscribe(subscriber));
}

/* Records that the program got. */
typedef struct {
  int32_t kind;
  uint32_t number;
  uint64_t begin_ns, end_ns;
  uint32_t process, thread, correlation, result;
} api_record;
typedef struct {
  int32_t kind, external_kind;
  uint64_t id;
  uint32_t correlation, reserved;
} external_record;
typedef struct {
  int32_t kind;
  uint8_t copy_kind, source_kind, destination_kind, flags;
  uint64_t size_bytes, begin_ns, end_ns;
  uint32_t device, context, stream, correlation;
} copy_record;

static char g_records[4096][256];
static int g_record_count, g_buffers;
static size_t g_buffer_bytes = 1 << 16;

static void request(uint8_t** buffer, size_t* size_bytes, size_t* most) {
  *buffer = malloc(g_buffer_bytes);
  *size_bytes = g_buffer_bytes;
  *most = 0;
  ++g_buffers;
}

static void complete(CUcontext context, uint32_t stream, uint8_t* buffer, size_t size,
                     size_t valid_bytes) {
  (void)context, (void)stream, (void)size;
  void* record = NULL;
  while (cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == 0) {
    const size_t left = (size_t)(buffer + valid_bytes - (uint8_t*)record);
    memcpy(g_records[g_record_count++ % 4096], record, left < 256 ? left : 256);
  }
  assert_int_equal(MAX_LIMIT, cuptiActivityGetNextRecord(buffer, valid_bytes, &record));
  free(buffer);
}

static const void* find(int kind, int from) {
  for (int i = from; i < g_record_count; ++i) {
    if (*(const int32_t*)g_records[i] == kind) return g_records[i];
  }
  return NULL;
}
static int count(int kind) {
  int found = 0;
  for (int i = 0; i < g_record_count; ++i) found += *(const int32_t*)g_records[i] == kind;
  return found;
}
/* The record of the call of this function; the test fails if there is none. */
static const api_record* find_call(int kind, uint32_t number) {
  for (int i = 0; i < g_record_count; ++i) {
    const api_record* const record = (const api_record*)g_records[i];
    if (record->kind == kind && record->number == number) return record;
  }
  fail_msg("no record of call %u", number);
  return NULL;
}
#define FIELD(record, type, offset) (*(const type*)((const char*)(record) + (offset)))

static void enable(int on) {
  const int kinds[] = {MEMCPY,          MEMSET,  DRIVER, RUNTIME, CONCURRENT_KERNEL,
                       SYNCHRONIZATION, EXTERNAL};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
    assert_int_equal(0, on ? cuptiActivityEnable(kinds[i]) : cuptiActivityDisable(kinds[i]));
  }
}

/* The kernel's record has the numbers of its device, context and stream. */
static void check_place(const void* kernel, CUstream stream) {
  uint32_t stream_id = 0, context_id = 0, device_id = 7;
  CUcontext context = NULL;
  cuCtxGetCurrent(&context);
  assert_int_equal(0, cuptiGetStreamId(context, stream, &stream_id));
  assert_int_equal(0, cuptiGetContextId(context, &context_id));
  assert_int_equal(0, cuptiGetDeviceId(context, &device_id));
  assert_int_equal(device_id, FIELD(kernel, uint32_t, 40));
  assert_int_equal(context_id, FIELD(kernel, uint32_t, 44));
  assert_int_equal(stream_id, FIELD(kernel, uint32_t, 48));
}

static void operations_have_records_with_the_ids_of_their_calls(void** state) {
  (void)state;
  char host[1000] = {0};
  void* memory = NULL;
  uint64_t begin = 0, end = 0;
  assert_int_equal(0, cuptiActivityRegisterCallbacks(request, complete));
  enable(1);
  assert_int_equal(0, cuptiGetTimestamp(&begin));
  assert_int_equal(0, cuptiActivityPushExternalCorrelationId(3, 77));
  assert_int_equal(cudaSuccess, cudaMalloc(&memory, sizeof host));
  uint64_t popped = 0;
  assert_int_equal(0, cuptiActivityPopExternalCorrelationId(3, &popped));
  assert_int_equal(77, popped);
  assert_int_equal(cudaSuccess, cudaMemcpy(memory, host, sizeof host, cudaMemcpyHostToDevice));
  assert_int_equal(cudaSuccess, cudaMemset(memory, 1, 100));
  CUstream stream = NULL;
  assert_int_equal(CUDA_SUCCESS, cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  launch(5, 32, stream);
  assert_int_equal(CUDA_SUCCESS, cuStreamSynchronize(stream));
  assert_int_equal(cudaSuccess, cudaMemcpy(host, memory, 100, cudaMemcpyDeviceToHost));
  assert_int_equal(cudaSuccess, cudaDeviceSynchronize());
  assert_int_equal(0, cuptiGetTimestamp(&end));
  enable(0);
  assert_int_equal(0, cuptiActivityFlushAll(0));

  const void* const kernel = find(CONCURRENT_KERNEL, 0);
  assert_non_null(kernel);
  assert_int_equal(1, count(CONCURRENT_KERNEL));
  assert_int_equal(5, FIELD(kernel, int32_t, 52));
  assert_int_equal(32, FIELD(kernel, int32_t, 64));
  assert_string_equal("count", FIELD(kernel, char*, 104));
  const api_record* const call = find_call(DRIVER, cbid_cuLaunchKernel);
  assert_int_equal(call->correlation, FIELD(kernel, uint32_t, 92));
  const uint64_t kernel_begin = FIELD(kernel, uint64_t, 16),
                 kernel_end = FIELD(kernel, uint64_t, 24);
  assert_true(begin <= call->begin_ns && call->begin_ns <= call->end_ns);
  assert_true(begin <= kernel_begin && kernel_begin <= kernel_end && kernel_end <= end);
  check_place(kernel, stream);

  assert_int_equal(2, count(MEMCPY));
  const copy_record* const copy = find(MEMCPY, 0);
  assert_int_equal(1, copy->copy_kind);
  assert_int_equal(1000, copy->size_bytes);
  const api_record* const runtime_copy = find_call(RUNTIME, 31); /* cudaMemcpy */
  assert_int_equal(runtime_copy->correlation, copy->correlation);
  assert_int_equal(1, count(MEMSET));
  assert_int_equal(100, FIELD(find(MEMSET, 0), uint64_t, 8));

  const external_record* const external = find(EXTERNAL, 0);
  assert_int_equal(1, count(EXTERNAL));
  assert_int_equal(77, external->id);
  assert_int_equal(find_call(RUNTIME, cbid_cudaMalloc)->correlation, external->correlation);
  assert_true(count(SYNCHRONIZATION) >= 2);

  /* Nothing is recorded any more. */
  const int before = g_record_count;
  launch(1, 1, stream);
  assert_int_equal(CUDA_SUCCESS, cuStreamSynchronize(stream));
  assert_int_equal(0, cuptiActivityFlushAll(0));
  assert_int_equal(before, g_record_count);
  assert_int_equal(CUDA_SUCCESS, cuStreamDestroy(stream));
  assert_int_equal(cudaSuccess, cudaFree(memory));
}

/* Records of kernels have what the kernel needs, or the graph that has launched it. */
static void kernels_have_their_needs_or_their_graph(void** state) {
  (void)state;
  CUstream stream = NULL;
  CUgraph graph = NULL;
  CUgraphExec exec = NULL;
  CUevent event = NULL;
  uint32_t graph_id = 0, stream_id = 0;
  int registers = 0, shared = -1;
  assert_int_equal(CUDA_SUCCESS, cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  assert_int_equal(CUDA_SUCCESS, cuEventCreate(&event, 0));
  assert_int_equal(CUDA_SUCCESS, cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  launch(3, 1, stream);
  assert_int_equal(CUDA_SUCCESS, cuMemsetD8Async(g_counter, 0, 4, stream));
  assert_int_equal(CUDA_SUCCESS, cuStreamEndCapture(stream, &graph));
  assert_int_equal(CUDA_SUCCESS, cuGraphInstantiate(&exec, graph, 0));
  g_record_count = 0;
  enable(1);
  launch(2, 1, stream);
  assert_int_equal(CUDA_SUCCESS, cuGraphLaunch(exec, stream));
  assert_int_equal(CUDA_SUCCESS, cuEventRecord(event, stream));
  assert_int_equal(CUDA_SUCCESS, cuEventSynchronize(event));
  assert_int_equal(CUDA_SUCCESS, cuStreamSynchronize(stream));
  enable(0);
  assert_int_equal(0, cuptiActivityFlushAll(0));
  assert_int_equal(2, count(CONCURRENT_KERNEL));
  assert_int_equal(0, cuptiGetGraphExecId(exec, &graph_id));
  assert_int_equal(0, cuptiGetStreamId(NULL, stream, &stream_id));
  assert_int_equal(CUDA_SUCCESS,
                   cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, g_count));
  assert_int_equal(CUDA_SUCCESS,
                   cuFuncGetAttribute(&shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, g_count));
  assert_true(registers > 0 && shared > 0 && graph_id != 0);
  for (int i = 0; i < g_record_count; ++i) {
    const void* const record = g_records[i];
    if (*(const int32_t*)record == CONCURRENT_KERNEL) {
      const int is_of_graph = FIELD(record, int32_t, 52) == 3;
      assert_int_equal(is_of_graph ? 0 : registers, FIELD(record, uint16_t, 6));
      assert_int_equal(is_of_graph ? 0 : shared, FIELD(record, int32_t, 76));
      assert_int_equal(is_of_graph ? graph_id : 0, FIELD(record, uint32_t, 156));
    } else if (*(const int32_t*)record == SYNCHRONIZATION) {
      const int is_stream = FIELD(record, int32_t, 4) == 3;
      assert_int_equal(is_stream ? stream_id : UINT32_MAX, FIELD(record, uint32_t, 32));
      assert_true((FIELD(record, uint32_t, 36) == UINT32_MAX) == is_stream);
    }
  }
  assert_int_equal(1, count(MEMSET));
  assert_int_equal(graph_id, FIELD(find(MEMSET, 0), uint32_t, 72));
  assert_int_equal(CUDA_SUCCESS, cuGraphExecDestroy(exec));
  assert_int_equal(CUDA_SUCCESS, cuGraphDestroy(graph));
  assert_int_equal(CUDA_SUCCESS, cuEventDestroy(event));
  assert_int_equal(CUDA_SUCCESS, cuStreamDestroy(stream));
}

static void* launch_often(void* unused) {
  cudaFree(NULL);
  for (int i = 0; i < 300; ++i) launch(1, 1, CU_STREAM_PER_THREAD);
  cuStreamSynchronize(CU_STREAM_PER_THREAD);
  return unused;
}

static void records_of_several_threads_fill_several_buffers(void** state) {
  (void)state;
  pthread_t threads[4];
  g_record_count = g_buffers = 0;
  g_buffer_bytes = 1000; /* three or four records each */
  assert_int_equal(0, cuptiActivityEnable(CONCURRENT_KERNEL));
  assert_int_equal(NOT_COMPATIBLE, cuptiActivityEnable(KERNEL));
  assert_int_equal(0, cuptiActivityEnable(DRIVER));
  for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, launch_often, NULL);
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
  assert_int_equal(0, cuptiActivityDisable(DRIVER));
  assert_int_equal(0, cuptiActivityDisable(CONCURRENT_KERNEL));
  assert_int_equal(0, cuptiActivityFlushAll(1));
  assert_int_equal(1200, count(CONCURRENT_KERNEL));
  assert_true(g_buffers > 300);
  /* Each kernel has the id of a launch, and no two have the same. */
  static uint8_t seen[1 << 20];
  for (int i = 0; i < g_record_count; ++i) {
    if (*(int32_t*)g_records[i] != CONCURRENT_KERNEL) continue;
    const uint32_t id = FIELD(g_records[i], uint32_t, 92);
    assert_true(id != 0 && id < sizeof seen);
    assert_int_equal(0, seen[id]);
    seen[id] = 1;
  }
  size_t dropped = 7;
  assert_int_equal(0, cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped));
  assert_int_equal(0, dropped);
}

static void small_buffers_lose_records_and_say_so(void** state) {
  (void)state;
  g_buffer_bytes = 16;
  assert_int_equal(0, cuptiActivityEnable(CONCURRENT_KERNEL));
  launch(1, 1, NULL);
  assert_int_equal(CUDA_SUCCESS, cuCtxSynchronize());
  assert_int_equal(0, cuptiActivityDisable(CONCURRENT_KERNEL));
  assert_int_equal(0, cuptiActivityFlushAll(0));
  size_t dropped = 0;
  assert_int_equal(0, cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped));
  assert_int_equal(1, dropped);
  g_buffer_bytes = 1 << 16;
}

static uint64_t g_fixed = 5;
static uint64_t fixed_clock(void) { return g_fixed += 1000; }

static void times_are_those_of_the_programs_clock(void** state) {
  (void)state;
  g_record_count = 0;
  assert_int_equal(0, cuptiActivityRegisterTimestampCallback(fixed_clock));
  assert_int_equal(0, cuptiActivityEnable(CONCURRENT_KERNEL));
  launch(1, 1, NULL);
  assert_int_equal(CUDA_SUCCESS, cuCtxSynchronize());
  assert_int_equal(0, cuptiActivityDisable(CONCURRENT_KERNEL));
  assert_int_equal(0, cuptiActivityFlushAll(0));
  const void* const kernel = find(CONCURRENT_KERNEL, 0);
  assert_non_null(kernel);
  assert_true(FIELD(kernel, uint64_t, 16) < (uint64_t)60 * 1000000000); /* not the system's time */
}

static void wrong_arguments_are_errors(void** state) {
  (void)state;
  void* const none = (void*)0x1234;
  const char* text = NULL;
  uint32_t number = 0;
  size_t size = 4;
  uint64_t value = 0;
  assert_int_equal(INVALID_PARAMETER, cuptiSubscribe(NULL, hear, NULL));
  assert_int_equal(INVALID_PARAMETER, cuptiSubscribe((void**)64, hear, NULL));
  assert_int_equal(INVALID_PARAMETER, cuptiEnableCallback(1, none, DRIVER_API, 243));
  assert_int_equal(INVALID_PARAMETER, cuptiGetLastError());
  assert_int_equal(0, cuptiGetLastError());
  void* subscriber = NULL;
  assert_int_equal(0, cuptiSubscribe(&subscriber, hear, &g_others));
  assert_int_equal(INVALID_PARAMETER, cuptiEnableCallback(1, subscriber, DRIVER_API, 99999));
  assert_int_equal(INVALID_PARAMETER, cuptiEnableCallback(1, subscriber, 99, 1));
  assert_int_equal(NOT_SUPPORTED, cuptiEnableDomain(1, subscriber, NVTX));
  assert_int_equal(NOT_SUPPORTED, cuptiEnableCallback(1, subscriber, RESOURCE, 6));
  assert_int_equal(0, cuptiUnsubscribe(subscriber));
  assert_int_equal(INVALID_KIND, cuptiActivityEnable(-1));
  assert_int_equal(INVALID_KIND, cuptiActivityEnable(5000));
  assert_int_equal(NOT_SUPPORTED, cuptiActivityEnable(30)); /* samples of the program counter */
  assert_int_equal(INVALID_PARAMETER, cuptiActivityRegisterCallbacks(NULL, complete));
  assert_int_equal(QUEUE_EMPTY, cuptiActivityPopExternalCorrelationId(3, NULL));
  assert_int_equal(INVALID_PARAMETER, cuptiActivityPushExternalCorrelationId(99, 1));
  assert_int_equal(INVALID_PARAMETER, cuptiActivityEnableRuntimeApi(99999, 1));
  assert_int_equal(TOO_SMALL, cuptiActivityGetAttribute(0, &size, &value));
  size = 8;
  assert_int_equal(0, cuptiActivityGetAttribute(0, &size, &value));
  value = 4096;
  assert_int_equal(0, cuptiActivitySetAttribute(0, &size, &value));
  value = 0;
  assert_int_equal(0, cuptiActivityGetAttribute(0, &size, &value));
  assert_int_equal(4096, value);
  assert_int_equal(NOT_SUPPORTED, cuptiActivityGetAttribute(1000, &size, &value));
  assert_int_equal(INVALID_CONTEXT, cuptiGetContextId(none, &number));
  assert_int_equal(INVALID_CONTEXT, cuptiGetDeviceId(none, &number));
  assert_int_equal(INVALID_STREAM, cuptiGetStreamId(NULL, none, &number));
  uint32_t per_thread = 0;
  assert_int_equal(0, cuptiGetStreamIdEx(NULL, NULL, 0, &number));
  assert_int_equal(0, cuptiGetStreamIdEx(NULL, NULL, 1, &per_thread));
  assert_int_not_equal(number, per_thread);
  assert_int_equal(0, cuptiGetResultString(27, &text));
  assert_string_equal("CUPTI_ERROR_NOT_SUPPORTED", text);
  assert_int_equal(INVALID_PARAMETER, cuptiGetResultString(12345, &text));
  assert_int_equal(0, cuptiGetCallbackName(DRIVER_API, 243, &text));
  assert_string_equal("cuMemAlloc_v2", text);
  assert_int_equal(NOT_SUPPORTED, cuptiEventGroupCreate(NULL, &subscriber, 0));
  assert_int_equal(0, cuptiGetVersion(&number));
  assert_int_equal(130500, number);
  void* record = (void*)64;
  uint8_t bytes[8] = {0};
  assert_int_equal(INVALID_PARAMETER, cuptiActivityGetNextRecord(bytes, 8, &record));
  assert_int_equal(INVALID_PARAMETER, cuptiActivityGetNextRecord(bytes, 8, NULL));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(subscribers_have_names),
      cmocka_unit_test(calls_are_told_of_at_both_ends),
      cmocka_unit_test(operations_have_records_with_the_ids_of_their_calls),
      cmocka_unit_test(kernels_have_their_needs_or_their_graph),
      cmocka_unit_test(records_of_several_threads_fill_several_buffers),
      cmocka_unit_test(small_buffers_lose_records_and_say_so),
      cmocka_unit_test(wrong_arguments_are_errors),
      cmocka_unit_test(times_are_those_of_the_programs_clock),
  };
  return cmocka_run_group_tests(tests, set_up, NULL);
}
