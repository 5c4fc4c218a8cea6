/* Green contexts: parts of a device's multiprocessors, over its primary context. */
#include "support.h"

#include <string.h>

/* Libraries before CUDA 12.4 and 13.1 lack these functions. */
#pragma weak cuDevSmResourceSplit
#pragma weak cuGreenCtxGetId
#pragma weak cuStreamGetDevResource

enum { kCount = 1000 };

static CUdevResource all_of(CUdevice device) {
  CUdevResource all = {0};
  OK(cuDeviceGetDevResource(device, &all, CU_DEV_RESOURCE_TYPE_SM));
  return all;
}

/* A green context of one multiprocessor, where the device allows that. */
static CUgreenCtx make_green(const fixture* f, CUdevResource* out) {
  CUdevResource all = all_of(f->device);
  unsigned groups = 1;
  CUdevResourceDesc description = NULL;
  CUgreenCtx green = NULL;
  OK(cuDevSmResourceSplitByCount(out, &groups, &all, NULL, 0, 1));
  assert_int_equal(groups, 1);
  OK(cuDevResourceGenerateDesc(&description, out, 1));
  OK(cuGreenCtxCreate(&green, description, f->device, CU_GREEN_CTX_DEFAULT_STREAM));
  return green;
}

static void resources_say_how_many_multiprocessors(void** state) {
  const fixture* f = *state;
  int count = 0;
  CUdevResource all = all_of(f->device), of_context = {0}, of_stream = {0};
  OK(cuDeviceGetAttribute(&count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, f->device));
  assert_int_equal(all.type, CU_DEV_RESOURCE_TYPE_SM);
  assert_int_equal(all.sm.smCount, count);
  assert_true(all.sm.minSmPartitionSize >= 1);
  OK(cuCtxGetDevResource(f->context, &of_context, CU_DEV_RESOURCE_TYPE_SM));
  assert_int_equal(of_context.sm.smCount, count);
  OK(cuStreamGetDevResource(f->stream, &of_stream, CU_DEV_RESOURCE_TYPE_SM));
  assert_int_equal(of_stream.sm.smCount, count);
  EXPECT(CUDA_ERROR_INVALID_RESOURCE_TYPE,
         cuDeviceGetDevResource(f->device, &all, CU_DEV_RESOURCE_TYPE_INVALID));
  EXPECT(CUDA_ERROR_INVALID_VALUE,
         cuDeviceGetDevResource(f->device, NULL, CU_DEV_RESOURCE_TYPE_SM));
  EXPECT(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetDevResource(99, &all, CU_DEV_RESOURCE_TYPE_SM));
}

static void splits_divide_all_multiprocessors(void** state) {
  NOT_ON_NVIDIAS_DRIVER(); /* parts are larger there */
  const fixture* f = *state;
  CUdevResource all = all_of(f->device), parts[2], rest, none;
  const unsigned count = all.sm.smCount;
  unsigned groups = 0;
  OK(cuDevSmResourceSplitByCount(NULL, &groups, &all, NULL, 0, 1));
  assert_int_equal(groups, count);
  groups = 2;
  OK(cuDevSmResourceSplitByCount(parts, &groups, &all, &rest, 0, count));
  assert_int_equal(groups, 1);
  assert_int_equal(parts[0].sm.smCount, count);
  assert_int_equal(rest.type, CU_DEV_RESOURCE_TYPE_INVALID);
  groups = 1;
  OK(cuDevSmResourceSplitByCount(parts, &groups, &all, &rest, 0, 0));
  assert_int_equal(parts[0].sm.smCount, 1);
  assert_int_equal(rest.type == CU_DEV_RESOURCE_TYPE_SM ? rest.sm.smCount : 0, count - 1);
  EXPECT(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
         cuDevSmResourceSplitByCount(parts, &groups, &all, NULL, 0, count + 1));
  EXPECT(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
         cuDevSmResourceSplitByCount(&none, &groups, &parts[0], NULL, 0, 1));
  EXPECT(CUDA_ERROR_INVALID_VALUE,
         cuDevSmResourceSplitByCount(parts, &groups, &all, NULL, 0x10, 1));
  memset(&none, 0, sizeof none);
  EXPECT(CUDA_ERROR_INVALID_RESOURCE_TYPE,
         cuDevSmResourceSplitByCount(parts, &groups, &none, NULL, 0, 1));
  none.type = CU_DEV_RESOURCE_TYPE_SM; /* none that the driver has filled in */
  none.sm.smCount = 1;
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuDevSmResourceSplitByCount(parts, &groups, &none, NULL, 0, 1));
}

