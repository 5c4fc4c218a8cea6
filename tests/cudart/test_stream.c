/* Streams, events and what the host is called for. */
#include "support.h"

#include <string.h>

static void streams_run_in_order(void** state) {
  (void)state;
  cudaStream_t stream;
  uint32_t* data = NULL;
  unsigned flags = 0;
  int priority = 1, device = -1;
  unsigned long long id = 0;
  OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  OK(cudaStreamGetFlags(stream, &flags));
  assert_int_equal(flags, cudaStreamNonBlocking);
  OK(cudaStreamGetPriority(stream, &priority));
  OK(cudaStreamGetId(stream, &id));
  OK(cudaStreamGetDevice(stream, &device));
  assert_int_equal(device, 0);
  OK(cudaMalloc((void**)&data, 400));
  OK(launch_fill(data, 0, 100, stream));
  for (int i = 0; i < 20; ++i) OK(launch_add(data, 100, stream));
  OK(cudaStreamSynchronize(stream));
  assert_int_equal(read_u32(data + 99), 119);
  OK(cudaFree(data));
  OK(cudaStreamDestroy(stream));
  EXPECT(cudaErrorInvalidResourceHandle, cudaStreamDestroy(stream));
  EXPECT(cudaErrorInvalidResourceHandle, cudaStreamDestroy(NULL));
  EXPECT(cudaErrorInvalidResourceHandle, cudaGetLastError());
}

static void events_order_streams_and_tell_time(void** state) {
  (void)state;
  cudaStream_t first, second;
  cudaEvent_t begin, end;
  uint32_t* data = NULL;
  float ms = -1;
  OK(cudaStreamCreate(&first));
  OK(cudaStreamCreateWithPriority(&second, cudaStreamNonBlocking, 0));
  OK(cudaEventCreate(&begin));
  OK(cudaEventCreateWithFlags(&end, cudaEventBlockingSync));
  OK(cudaMalloc((void**)&data, 400));
  OK(cudaEventRecord(begin, first));
  OK(launch_fill(data, 0, 100, first));
  OK(cudaEventRecordWithFlags(end, first, cudaEventRecordDefault));
  OK(cudaStreamWaitEvent(second, end, 0));
  OK(launch_add(data, 100, second));
  OK(cudaStreamSynchronize(second));
  assert_int_equal(read_u32(data + 1), 2);
  OK(cudaEventSynchronize(end));
  OK(cudaEventQuery(end));
  OK(cudaEventElapsedTime(&ms, begin, end));
  assert_true(ms >= 0);
  OK(cudaEventDestroy(begin));
  OK(cudaEventDestroy(end));
  EXPECT(cudaErrorInvalidResourceHandle, cudaEventRecord(end, first));
  EXPECT(cudaErrorInvalidResourceHandle, cudaGetLastError());
  OK(cudaStreamDestroy(first));
  OK(cudaStreamDestroy(second));
  OK(cudaFree(data));
}

typedef struct called {
  int count;
  cudaError_t status;
  cudaStream_t stream;
} called;

static void note_call(void* data) { ((called*)data)->count += 1; }

static void CUDART_CB note_status(cudaStream_t stream, cudaError_t status, void* data) {
  called* const noted = data;
  noted->count += 10;
  noted->status = status;
  noted->stream = stream;
}

static void the_host_is_called_in_order(void** state) {
  (void)state;
  cudaStream_t stream;
  called noted = {0, cudaErrorUnknown, NULL};
  OK(cudaStreamCreate(&stream));
  OK(cudaLaunchHostFunc(stream, note_call, &noted));
  OK(cudaStreamAddCallback(stream, note_status, &noted, 0));
  OK(cudaStreamSynchronize(stream));
  assert_int_equal(noted.count, 11);
  assert_int_equal(noted.status, cudaSuccess);
  assert_ptr_equal(noted.stream, stream);
  OK(cudaStreamDestroy(stream));
}

static void streams_have_attributes(void** state) {
  (void)state;
  cudaStream_t first, second;
  cudaLaunchAttributeValue value, found;
  memset(&value, 0, sizeof value);
  memset(&found, 0, sizeof found);
  OK(cudaStreamCreate(&first));
  OK(cudaStreamCreate(&second));
  value.syncPolicy = cudaSyncPolicyYield;
  OK(cudaStreamSetAttribute(first, cudaLaunchAttributeSynchronizationPolicy, &value));
  OK(cudaStreamCopyAttributes(second, first));
  OK(cudaStreamGetAttribute(second, cudaLaunchAttributeSynchronizationPolicy, &found));
  assert_int_equal(found.syncPolicy, cudaSyncPolicyYield);
  OK(cudaStreamDestroy(first));
  OK(cudaStreamDestroy(second));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(streams_run_in_order),
      TEST(events_order_streams_and_tell_time),
      TEST(the_host_is_called_in_order),
      TEST(streams_have_attributes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
