/* Contexts: primary and created ones, the stack of each thread, handles that are none. */
#include "support.h"

#include <pthread.h>
#include <stdatomic.h>

static void two_retains_give_one_context(void** state) {
  NEEDS_TWO_DEVICES();
  const fixture* f = *state;
  CUcontext again = NULL;
  unsigned flags = 0;
  int active = 0;
  OK(cuDevicePrimaryCtxRetain(&again, f->device));
  assert_ptr_equal(again, f->context);
  OK(cuDevicePrimaryCtxRelease(f->device));
  OK(cuDevicePrimaryCtxGetState(f->device, &flags, &active));
  assert_int_equal(active, 1);
  EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease(1));
}

static void contexts_form_a_stack(void** state) {
  NEEDS_TWO_DEVICES();
  const fixture* f = *state;
  CUcontext made = NULL, current = NULL;
  CUdevice device = -1;
  OK(cuCtxCreate(&made, NULL, CU_CTX_SCHED_SPIN, 1));
  OK(cuCtxGetCurrent(&current));
  assert_ptr_equal(current, made);
  OK(cuCtxGetDevice(&device));
  assert_int_equal(device, 1);
  OK(cuCtxPushCurrent(f->context));
  OK(cuCtxPopCurrent(&current));
  assert_ptr_equal(current, f->context);
  OK(cuCtxDestroy(made));
  OK(cuCtxGetCurrent(&current));
  assert_ptr_equal(current, f->context); /* it was popped, too */
  EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuCtxSetCurrent(made));
  EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuCtxDestroy(f->context)); /* is released instead */
}

/* A thread has what it popped at hand for a while. */
static void contexts_that_were_popped_can_go(void** state) {
  const fixture* f = *state;
  CUcontext made = NULL, current = NULL;
  OK(cuCtxCreate(&made, NULL, 0, f->device));
  for (int i = 0; i < 3; ++i) {
    OK(cuCtxPopCurrent(&current));
    assert_ptr_equal(current, made);
    OK(cuCtxGetCurrent(&current));
    assert_ptr_equal(current, f->context);
    OK(cuCtxPushCurrent(made));
    OK(cuCtxGetCurrent(&current));
    assert_ptr_equal(current, made);
  }
  OK(cuCtxPopCurrent(NULL));
  OK(cuCtxDestroy(made));
  EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuCtxPushCurrent(made));
  EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuCtxSetCurrent(made));
  OK(cuCtxGetCurrent(&current));
  assert_ptr_equal(current, f->context);
  OK(cuCtxCreate(&made, NULL, 0, f->device));
  OK(cuCtxDestroy(made)); /* and with it, the thread's current one goes */
  OK(cuCtxGetCurrent(&current));
  assert_ptr_equal(current, f->context);
}

static void* look_at_thread(void* unused) {
  CUcontext current = (CUcontext)1;
  int count = 0;
  (void)unused;
  if (cuCtxGetCurrent(&current) != CUDA_SUCCESS || current != NULL) return (void*)1;
  if (cuCtxSynchronize() != CUDA_ERROR_INVALID_CONTEXT) return (void*)2;
  if (cuDeviceGetCount(&count) != CUDA_SUCCESS) return (void*)3;
  return NULL;
}

static void threads_begin_without_a_context(void** state) {
  pthread_t thread;
  void* wrong = NULL;
  (void)state;
  assert_int_equal(pthread_create(&thread, NULL, look_at_thread, NULL), 0);
  pthread_join(thread, &wrong);
  assert_null(wrong);
}