static void groups_are_found_out_and_filled_up(void** state) {
  NOT_ON_NVIDIAS_DRIVER();
  const fixture* f = *state;
  CUdevResource all = all_of(f->device), part, rest;
  CU_DEV_SM_RESOURCE_GROUP_PARAMS group = {0};
  OK(cuDevSmResourceSplit(NULL, 1, &all, &rest, 0, &group));
  assert_int_equal(group.smCount, all.sm.smCount);
  assert_int_equal(rest.type, CU_DEV_RESOURCE_TYPE_INVALID);
  group.smCount = 1;
  OK(cuDevSmResourceSplit(&part, 1, &all, &rest, 0, &group));
  assert_int_equal(part.sm.smCount, 1);
  group.smCount = all.sm.smCount + 1;
  EXPECT(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
         cuDevSmResourceSplit(&part, 1, &all, NULL, 0, &group));
  group = (CU_DEV_SM_RESOURCE_GROUP_PARAMS){.smCount = 1, .coscheduledSmCount = 2};
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuDevSmResourceSplit(&part, 1, &all, NULL, 0, &group));
  group.flags = CU_DEV_SM_RESOURCE_GROUP_BACKFILL;
  OK(cuDevSmResourceSplit(&part, 1, &all, NULL, 0, &group));
  group.flags = CU_DEV_SM_RESOURCE_GROUP_LOCALITY_DOMAIN_ID;
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuDevSmResourceSplit(&part, 1, &all, NULL, 0, &group));
}

static void descriptions_take_parts_of_one_split(void** state) {
  NOT_ON_NVIDIAS_DRIVER();
  const fixture* f = *state;
  CUdevResource all = all_of(f->device), twice[2], parts[2];
  CUdevResourceDesc description = NULL;
  unsigned groups = 2;
  OK(cuDevResourceGenerateDesc(&description, &all, 1));
  twice[0] = twice[1] = all;
  EXPECT(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
         cuDevResourceGenerateDesc(&description, twice, 2));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuDevResourceGenerateDesc(&description, &all, 0));
  OK(cuDevSmResourceSplitByCount(parts, &groups, &all, NULL, 0, 1));
  if (groups == 2) {
    CUgreenCtx green = NULL;
    OK(cuDevResourceGenerateDesc(&description, parts, 2));
    OK(cuGreenCtxCreate(&green, description, f->device, CU_GREEN_CTX_DEFAULT_STREAM));
    OK(cuGreenCtxGetDevResource(green, &all, CU_DEV_RESOURCE_TYPE_SM));
    assert_int_equal(all.sm.smCount, 2);
    groups = 1; /* what a green context has may be divided again */
    OK(cuDevSmResourceSplitByCount(parts, &groups, &all, NULL, 0, 1));
    OK(cuGreenCtxDestroy(green));
  }
}

static void kernels_run_in_a_green_context(void** state) {
  const fixture* f = *state;
  CUdevResource part, told;
  CUgreenCtx green = make_green(f, &part), of_stream = NULL;
  CUcontext context = NULL, current = NULL;
  CUstream stream = NULL;
  CUdeviceptr memory = 0;
  uint32_t base = 7, count = kCount, values[kCount];
  OK(cuGreenCtxGetDevResource(green, &told, CU_DEV_RESOURCE_TYPE_SM));
  assert_int_equal(told.sm.smCount, part.sm.smCount);
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuGreenCtxStreamCreate(&stream, green, CU_STREAM_DEFAULT, 0));
  OK(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
  OK(cuStreamGetGreenCtx(stream, &of_stream));
  assert_ptr_equal(of_stream, green);
  OK(cuStreamGetDevResource(stream, &told, CU_DEV_RESOURCE_TYPE_SM));
  assert_int_equal(told.sm.smCount, part.sm.smCount);
  OK(cuStreamGetGreenCtx(f->stream, &of_stream));
  assert_null(of_stream);
  OK(cuMemAlloc(&memory, sizeof values)); /* of the primary context */
  OK(cuCtxFromGreenCtx(&context, green));
  OK(cuCtxPushCurrent(context));
  void* arguments[] = {&memory, &base, &count};
  OK(cuLaunchKernel(kernel(f, "fill_index"), 4, 1, 1, 256, 1, 1, 0, stream, arguments, NULL));
  OK(cuMemcpyDtoHAsync(values, memory, sizeof values, stream));
  OK(cuStreamSynchronize(stream));
  for (uint32_t i = 0; i < kCount; ++i) assert_int_equal(values[i], base + i);
  OK(cuCtxPopCurrent(&current));
  assert_ptr_equal(current, context);
  OK(cuStreamDestroy(stream));
  OK(cuMemFree(memory));
  OK(cuGreenCtxDestroy(green));
  EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuGreenCtxDestroy(green));
}

