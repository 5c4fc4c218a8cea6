/* The last error of each thread, and faults of kernels. */
#include "support.h"

#include <pthread.h>

static void the_last_error_is_taken_once(void** state) {
  (void)state;
  void* memory = NULL;
  EXPECT(cudaErrorMemoryAllocation, cudaMalloc(&memory, (size_t)1 << 60));
  assert_null(memory);
  EXPECT(cudaErrorMemoryAllocation, cudaPeekAtLastError());
  EXPECT(cudaErrorMemoryAllocation, cudaPeekAtLastError());
  EXPECT(cudaErrorMemoryAllocation, cudaGetLastError());
  EXPECT(cudaSuccess, cudaGetLastError());
}

static void calls_that_succeed_leave_the_last_error(void** state) {
  (void)state;
  EXPECT(cudaErrorInvalidDevice, cudaSetDevice(1000));
  OK(cudaDeviceSynchronize());
  EXPECT(cudaErrorInvalidDevice, cudaGetLastError());
}

static void* error_of_thread(void* unused) {
  (void)unused;
  return (void*)(uintptr_t)cudaGetLastError();
}

static void each_thread_has_its_own(void** state) {
  (void)state;
  pthread_t thread;
  void* other = (void*)1;
  EXPECT(cudaErrorInvalidValue, cudaGetDeviceCount(NULL));
  assert_int_equal(pthread_create(&thread, NULL, error_of_thread, NULL), 0);
  assert_int_equal(pthread_join(thread, &other), 0);
  assert_int_equal((uintptr_t)other, cudaSuccess);
  EXPECT(cudaErrorInvalidValue, cudaGetLastError());
}

static void errors_have_names_and_texts(void** state) {
  (void)state;
  assert_string_equal(cudaGetErrorName(cudaSuccess), "cudaSuccess");
  assert_string_equal(cudaGetErrorString(cudaSuccess), "no error");
  assert_string_equal(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue");
  assert_string_equal(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument");
  assert_string_equal(cudaGetErrorString(cudaErrorInvalidConfiguration),
                      "invalid configuration argument");
  assert_string_equal(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
  assert_string_equal(cudaGetErrorName((cudaError_t)12345), "unrecognized error code");
  assert_string_equal(cudaGetErrorString((cudaError_t)12345), "unrecognized error code");
}

static void a_fault_sticks_until_the_device_is_reset(void** state) {
  NOT_ON_NVIDIAS_DRIVER();
  (void)state;
  uint32_t* data = NULL;
  OK(cudaMalloc((void**)&data, 256));
  OK(cudaLaunchKernel((const void*)crash, dims(1, 1, 1), dims(1, 1, 1), NULL, 0, NULL));
  EXPECT(cudaErrorLaunchFailure, cudaDeviceSynchronize());
  EXPECT(cudaErrorLaunchFailure, cudaGetLastError());
  EXPECT(cudaErrorLaunchFailure, cudaGetLastError());
  EXPECT(cudaErrorLaunchFailure, cudaMalloc((void**)&data, 4));
  EXPECT(cudaErrorLaunchFailure, cudaPeekAtLastError());
  OK(cudaDeviceReset());
  OK(cudaGetLastError());
  OK(cudaMalloc((void**)&data, 256));
  OK(launch_fill(data, 9, 64, NULL));
  assert_int_equal(read_u32(data), 9);
  OK(cudaFree(data));
}

static void a_wait_that_is_not_over_is_an_error_of_its_own(void** state) {
  (void)state;
  uint32_t *flag = NULL, *out = NULL;
  cudaStream_t stream;
  OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  OK(cudaHostAlloc((void**)&flag, 4, cudaHostAllocMapped));
  OK(cudaMalloc((void**)&out, 4));
  *flag = 0;
  void* arguments[] = {&flag, &out};
  OK(cudaLaunchKernel((const void*)slow, dims(1, 1, 1), dims(1, 1, 1), arguments, 0, stream));
  EXPECT(cudaErrorNotReady, cudaStreamQuery(stream));
  EXPECT(cudaErrorNotReady, cudaGetLastError());
  *(volatile uint32_t*)flag = 1;
  OK(cudaStreamSynchronize(stream));
  OK(cudaStreamQuery(stream));
  assert_int_equal(read_u32(out), 1);
  OK(cudaStreamDestroy(stream));
  OK(cudaFree(out));
  OK(cudaFreeHost(flag));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(the_last_error_is_taken_once),
      TEST(calls_that_succeed_leave_the_last_error),
      TEST(each_thread_has_its_own),
      TEST(errors_have_names_and_texts),
      TEST(a_fault_sticks_until_the_device_is_reset),
      TEST(a_wait_that_is_not_over_is_an_error_of_its_own),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
