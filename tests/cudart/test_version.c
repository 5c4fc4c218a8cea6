/* Functions that one of CUDA 12 and 13 has and the other has not, or with other parameters. */
#include "support.h"

#include <string.h>

/* Libraries before CUDA 13.1 lack these functions. */
#pragma weak cudaFuncGetParamCount
#pragma weak cudaMemcpyWithAttributesAsync

#if KM_CUDART_MAJOR == 12

/* Declarations as CUDA 12's headers have them; the names are those of its symbols. */
#define RENAMED(name) __asm__(#name)
cudaError_t properties_of_12(void* out, int device) RENAMED(cudaGetDeviceProperties_v2);
cudaError_t properties_of_11(void* out, int device) RENAMED(cudaGetDeviceProperties);
cudaError_t prefetch_of_12(const void* address, size_t count, int device, cudaStream_t stream)
    RENAMED(cudaMemPrefetchAsync);
cudaError_t advise_of_12(const void* address, size_t count, enum cudaMemoryAdvise advice,
                         int device) RENAMED(cudaMemAdvise);
cudaError_t add_dependencies_of_12(cudaGraph_t graph, const cudaGraphNode_t* from,
                                   const cudaGraphNode_t* to, size_t count)
    RENAMED(cudaGraphAddDependencies);
cudaError_t edges_of_12(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                        size_t* count) RENAMED(cudaGraphGetEdges);
cudaError_t capture_info_of_12(cudaStream_t stream, enum cudaStreamCaptureStatus* status,
                               unsigned long long* id) RENAMED(cudaStreamGetCaptureInfo);
cudaError_t copy_batch_of_12(void** targets, void** sources, size_t* sizes, size_t count,
                             struct cudaMemcpyAttributes* attributes, size_t* indices,
                             size_t attribute_count, size_t* failed, cudaStream_t stream)
    RENAMED(cudaMemcpyBatchAsync);
cudaError_t cudaThreadSynchronize(void);
cudaError_t cudaThreadExit(void);
cudaError_t cudaSetDoubleForDevice(double* value);

static int int_at(const unsigned char* bytes, size_t offset) {
  int value;
  memcpy(&value, bytes + offset, sizeof value);
  return value;
}

/* Offsets in CUDA 12.9's cudaDeviceProp. */
static void properties_have_their_old_places(void** state) {
  NEEDS_TWO_DEVICES();
  (void)state;
  unsigned char whole[1032 + 8], old[728 + 8];
  int clock = 0;
  memset(whole, 0xA5, sizeof whole);
  memset(old, 0xA5, sizeof old);
  OK(properties_of_12(whole, 1));
  OK(properties_of_11(old, 1));
  assert_memory_equal(whole, old, 728);
  assert_int_equal(int_at(whole, 308), 32);   /* warpSize */
  assert_int_equal(int_at(whole, 320), 1024); /* maxThreadsPerBlock */
  OK(cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, 1));
  assert_int_equal(int_at(whole, 348), clock);
  assert_int_equal(int_at(whole, 360), 8); /* major */
  assert_int_equal(int_at(whole, 364), 9);
  assert_int_equal(whole[1032], 0xA5);
  assert_int_equal(old[728], 0xA5);
  EXPECT(cudaErrorInvalidDevice, properties_of_12(whole, 2));
  EXPECT(cudaErrorInvalidValue, properties_of_12(NULL, 0));
  EXPECT(cudaErrorInvalidValue, cudaGetLastError());
}

static void places_are_devices(void** state) {
  NEEDS_TWO_DEVICES();
  (void)state;
  void* data = NULL;
  OK(cudaMallocManaged(&data, 4096, cudaMemAttachGlobal));
  OK(advise_of_12(data, 4096, cudaMemAdviseSetPreferredLocation, 0));
  OK(prefetch_of_12(data, 4096, 0, NULL));
  OK(prefetch_of_12(data, 4096, cudaCpuDeviceId, NULL));
  EXPECT(cudaErrorInvalidDevice, prefetch_of_12(data, 4096, 9, NULL));
  EXPECT(cudaErrorInvalidDevice, cudaGetLastError());
  OK(cudaThreadSynchronize());
  OK(cudaFree(data));
}

static void edges_have_no_data(void** state) {
  (void)state;
  cudaGraph_t graph;
  cudaGraphNode_t nodes[2], from[1], to[1];
  size_t count = 1;
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphAddEmptyNode(&nodes[0], graph, NULL, 0));
  OK(cudaGraphAddEmptyNode(&nodes[1], graph, NULL, 0));
  OK(add_dependencies_of_12(graph, &nodes[0], &nodes[1], 1));
  OK(edges_of_12(graph, from, to, &count));
  assert_int_equal(count, 1);
  assert_ptr_equal(from[0], nodes[0]);
  assert_ptr_equal(to[0], nodes[1]);
  OK(cudaGraphDestroy(graph));
}

