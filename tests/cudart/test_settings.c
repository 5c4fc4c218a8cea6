/* Settings and questions that have no effect on results: programs of others make these calls. */
#include "support.h"

cudaError_t cudaProfilerStart(void);
cudaError_t cudaProfilerStop(void);
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* of shared memory's banks */

static void settings_are_taken(void** state) {
  (void)state;
  OK(cudaProfilerStart());
  OK(cudaProfilerStop());
  OK(cudaCtxResetPersistingL2Cache());
  enum cudaSharedMemConfig config = cudaSharedMemBankSizeDefault;
  OK(cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeEightByte));
  OK(cudaDeviceGetSharedMemConfig(&config));
}

static void managed_memory_is_attached_to_a_stream(void** state) {
  (void)state;
  uint32_t* managed = NULL;
  cudaStream_t stream = NULL;
  OK(cudaStreamCreate(&stream));
  OK(cudaMallocManaged((void**)&managed, 64 * sizeof *managed, cudaMemAttachHost));
  for (int i = 0; i < 64; ++i) managed[i] = (uint32_t)i;
  OK(cudaStreamAttachMemAsync(stream, managed, 0, cudaMemAttachSingle));
  OK(launch_add(managed, 64, stream));
  OK(cudaStreamSynchronize(stream));
  for (uint32_t i = 0; i < 64; ++i) assert_int_equal(managed[i], i + 1);
  OK(cudaStreamAttachMemAsync(NULL, managed, 0, cudaMemAttachGlobal));
  EXPECT(cudaErrorInvalidValue, cudaStreamAttachMemAsync(stream, NULL, 0, cudaMemAttachSingle));
  cudaGetLastError();
  OK(cudaFree(managed));
  OK(cudaStreamDestroy(stream));
}

static void devices_say_what_they_do_for_each_other(void** state) {
  (void)state;
  NEEDS_TWO_DEVICES();
  int can = -1, rank = -1;
  OK(cudaDeviceCanAccessPeer(&can, 0, 1));
  OK(cudaDeviceGetP2PAttribute(&rank, cudaDevP2PAttrAccessSupported, 0, 1));
  assert_int_equal(rank, can);
  OK(cudaDeviceGetP2PAttribute(&rank, cudaDevP2PAttrPerformanceRank, 0, 1));
  assert_true(rank >= 0);
  EXPECT(cudaErrorInvalidDevice, cudaDeviceGetP2PAttribute(&rank, 1, 0, 99));
  cudaGetLastError();
}

static void arrays_know_their_format(void** state) {
  (void)state;
  enum { kWidth = 5, kHeight = 3 };
  const struct cudaChannelFormatDesc format = {32, 0, 0, 0, cudaChannelFormatKindUnsigned};
  struct cudaChannelFormatDesc found = {0};
  uint32_t in[kHeight][kWidth], out[kHeight][kWidth] = {{0}};
  cudaArray_t array = NULL;
  for (uint32_t y = 0; y < kHeight; ++y) {
    for (uint32_t x = 0; x < kWidth; ++x) in[y][x] = 10 * y + x;
  }
  OK(cudaMallocArray(&array, &format, kWidth, kHeight, 0));
  OK(cudaGetChannelDesc(&found, array));
  assert_memory_equal(&found, &format, sizeof found);
  OK(cudaMemcpy2DToArrayAsync(array, 0, 0, in, sizeof *in, sizeof *in, kHeight,
                              cudaMemcpyHostToDevice, NULL));
  OK(cudaStreamSynchronize(NULL));
  OK(cudaMemcpy2DFromArray(out, sizeof *out, array, 0, 0, sizeof *out, kHeight,
                           cudaMemcpyDeviceToHost));
  assert_memory_equal(in, out, sizeof in);
  EXPECT(cudaErrorInvalidValue, cudaMemcpy2DToArrayAsync(array, 1, 0, in, sizeof *in, sizeof *in,
                                                         kHeight, cudaMemcpyHostToDevice, NULL));
  cudaGetLastError();
  OK(cudaFreeArray(array));
}

static void graphs_are_cloned_uploaded_and_captured_into(void** state) {
  (void)state;
  enum { kCount = 100 };
  cudaGraph_t graph = NULL, clone = NULL;
  cudaGraphNode_t copy = NULL;
  cudaGraphExec_t exec = NULL;
  cudaStream_t stream = NULL;
  uint32_t *data = NULL, in[kCount], out[kCount] = {0};
  uint64_t used = 1;
  for (uint32_t i = 0; i < kCount; ++i) in[i] = 3 * i;
  OK(cudaStreamCreate(&stream));
  OK(cudaMalloc((void**)&data, sizeof in));
  struct cudaMemcpy3DParms parameters = {0};
  parameters.srcPtr = (struct cudaPitchedPtr){in, sizeof in, sizeof in, 1};
  parameters.dstPtr = (struct cudaPitchedPtr){data, sizeof in, sizeof in, 1};
  parameters.extent = (struct cudaExtent){sizeof in, 1, 1};
  parameters.kind = cudaMemcpyHostToDevice;
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphAddMemcpyNode(&copy, graph, NULL, 0, &parameters));
  OK(cudaStreamBeginCaptureToGraph(stream, graph, &copy, NULL, 1, cudaStreamCaptureModeGlobal));
  OK(launch_add(data, kCount, stream));
  OK(cudaStreamEndCapture(stream, &graph));
  OK(cudaGraphClone(&clone, graph));
  OK(cudaGraphDestroy(graph));
  OK(cudaGraphInstantiate(&exec, clone, 0));
  OK(cudaGraphUpload(exec, stream));
  OK(cudaGraphLaunch(exec, stream));
  OK(cudaStreamSynchronize(stream));
  OK(cudaMemcpy(out, data, sizeof out, cudaMemcpyDeviceToHost));
  for (uint32_t i = 0; i < kCount; ++i) assert_int_equal(out[i], 3 * i + 1);
  OK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
  assert_int_equal(used, 0);
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(clone));
  OK(cudaFree(data));
  OK(cudaStreamDestroy(stream));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(settings_are_taken),
      TEST(managed_memory_is_attached_to_a_stream),
      TEST(devices_say_what_they_do_for_each_other),
      TEST(arrays_know_their_format),
      TEST(graphs_are_cloned_uploaded_and_captured_into),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