static void what_belongs_to_a_context_goes_with_it(void** state) {
  NEEDS_TWO_DEVICES();
  CUcontext made = NULL;
  CUstream stream = NULL;
  CUevent event = NULL;
  CUmodule module = NULL;
  CUfunction function = NULL;
  CUdeviceptr memory = 0;
  (void)state;
  OK(cuCtxCreate(&made, NULL, 0, 1));
  OK(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
  OK(cuEventCreate(&event, CU_EVENT_DEFAULT));
  OK(cuModuleLoadData(&module, kernels_ptx));
  OK(cuModuleGetFunction(&function, module, "noop"));
  OK(cuMemAlloc(&memory, 1 << 20));
  OK(cuCtxDestroy(made));
  EXPECT(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize(stream));
  EXPECT(CUDA_ERROR_INVALID_HANDLE, cuEventQuery(event));
  EXPECT(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(module));
  EXPECT(CUDA_ERROR_INVALID_HANDLE,
         cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemFree(memory));
}

static void a_fault_stays_until_the_reset(void** state) {
  NOT_ON_NVIDIAS_DRIVER();
  const fixture* f = *state;
  CUdeviceptr memory = 0;
  unsigned long long before = 0, after = 0, made = 0;
  OK(cuCtxGetId(f->context, &before));
  OK(cuLaunchKernel(kernel(f, "crash"), 1, 1, 1, 1, 1, 1, 0, f->stream, NULL, NULL));
  EXPECT(CUDA_ERROR_LAUNCH_FAILED, cuStreamSynchronize(f->stream));
  EXPECT(CUDA_ERROR_LAUNCH_FAILED, cuCtxSynchronize());
  EXPECT(CUDA_ERROR_LAUNCH_FAILED, cuMemAlloc(&memory, 16));
  OK(cuDevicePrimaryCtxReset(f->device));
  CUcontext fresh = NULL;
  OK(cuDevicePrimaryCtxRetain(&fresh, f->device));
  assert_ptr_equal(fresh, f->context);
  /* The handle is the same, the context is another. */
  OK(cuCtxGetId(f->context, &after));
  assert_int_not_equal(before, after);
  OK(cuCtxGetId(NULL, &made));
  assert_int_equal(after, made);
  OK(cuMemAlloc(&memory, 16));
  OK(cuMemFree(memory));
  OK(cuDevicePrimaryCtxRelease(f->device));
}

/* Handles are ids: whatever comes is looked up, never followed. */
static void garbage_is_refused(void** state) {
  const fixture* f = *state;
  uint64_t values[] = {3,
                       0x1000,
                       0x7FFFFFFFFFFF,
                       UINT64_MAX,
                       (uint64_t)(uintptr_t)f->stream ^ 1,
                       (uint64_t)(uintptr_t)f->context,
                       (uint64_t)(uintptr_t)&values};
  int value = 0;
  for (size_t i = 0; i < sizeof values / sizeof *values; ++i) {
    void* garbage = (void*)values[i];
    EXPECT(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize((CUstream)garbage));
    EXPECT(CUDA_ERROR_INVALID_HANDLE, cuEventSynchronize((CUevent)garbage));
    EXPECT(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload((CUmodule)garbage));
    EXPECT(CUDA_ERROR_INVALID_HANDLE,
           cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, (CUfunction)garbage));
    EXPECT(CUDA_ERROR_INVALID_HANDLE, cuLibraryUnload((CUlibrary)garbage));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemPoolDestroy((CUmemoryPool)garbage));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy((CUgraph)garbage));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphDestroyNode((CUgraphNode)garbage));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemFree((CUdeviceptr)values[i]));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemFreeHost(garbage));
  }
  uint64_t random = 0x9E3779B97F4A7C15;
  for (int i = 0; i < 200000; ++i) {
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    assert_int_not_equal(cuStreamQuery((CUstream)random), CUDA_SUCCESS);
    assert_int_not_equal(cuEventQuery((CUevent)random), CUDA_SUCCESS);
    assert_int_not_equal(cuMemFree(random), CUDA_SUCCESS);
  }
}

/* Programs keep handles in signed integers and take one below zero for an error. */
static void handles_are_positive(void** state) {
  const fixture* f = *state;
  CUevent event = NULL;
  CUgraph graph = NULL;
  CUmemoryPool pool = NULL;
  OK(cuEventCreate(&event, 0));
  OK(cuGraphCreate(&graph, 0));
  OK(cuDeviceGetDefaultMemPool(&pool, f->device));
  assert_true((intptr_t)f->context > 0 && (intptr_t)f->stream > 0 && (intptr_t)f->module > 0);
  assert_true((intptr_t)event > 0 && (intptr_t)graph > 0 && (intptr_t)pool > 0);
  assert_true((intptr_t)kernel(f, "noop") > 0);
}

static void limits_and_flags_are_kept(void** state) {
  size_t value = 0;
  unsigned flags = 0;
  (void)state;
  OK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
  OK(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
  assert_int_equal(value, 4096);
  /* A request: GPUs have no more than 512 KiB. */
  OK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 100 << 20));
  OK(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
  assert_int_equal(value, 512 << 10);
  OK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 1024));
  EXPECT(CUDA_ERROR_UNSUPPORTED_LIMIT, cuCtxGetLimit(&value, (CUlimit)99));
  OK(cuCtxSetFlags(CU_CTX_SCHED_BLOCKING_SYNC));
  OK(cuCtxGetFlags(&flags));
  assert_int_equal(flags, CU_CTX_SCHED_BLOCKING_SYNC);
}