static void captures_tell_their_state(void** state) {
  (void)state;
  cudaStream_t stream;
  cudaGraph_t graph;
  enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusInvalidated;
  unsigned long long id = 0;
  OK(cudaStreamCreate(&stream));
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  OK(capture_info_of_12(stream, &status, &id));
  assert_int_equal(status, cudaStreamCaptureStatusActive);
  assert_true(id != 0);
  OK(cudaStreamEndCapture(stream, &graph));
  OK(cudaGraphDestroy(graph));
  OK(cudaStreamDestroy(stream));
}

static void batches_are_copied(void** state) {
  (void)state;
  uint32_t *a = NULL, *b = NULL, value = 77;
  cudaStream_t stream;
  struct cudaMemcpyAttributes attributes;
  size_t first = 0, failed = 0, sizes[] = {4, 4};
  memset(&attributes, 0, sizeof attributes);
  attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  OK(cudaStreamCreate(&stream));
  OK(cudaMalloc((void**)&a, 4));
  OK(cudaMalloc((void**)&b, 4));
  OK(cudaMemcpy(a, &value, 4, cudaMemcpyHostToDevice));
  void *targets[] = {b, &value}, *sources[] = {a, a};
  value = 0;
  OK(copy_batch_of_12(targets, sources, sizes, 2, &attributes, &first, 1, &failed, stream));
  OK(cudaStreamSynchronize(stream));
  assert_int_equal(read_u32(b), 77);
  assert_int_equal(value, 77);
  OK(cudaStreamDestroy(stream));
  OK(cudaFree(a));
  OK(cudaFree(b));
}

