/* Functions of the program that end their thread (pthread_exit) instead of returning, of every kind
 * that the driver calls, and threads that are cancelled inside its calls. */
#include "support.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kResult = 42, kCalls = 10 };

static atomic_int calls, returned;

static void end_thread(void) {
  atomic_fetch_add(&calls, 1);
  pthread_exit((void*)(intptr_t)kResult);
}

static void host_function(void* unused) {
  (void)unused;
  end_thread();
}
static void count(void* unused) {
  (void)unused;
  atomic_fetch_add(&returned, 1);
}
static void stream_callback(CUstream stream, CUresult status, void* unused) {
  (void)stream;
  (void)unused;
  assert_int_equal(status, CUDA_SUCCESS);
  end_thread();
}
static size_t dynamic_bytes(int block_size) {
  (void)block_size;
  end_thread();
  return 0;
}

static void CUDA_CB log_callback(void* unused, CUlogLevel level, char* message, size_t length) {
  (void)unused;
  assert_int_equal(level, CU_LOG_LEVEL_ERROR);
  assert_int_equal(strlen(message), length);
  end_thread();
}

static void start_counting(void) {
  atomic_store(&calls, 0);
  atomic_store(&returned, 0);
}

static void streams_go_on(void** state) {
  NOT_ON_NVIDIAS_DRIVER();
  const fixture* f = *state;
  start_counting();
  for (int i = 0; i < kCalls; ++i) {
    OK(cuLaunchHostFunc(f->stream, host_function, NULL));
    OK(cuStreamAddCallback(f->stream, stream_callback, NULL, 0));
    OK(cuLaunchHostFunc(f->stream, count, NULL));
  }
  OK(cuStreamSynchronize(f->stream));
  assert_int_equal(atomic_load(&calls), 2 * kCalls);
  assert_int_equal(atomic_load(&returned), kCalls);
}

static void graphs_go_on(void** state) {
  const fixture* f = *state;
  CUgraph graph = NULL;
  CUgraphExec exec = NULL;
  CUgraphNode first = NULL, second = NULL;
  const CUDA_HOST_NODE_PARAMS ends = {host_function, NULL}, counts = {count, NULL};
  start_counting();
  OK(cuGraphCreate(&graph, 0));
  OK(cuGraphAddHostNode(&first, graph, NULL, 0, &ends));
  OK(cuGraphAddHostNode(&second, graph, &first, 1, &counts));
  OK(cuGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < kCalls; ++i) OK(cuGraphLaunch(exec, f->stream));
  OK(cuStreamSynchronize(f->stream));
  assert_int_equal(atomic_load(&calls), kCalls);
  assert_int_equal(atomic_load(&returned), kCalls);
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphDestroy(graph));
}

/* A call within which a function ends the caller's thread: it does not come back, and the thread
 * has the function's result. */
typedef struct call {
  const fixture* f;
  void (*make)(const fixture*);
  int came_back;
} call;

static void* make_call(void* argument) {
  call* one = argument;
  OK(cuCtxSetCurrent(one->f->context));
  one->make(one->f);
  one->came_back = 1;
  return NULL;
}

static void expect_end_of_thread(const fixture* f, void (*make)(const fixture*)) {
  call one = {f, make, 0};
  void* result = NULL;
  pthread_t thread;
  start_counting();
  assert_int_equal(pthread_create(&thread, NULL, make_call, &one), 0);
  assert_int_equal(pthread_join(thread, &result), 0);
  assert_int_equal(atomic_load(&calls), 1);
  assert_false(one.came_back);
  assert_int_equal((intptr_t)result, kResult);
}

