/* Streams and events: what runs beside what, and what waits for what. */
#include "support.h"

#include <stdatomic.h>
#include <unistd.h>

typedef struct gate {
  volatile uint32_t* flag; /* in managed memory, 0: closed */
  uint32_t* out;
} gate;

static gate make_gate(void) {
  CUdeviceptr memory = 0;
  OK(cuMemAllocManaged(&memory, 64, CU_MEM_ATTACH_GLOBAL));
  gate made = {(uint32_t*)(uintptr_t)memory, (uint32_t*)(uintptr_t)(memory + 32)};
  *made.flag = *made.out = 0;
  return made;
}

/* A kernel that runs until the gate is opened. */
static void launch_waiting(const fixture* f, gate g, CUstream stream) {
  CUdeviceptr flag = (CUdeviceptr)(uintptr_t)g.flag, out = (CUdeviceptr)(uintptr_t)g.out;
  void* arguments[] = {&flag, &out};
  OK(cuLaunchKernel(kernel(f, "slow"), 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL));
}

static void work_is_asynchronous(void** state) {
  const fixture* f = *state;
  CUstream other = NULL;
  const gate g = make_gate();
  launch_waiting(f, g, f->stream);
  EXPECT(CUDA_ERROR_NOT_READY, cuStreamQuery(f->stream));
  OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  OK(cuLaunchKernel(kernel(f, "noop"), 1, 1, 1, 1, 1, 1, 0, other, NULL, NULL));
  OK(cuStreamSynchronize(other)); /* would hang if streams waited for each other */
  assert_int_equal(*g.out, 0);
  *g.flag = 1;
  OK(cuStreamSynchronize(f->stream));
  assert_int_equal(*g.out, 1);
  OK(cuStreamQuery(f->stream));
  OK(cuStreamDestroy(other));
}

static void the_legacy_stream_waits_for_blocking_ones(void** state) {
  const fixture* f = *state;
  CUstream blocking = NULL;
  const gate g = make_gate();
  OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
  launch_waiting(f, g, blocking);
  OK(cuLaunchKernel(kernel(f, "noop"), 1, 1, 1, 1, 1, 1, 0, CU_STREAM_LEGACY, NULL, NULL));
  usleep(20000);
  EXPECT(CUDA_ERROR_NOT_READY, cuStreamQuery(NULL));
  OK(cuStreamQuery(f->stream)); /* non-blocking: nobody waits for it, it waits for nobody */
  *g.flag = 1;
  OK(cuStreamSynchronize(NULL));
  assert_int_equal(*g.out, 1);
  OK(cuStreamDestroy(blocking));
}

static void blocking_streams_wait_for_the_legacy_one(void** state) {
  const fixture* f = *state;
  CUstream blocking = NULL;
  const gate g = make_gate();
  OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
  launch_waiting(f, g, NULL);
  OK(cuLaunchKernel(kernel(f, "noop"), 1, 1, 1, 1, 1, 1, 0, blocking, NULL, NULL));
  OK(cuLaunchKernel(kernel(f, "noop"), 1, 1, 1, 1, 1, 1, 0, CU_STREAM_PER_THREAD, NULL, NULL));
  OK(cuLaunchKernel(kernel(f, "noop"), 1, 1, 1, 1, 1, 1, 0, f->stream, NULL, NULL));
  OK(cuStreamSynchronize(f->stream));
  usleep(20000);
  EXPECT(CUDA_ERROR_NOT_READY, cuStreamQuery(blocking));
  EXPECT(CUDA_ERROR_NOT_READY, cuStreamQuery(CU_STREAM_PER_THREAD));
  *g.flag = 1;
  OK(cuStreamSynchronize(blocking));
  assert_int_equal(*g.out, 1);
  OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
  OK(cuStreamDestroy(blocking));
}

static void events_order_streams(void** state) {
  NOT_ON_NVIDIAS_DRIVER();
  const fixture* f = *state;
  CUstream other = NULL;
  CUevent event = NULL;
  const gate g = make_gate();
  OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  OK(cuEventQuery(event)); /* never recorded: nothing to wait for */
  OK(cuEventSynchronize(event));
  launch_waiting(f, g, f->stream);
  OK(cuEventRecord(event, f->stream));
  OK(cuStreamWaitEvent(other, event, 0));
  EXPECT(CUDA_ERROR_NOT_READY, cuEventQuery(event));
  EXPECT(CUDA_ERROR_NOT_READY, cuStreamQuery(other));
  *g.flag = 1;
  OK(cuStreamSynchronize(other));
  assert_int_equal(*g.out, 1);
  OK(cuEventSynchronize(event));
  OK(cuEventDestroy(event));
  EXPECT(CUDA_ERROR_INVALID_HANDLE, cuEventQuery(event));
  OK(cuStreamDestroy(other));
}

static void events_take_times(void** state) {
  NOT_ON_NVIDIAS_DRIVER();
  const fixture* f = *state;
  CUevent start = NULL, end = NULL, untimed = NULL;
  float milliseconds = -1;
  OK(cuEventCreate(&start, CU_EVENT_DEFAULT));
  OK(cuEventCreate(&end, CU_EVENT_BLOCKING_SYNC));
  OK(cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING));
  EXPECT(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&milliseconds, start, end));
  const gate g = make_gate();
  OK(cuEventRecord(start, f->stream));
  launch_waiting(f, g, f->stream);
  OK(cuEventRecord(end, f->stream));
  EXPECT(CUDA_ERROR_NOT_READY, cuEventElapsedTime(&milliseconds, start, end));
  usleep(30000);
  *g.flag = 1;
  OK(cuEventSynchronize(end));
  OK(cuEventElapsedTime(&milliseconds, start, end));
  assert_true(milliseconds >= 29);
  OK(cuEventRecord(untimed, f->stream));
  EXPECT(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&milliseconds, start, untimed));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuEventCreate(&start, 0x100));
}