/* Each thread takes `size` bytes, writes its first and last one, and adds both. */
static const char allocating_ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry allocating(.param .u64 out, .param .u64 size) {\n"
    "  .reg .u64 %d<6>;\n  .reg .u32 %r<4>;\n"
    "  ld.param.u64 %d0, [out];\n  ld.param.u64 %d1, [size];\n"
    "  mov.u32 %r0, %tid.x;\n"
    "  alloca.u64 %d2, %d1, 16;\n"
    "  add.u64 %d3, %d2, %d1;\n"
    "  st.local.u32 [%d2], %r0;\n  st.local.u32 [%d3+-4], 1000;\n"
    "  ld.local.u32 %r1, [%d2];\n  ld.local.u32 %r2, [%d3+-4];\n"
    "  add.u32 %r1, %r1, %r2;\n"
    "  mad.wide.u32 %d4, %r0, 4, %d0;\n  st.global.u32 [%d4], %r1;\n  ret;\n}\n";

static void threads_have_the_stack_that_was_asked_for(void** state) {
  const fixture* f = *state;
  CUmodule module = NULL;
  CUfunction allocating = NULL;
  CUdeviceptr out = 0;
  uint64_t size = 400 << 10;
  uint32_t sums[64] = {0};
  void* arguments[] = {&out, &size};
  OK(cuMemAlloc(&out, sizeof sums));
  OK(cuModuleLoadData(&module, allocating_ptx));
  OK(cuModuleGetFunction(&allocating, module, "allocating"));
  OK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 401 << 10));
  OK(cuLaunchKernel(allocating, 1, 1, 1, 64, 1, 1, 0, f->stream, arguments, NULL));
  OK(cuStreamSynchronize(f->stream));
  OK(cuMemcpyDtoH(sums, out, sizeof sums));
  for (uint32_t i = 0; i < 64; ++i) assert_int_equal(sums[i], 1000 + i);
  /* A node keeps it, though kernels may change the node. */
  CUgraph graph = NULL;
  CUgraphExec exec = NULL;
  CUlaunchAttribute updatable = {.id = CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE,
                                 .value.deviceUpdatableKernelNode = {.deviceUpdatable = 1}};
  const CUlaunchConfig config = {1, 1, 1, 64, 1, 1, 0, f->stream, &updatable, 1};
  OK(cuStreamBeginCapture(f->stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  OK(cuLaunchKernelEx(&config, allocating, arguments, NULL));
  OK(cuStreamEndCapture(f->stream, &graph));
  OK(cuGraphInstantiate(&exec, graph, 0));
  OK(cuMemsetD8(out, 0, sizeof sums));
  OK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 1024));
  OK(cuGraphLaunch(exec, f->stream));
  OK(cuStreamSynchronize(f->stream));
  OK(cuMemcpyDtoH(sums, out, sizeof sums));
  for (uint32_t i = 0; i < 64; ++i) assert_int_equal(sums[i], 1000 + i);
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphDestroy(graph));
  OK(cuModuleUnload(module));
  OK(cuMemFree(out));
}

typedef struct reset_race {
  CUcontext context;
  atomic_int done, calls, wrong;
} reset_race;

/* The context was there, or it was just being destroyed. */
static int is_one_of_both(reset_race* race, CUresult result) {
  ++race->calls;
  if (result == CUDA_SUCCESS) return 1;
  race->wrong += result != CUDA_ERROR_CONTEXT_IS_DESTROYED && result != CUDA_ERROR_INVALID_HANDLE &&
                 result != CUDA_ERROR_INVALID_VALUE;
  return 0;
}

static void* call_during_resets(void* argument) {
  reset_race* const race = argument;
  while (cuCtxSetCurrent(race->context) != CUDA_SUCCESS) continue; /* it is being reset */
  while (!race->done) {
    CUmodule module = NULL;
    CUstream stream = NULL;
    CUdeviceptr memory = 0;
    size_t free_bytes = 0, total_bytes = 0;
    if (is_one_of_both(race, cuMemAlloc(&memory, 4096))) {
      is_one_of_both(race, cuMemsetD32(memory, 7, 1024));
      is_one_of_both(race, cuMemFree(memory));
    }
    is_one_of_both(race, cuMemGetInfo(&free_bytes, &total_bytes));
    is_one_of_both(race, cuCtxSynchronize());
    is_one_of_both(race, cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    is_one_of_both(race, cuModuleLoadData(&module, kernels_ptx));
  }
  return NULL;
}

static void calls_meet_resets_of_their_context(void** state) {
  enum { THREADS = 3, RESETS = 200 };
  const fixture* f = *state;
  pthread_t threads[THREADS];
  reset_race race = {f->context, 0, 0, 0};
  for (int i = 0; i < THREADS; ++i) {
    assert_int_equal(pthread_create(&threads[i], NULL, call_during_resets, &race), 0);
  }
  for (int i = 0; i < RESETS || race.calls < 2 * RESETS; ++i) {
    OK(cuDevicePrimaryCtxReset(f->device));
  }
  race.done = 1;
  for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
  assert_int_equal(race.wrong, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(two_retains_give_one_context),
      TEST(contexts_form_a_stack),
      TEST(threads_begin_without_a_context),
      TEST(what_belongs_to_a_context_goes_with_it),
      TEST(a_fault_stays_until_the_reset),
      TEST(garbage_is_refused),
      TEST(limits_and_flags_are_kept),
      TEST(handles_are_positive),
      TEST(threads_have_the_stack_that_was_asked_for),
      TEST(contexts_that_were_popped_can_go),
      TEST(calls_meet_resets_of_their_context),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
