/* Functions that are not there say so; what needs no device needs none. */
#include "support.h"

#include <string.h>

static void what_is_missing_has_a_status(void** state) {
  (void)state;
  const struct cudaChannelFormatDesc floats =
      cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
  const struct cudaChannelFormatDesc odd =
      cudaCreateChannelDesc(7, 0, 0, 0, cudaChannelFormatKindFloat);
  cudaArray_t array = NULL;
  struct cudaExternalMemoryHandleDesc memory;
  cudaExternalMemory_t imported = NULL;
  cudaGraphicsResource_t resource = NULL;
  memset(&memory, 0, sizeof memory);
  assert_int_equal(floats.x, 32);
  assert_int_equal(floats.f, cudaChannelFormatKindFloat);
  EXPECT(cudaErrorInvalidChannelDescriptor, cudaMallocArray(&array, &odd, 4, 4, 0));
  EXPECT(cudaErrorNotSupported, cudaImportExternalMemory(&imported, &memory));
  EXPECT(cudaErrorNotSupported, cudaGraphicsMapResources(1, &resource, NULL));
  EXPECT(cudaErrorNotSupported, cudaGetLastError());
}

static void garbage_is_refused(void** state) {
  NOT_ON_NVIDIAS_DRIVER();
  (void)state;
  float ms = 0;
  size_t size = 0;
  void* const garbage = (void*)0x1234567;
  EXPECT(cudaErrorInvalidResourceHandle, cudaStreamSynchronize((cudaStream_t)garbage));
  EXPECT(cudaErrorInvalidResourceHandle, cudaEventRecord((cudaEvent_t)garbage, NULL));
  EXPECT(cudaErrorInvalidResourceHandle,
         cudaEventElapsedTime(&ms, (cudaEvent_t)garbage, (cudaEvent_t)garbage));
  EXPECT(cudaErrorInvalidValue, cudaMemcpy(garbage, &ms, 4, cudaMemcpyHostToDevice));
  EXPECT(cudaErrorInvalidSymbol, cudaGetSymbolSize(&size, garbage));
  EXPECT(cudaErrorInvalidDeviceFunction,
         cudaLaunchKernel(garbage, dims(1, 1, 1), dims(1, 1, 1), NULL, 0, NULL));
  EXPECT(cudaErrorInvalidValue, cudaGraphLaunch((cudaGraphExec_t)garbage, NULL));
  EXPECT(cudaErrorInvalidValue, cudaGraphLaunch(NULL, NULL));
  EXPECT(cudaErrorInvalidValue, cudaGraphDestroy((cudaGraph_t)garbage));
  EXPECT(cudaErrorInvalidValue, cudaGraphGetNodes((cudaGraph_t)garbage, NULL, &size));
  EXPECT(cudaErrorInvalidValue, cudaMemPoolDestroy((cudaMemPool_t)garbage));
  EXPECT(cudaErrorInvalidValue, cudaMemPoolTrimTo((cudaMemPool_t)garbage, 0));
  EXPECT(cudaErrorInvalidValue, cudaFreeHost(garbage));
  __cudaUnregisterFatBinary(garbage);
  __cudaRegisterVar(garbage, garbage, NULL, "x", 0, 4, 0, 0);
  assert_true(cudaGetLastError() != cudaSuccess);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(what_is_missing_has_a_status),
      TEST(garbage_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