static void release_user_object(const fixture* f) {
  CUuserObject object = NULL;
  (void)f;
  OK(cuUserObjectCreate(&object, NULL, host_function, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  cuUserObjectRelease(object, 1);
}

static void destroy_graph_with_user_object(const fixture* f) {
  CUuserObject object = NULL;
  CUgraph graph = NULL;
  (void)f;
  OK(cuGraphCreate(&graph, 0));
  OK(cuUserObjectCreate(&object, NULL, host_function, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  OK(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
  cuGraphDestroy(graph);
}

static void choose_block(const fixture* f) {
  int grid = 0, block = 0;
  cuOccupancyMaxPotentialBlockSize(&grid, &block, kernel(f, "noop"), dynamic_bytes, 0, 0);
}

static void free_nothing(const fixture* f) {
  (void)f;
  cuMemFree(0x1234);
}
static void fail_in_a_short_call(const fixture* f) {
  (void)f;
  cuEventQuery((CUevent)0x1234);
}

static void callers_end_when_the_call_is_complete(void** state) {
  const fixture* f = *state;
  expect_end_of_thread(f, release_user_object);
  expect_end_of_thread(f, destroy_graph_with_user_object);
  expect_end_of_thread(f, choose_block);
  CUlogsCallbackHandle handle = NULL;
  OK(cuLogsRegisterCallback(log_callback, NULL, &handle));
  expect_end_of_thread(f, free_nothing);
  expect_end_of_thread(f, fail_in_a_short_call);
  OK(cuLogsUnregisterCallback(handle));
}

/* Calls of a thread whose cancellation is due: none is a cancellation point. */
static void* call_cancelled(void* argument) {
  call* one = argument;
  const fixture* f = one->f;
  CUdeviceptr memory = 0;
  CUmodule module = NULL;
  CUstream stream = NULL;
  CUevent event = NULL;
  uint32_t words[16] = {0};
  pthread_cancel(pthread_self());
  OK(cuCtxSetCurrent(f->context));
  OK(cuMemAlloc(&memory, sizeof words));
  OK(cuMemcpyHtoD(memory, words, sizeof words));
  OK(cuModuleLoadData(&module, kernels_ptx));
  OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  OK(cuEventCreate(&event, 0));
  OK(cuLaunchKernel(kernel(f, "noop"), 100, 1, 1, 64, 1, 1, 0, stream, NULL, NULL));
  OK(cuLaunchHostFunc(stream, count, NULL));
  OK(cuEventRecord(event, stream));
  OK(cuEventSynchronize(event));
  OK(cuStreamSynchronize(stream));
  OK(cuMemcpyDtoH(words, memory, sizeof words));
  EXPECT(CUDA_ERROR_FILE_NOT_FOUND, cuModuleLoad(&module, "no such file"));
  OK(cuEventDestroy(event));
  OK(cuStreamDestroy(stream));
  OK(cuModuleUnload(module));
  OK(cuMemFree(memory));
  one->came_back = 1;
  pthread_testcancel();
  return NULL;
}

static void no_call_is_a_cancellation_point(void** state) {
  call one = {*state, NULL, 0};
  void* result = NULL;
  pthread_t thread;
  start_counting();
  assert_int_equal(pthread_create(&thread, NULL, call_cancelled, &one), 0);
  assert_int_equal(pthread_join(thread, &result), 0);
  assert_true(one.came_back);
  assert_ptr_equal(result, PTHREAD_CANCELED);
  assert_int_equal(atomic_load(&returned), 1);
}

/* Calls that come when the objects of the thread's runtime have gone: by destructors of keys. */
static pthread_key_t late_key;

static void call_all(const fixture* f) {
  CUgraph graph = NULL;
  CUstream stream = NULL;
  CUstreamCaptureStatus status;
  const CUgraphNode* nodes = NULL;
  size_t count = 0;
  OK(cuCtxPushCurrent(f->context));
  OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  for (int i = 0; i < 3; ++i) {
    OK(cuLaunchKernel(kernel(f, "noop"), 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
  }
  OK(cuStreamGetCaptureInfo(stream, &status, NULL, NULL, &nodes, NULL, &count));
  assert_int_equal(count, 1);
  OK(cuStreamEndCapture(stream, &graph));
  OK(cuGraphDestroy(graph));
  OK(cuLaunchKernel(kernel(f, "noop"), 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
  OK(cuStreamSynchronize(stream));
  OK(cuStreamDestroy(stream));
}

static void call_late(void* argument) {
  enum { kBlocks = 256, kMost = 96 };
  static unsigned char pattern[kMost];
  unsigned char* blocks[kBlocks];
  call* one = argument;
  memset(pattern, 0x5A, sizeof pattern);
  /* They take the places of what was freed when the thread's objects went. */
  for (size_t i = 0; i < kBlocks; ++i) {
    blocks[i] = malloc(8 + i % (kMost - 8));
    assert_non_null(blocks[i]);
    memset(blocks[i], 0x5A, 8 + i % (kMost - 8));
  }
  call_all(one->f);
  for (size_t i = 0; i < kBlocks; ++i) {
    assert_memory_equal(blocks[i], pattern, 8 + i % (kMost - 8));
    free(blocks[i]);
  }
  one->came_back = 1;
}

static void* call_and_end(void* argument) {
  call* one = argument;
  assert_int_equal(pthread_setspecific(late_key, one), 0);
  OK(cuCtxSetCurrent(one->f->context));
  call_all(one->f);
  return NULL;
}

static void calls_come_after_the_threads_objects(void** state) {
  assert_int_equal(pthread_key_create(&late_key, call_late), 0);
  for (int i = 0; i < kCalls; ++i) {
    call one = {*state, NULL, 0};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, call_and_end, &one), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(one.came_back);
  }
  assert_int_equal(pthread_key_delete(late_key), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(streams_go_on),
      TEST(graphs_go_on),
      TEST(callers_end_when_the_call_is_complete),
      TEST(no_call_is_a_cancellation_point),
      TEST(calls_come_after_the_threads_objects),
  };
  return cmocka_run_group_tests_name("thread end", tests, NULL, NULL);
}