static void events_belong_to_a_context(void** state) {
  const fixture* f = *state;
  CUcontext other = NULL;
  CUevent here = NULL, there = NULL;
  float milliseconds = 0;
  OK(cuEventCreate(&here, CU_EVENT_DEFAULT));
  OK(cuEventRecord(here, f->stream));
  OK(cuCtxCreate(&other, NULL, 0, 0));
  OK(cuEventCreate(&there, CU_EVENT_DEFAULT));
  EXPECT(CUDA_ERROR_INVALID_HANDLE, cuEventRecord(there, f->stream));
  OK(cuEventRecord(there, CU_STREAM_PER_THREAD));
  EXPECT(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&milliseconds, here, there));
  OK(cuCtxDestroy(other));
}

static void count_call(void* calls) { ++*(atomic_int*)calls; }
static void CUDA_CB count_status(CUstream stream, CUresult status, void* calls) {
  (void)stream;
  if (status == CUDA_SUCCESS) ++*(atomic_int*)calls;
}

static void host_functions_run_in_order(void** state) {
  const fixture* f = *state;
  atomic_int calls = 0;
  OK(cuLaunchHostFunc(f->stream, count_call, &calls));
  OK(cuStreamAddCallback(f->stream, count_status, &calls, 0));
  OK(cuStreamSynchronize(f->stream));
  assert_int_equal(calls, 2);
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuStreamAddCallback(f->stream, NULL, NULL, 0));
}

enum { WAITS = 9 };
typedef struct waiting {
  CUcontext context, other;
  CUstream stream;
  CUdeviceptr memory;
  void* host;
  CUarray array;
  CUtexref reference;
  CUmodule module;
  CUresult results[WAITS];
} waiting;

/* Calls that wait for work, this function among it. */
static void wait_inside(void* given) {
  waiting* const w = given;
  cuCtxSetCurrent(w->context);
  w->results[0] = cuStreamSynchronize(w->stream);
  w->results[1] = cuMemFree(w->memory);
  w->results[2] = cuMemFreeHost(w->host);
  w->results[3] = cuArrayDestroy(w->array);
  w->results[4] = cuTexRefSetFilterMode(w->reference, CU_TR_FILTER_MODE_LINEAR);
  w->results[5] = cuTexRefDestroy(w->reference);
  w->results[6] = cuModuleUnload(w->module);
  w->results[7] = cuCtxDestroy(w->other);
  w->results[8] = cuDevicePrimaryCtxReset(0);
}

static void host_functions_may_not_wait(void** state) {
  NOT_ON_NVIDIAS_DRIVER();
  const fixture* f = *state;
  waiting w = {.context = f->context, .stream = f->stream, .module = f->module};
  const CUDA_ARRAY_DESCRIPTOR texels = {16, 0, CU_AD_FORMAT_FLOAT, 1};
  OK(cuMemAlloc(&w.memory, 64));
  OK(cuMemAllocHost(&w.host, 64));
  OK(cuArrayCreate(&w.array, &texels));
  OK(cuTexRefCreate(&w.reference));
  OK(cuCtxCreate(&w.other, NULL, 0, f->device));
  OK(cuCtxSetCurrent(f->context));
  OK(cuLaunchHostFunc(f->stream, wait_inside, &w));
  OK(cuStreamSynchronize(f->stream));
  for (int i = 0; i < WAITS; ++i) assert_int_equal(w.results[i], CUDA_ERROR_NOT_PERMITTED);
  /* All is as it was. */
  OK(cuMemFree(w.memory));
  OK(cuMemFreeHost(w.host));
  OK(cuArrayDestroy(w.array));
  OK(cuTexRefDestroy(w.reference));
  OK(cuCtxDestroy(w.other));
}

static void streams_have_properties(void** state) {
  const fixture* f = *state;
  CUstream stream = NULL;
  int least = 9, greatest = 9, priority = 9;
  unsigned flags = 9;
  CUcontext context = NULL;
  unsigned long long first = 0, second = 0;
  OK(cuCtxGetStreamPriorityRange(&least, &greatest));
  assert_true(greatest < least);
  OK(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, greatest - 100));
  OK(cuStreamGetPriority(stream, &priority));
  assert_int_equal(priority, greatest);
  OK(cuStreamGetFlags(stream, &flags));
  assert_int_equal(flags, CU_STREAM_NON_BLOCKING);
  OK(cuStreamGetCtx(stream, &context));
  assert_ptr_equal(context, f->context);
  OK(cuStreamGetId(stream, &first));
  OK(cuStreamGetId(f->stream, &second));
  assert_true(first != second);
  OK(cuStreamDestroy(stream));
  EXPECT(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy(stream));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(work_is_asynchronous),
      TEST(the_legacy_stream_waits_for_blocking_ones),
      TEST(blocking_streams_wait_for_the_legacy_one),
      TEST(events_order_streams),
      TEST(events_take_times),
      TEST(events_belong_to_a_context),
      TEST(host_functions_run_in_order),
      TEST(host_functions_may_not_wait),
      TEST(streams_have_properties),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