static void old_names_are_there(void** state) {
  (void)state;
  double value = 1.5;
  OK(cudaSetDoubleForDevice(&value));
  assert_true(value == 1.5);
  OK(cudaThreadExit());
  OK(cudaFree(NULL));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(properties_have_their_old_places), TEST(places_are_devices), TEST(edges_have_no_data),
      TEST(captures_tell_their_state),        TEST(batches_are_copied), TEST(old_names_are_there),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

static void places_are_locations(void** state) {
  (void)state;
  void* data = NULL;
  struct cudaMemLocation here = {.type = cudaMemLocationTypeDevice, .id = 0};
  struct cudaMemLocation host = {.type = cudaMemLocationTypeHost, .id = 0};
  OK(cudaMallocManaged(&data, 4096, cudaMemAttachGlobal));
  OK(cudaMemAdvise(data, 4096, cudaMemAdviseSetPreferredLocation, here));
  OK(cudaMemPrefetchAsync(data, 4096, here, 0, NULL));
  OK(cudaMemPrefetchAsync(data, 4096, host, 0, NULL));
  OK(cudaDeviceSynchronize());
  OK(cudaFree(data));
}

static void green_contexts_are_execution_contexts(void** state) {
  (void)state;
  cudaDevResource whole, parts[2], rest, found;
  unsigned groups = 2;
  cudaDevResourceDesc_t resources;
  cudaExecutionContext_t green = NULL, device = NULL;
  cudaStream_t stream;
  cudaEvent_t event;
  int ordinal = -1;
  unsigned long long id = 0, of_device = 0;
  void* memory = NULL;
  unsigned char byte = 0;
  OK(cudaDeviceGetDevResource(0, &whole, cudaDevResourceTypeSm));
  OK(cudaDevSmResourceSplitByCount(parts, &groups, &whole, &rest, 0, 1));
  OK(cudaDevResourceGenerateDesc(&resources, parts, 1));
  EXPECT(cudaErrorInvalidValue, cudaGreenCtxCreate(&green, resources, 0, 1));
  EXPECT(cudaErrorInvalidValue, cudaGreenCtxCreate(NULL, resources, 0, 0));
  OK(cudaGreenCtxCreate(&green, resources, 0, 0));
  OK(cudaExecutionCtxGetDevice(&ordinal, green));
  assert_int_equal(ordinal, 0);
  OK(cudaDeviceGetExecutionCtx(&device, 0));
  OK(cudaExecutionCtxGetId(green, &id));
  OK(cudaExecutionCtxGetId(device, &of_device));
  assert_true(id != of_device);
  OK(cudaExecutionCtxGetDevResource(green, &found, cudaDevResourceTypeSm));
  assert_int_equal(found.sm.smCount, parts[0].sm.smCount);
  OK(cudaExecutionCtxStreamCreate(&stream, green, cudaStreamNonBlocking, 0));
  OK(cudaStreamGetDevResource(stream, &found, cudaDevResourceTypeSm));
  assert_int_equal(found.sm.smCount, parts[0].sm.smCount);
  OK(cudaMalloc(&memory, 64));
  OK(cudaMemsetAsync(memory, 7, 64, stream));
  OK(cudaEventCreate(&event));
  OK(cudaExecutionCtxRecordEvent(green, event));
  OK(cudaExecutionCtxWaitEvent(green, event));
  OK(cudaExecutionCtxSynchronize(green));
  OK(cudaStreamQuery(stream));
  OK(cudaEventQuery(event));
  OK(cudaMemcpy(&byte, memory, 1, cudaMemcpyDeviceToHost));
  assert_int_equal(byte, 7);
  OK(cudaStreamDestroy(stream));
  OK(cudaEventDestroy(event));
  OK(cudaFree(memory));
  OK(cudaExecutionCtxDestroy(green));
  EXPECT(cudaErrorInvalidResourceHandle, cudaExecutionCtxDestroy(green));
  EXPECT(cudaErrorInvalidResourceHandle, cudaExecutionCtxGetDevice(&ordinal, green));
  EXPECT(cudaErrorInvalidResourceHandle, cudaGetLastError());
}

static void execution_contexts_stand_for_devices(void** state) {
  NEEDS_TWO_DEVICES();
  (void)state;
  cudaExecutionContext_t context = NULL;
  cudaStream_t stream;
  int device = -1;
  unsigned long long id = 0;
  OK(cudaDeviceGetExecutionCtx(&context, 1));
  OK(cudaExecutionCtxGetDevice(&device, context));
  assert_int_equal(device, 1);
  OK(cudaExecutionCtxGetId(context, &id));
  OK(cudaExecutionCtxStreamCreate(&stream, context, cudaStreamNonBlocking, 0));
  OK(cudaStreamGetDevice(stream, &device));
  assert_int_equal(device, 1);
  OK(cudaGetDevice(&device));
  assert_int_equal(device, 0);
  OK(cudaExecutionCtxSynchronize(context));
  OK(cudaStreamDestroy(stream));
  EXPECT(cudaErrorNotPermitted, cudaExecutionCtxDestroy(context));
  EXPECT(cudaErrorInvalidResourceHandle,
         cudaExecutionCtxGetDevice(&device, (cudaExecutionContext_t)&device));
  EXPECT(cudaErrorInvalidDevice, cudaDeviceGetExecutionCtx(&context, 2));
  EXPECT(cudaErrorInvalidDevice, cudaGetLastError());
}

static void batches_are_copied(void** state) {
  if (cudaMemcpyWithAttributesAsync == NULL) skip();
  (void)state;
  uint32_t *a = NULL, value = 0, out = 78;
  cudaStream_t stream;
  struct cudaMemcpyAttributes attributes;
  size_t first = 0, sizes[] = {4};
  memset(&attributes, 0, sizeof attributes);
  attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  OK(cudaStreamCreate(&stream));
  OK(cudaMalloc((void**)&a, 4));
  void* targets[] = {a};
  const void* sources[] = {&out};
  OK(cudaMemcpyBatchAsync(targets, sources, sizes, 1, &attributes, &first, 1, stream));
  OK(cudaMemcpyWithAttributesAsync(&value, a, 4, &attributes, stream));
  OK(cudaStreamSynchronize(stream));
  assert_int_equal(value, 78);
  OK(cudaStreamDestroy(stream));
  OK(cudaFree(a));
}

static void logs_are_read(void** state) {
  (void)state;
  cudaLogIterator iterator = 0;
  char text[4096] = "";
  size_t size = sizeof text;
  OK(cudaLogsCurrent(&iterator, 0));
  EXPECT(cudaErrorInvalidValue, cudaFree((void*)0x123));
  OK(cudaLogsDumpToMemory(&iterator, text, &size, 0));
  assert_true(size > 0 && text[0] != '\0');
  EXPECT(cudaErrorInvalidValue, cudaGetLastError());
}

static void parameters_are_counted(void** state) {
  if (cudaFuncGetParamCount == NULL) skip();
  (void)state;
  size_t count = 0;
  OK(cudaFuncGetParamCount((const void*)fill_index, &count));
  assert_int_equal(count, 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(places_are_locations),
      TEST(execution_contexts_stand_for_devices),
      TEST(green_contexts_are_execution_contexts),
      TEST(batches_are_copied),
      TEST(logs_are_read),
      TEST(parameters_are_counted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