static void events_are_of_all_streams_of_a_green_context(void** state) {
  const fixture* f = *state;
  CUdevResource part;
  CUgreenCtx green = make_green(f, &part);
  CUstream first = NULL, second = NULL;
  CUevent event = NULL;
  CUdeviceptr memory = 0;
  uint32_t values[4] = {0};
  OK(cuMemAlloc(&memory, sizeof values));
  OK(cuMemsetD8(memory, 0, sizeof values));
  OK(cuGreenCtxStreamCreate(&first, green, CU_STREAM_NON_BLOCKING, 0));
  OK(cuGreenCtxStreamCreate(&second, green, CU_STREAM_NON_BLOCKING, 0));
  OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  CUdeviceptr flag = memory, done = memory + 4, copy = memory + 8;
  void* arguments[] = {&flag, &done};
  OK(cuLaunchKernel(kernel(f, "slow"), 1, 1, 1, 1, 1, 1, 0, first, arguments, NULL));
  OK(cuGreenCtxRecordEvent(green, event));
  EXPECT(CUDA_ERROR_NOT_READY, cuEventQuery(event)); /* the kernel waits for the flag */
  OK(cuGreenCtxWaitEvent(green, event));
  OK(cuMemcpyDtoDAsync(copy, done, 4, second));
  EXPECT(CUDA_ERROR_NOT_READY, cuStreamQuery(second));
  OK(cuMemsetD32Async(flag, 1, 1, f->stream));
  OK(cuStreamSynchronize(second));
  OK(cuMemcpyDtoH(values, memory, sizeof values));
  assert_int_equal(values[2], 1); /* the copy came after the kernel */
  OK(cuEventQuery(event));
  OK(cuEventDestroy(event));
  OK(cuStreamDestroy(first));
  OK(cuStreamDestroy(second));
  OK(cuGreenCtxDestroy(green));
  OK(cuMemFree(memory));
}

static void streams_are_detached_when_their_context_ends(void** state) {
  const fixture* f = *state;
  CUdevResource part;
  CUgreenCtx green = make_green(f, &part);
  CUstream stream = NULL;
  int active = 0;
  unsigned flags = 0;
  OK(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
  OK(cuGreenCtxDestroy(green));
  EXPECT(CUDA_ERROR_STREAM_DETACHED, cuStreamSynchronize(stream));
  EXPECT(CUDA_ERROR_STREAM_DETACHED, cuMemsetD8Async(16, 0, 0, stream));
  OK(cuStreamDestroy(stream));
  OK(cuDevicePrimaryCtxGetState(f->device, &flags, &active));
  assert_int_equal(active, 1); /* the program has retained it, too */
  EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuGreenCtxStreamCreate(&stream, green, 1, 0));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuGreenCtxCreate(&green, NULL, f->device, 1));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(resources_say_how_many_multiprocessors),
      TEST(splits_divide_all_multiprocessors),
      TEST(groups_are_found_out_and_filled_up),
      TEST(descriptions_take_parts_of_one_split),
      TEST(kernels_run_in_a_green_context),
      TEST(events_are_of_all_streams_of_a_green_context),
      TEST(streams_are_detached_when_their_context_ends),
  };
  return cmocka_run_group_tests_name("green contexts", tests, NULL, NULL);
}
