/* Devices: each thread has one of its own, with its primary context. */
#include "support.h"

#include <pthread.h>
#include <string.h>

static void devices_are_counted_and_chosen(void** state) {
  NEEDS_TWO_DEVICES();
  (void)state;
  int count = 0, device = -1;
  OK(cudaGetDeviceCount(&count));
  assert_int_equal(count, 2);
  OK(cudaSetDevice(1));
  OK(cudaGetDevice(&device));
  assert_int_equal(device, 1);
  EXPECT(cudaErrorInvalidDevice, cudaSetDevice(2));
  EXPECT(cudaErrorInvalidDevice, cudaSetDevice(-1));
  OK(cudaGetDevice(&device));
  assert_int_equal(device, 1);
  OK(cudaSetDevice(0));
  EXPECT(cudaErrorInvalidDevice, cudaGetLastError());
}

static void* device_of_thread(void* out) {
  int device = -1;
  if (cudaGetDevice(&device) == cudaSuccess) *(int*)out = device;
  return NULL;
}

static void threads_begin_with_the_first_device(void** state) {
  NEEDS_TWO_DEVICES();
  (void)state;
  pthread_t thread;
  int device = -1;
  OK(cudaSetDevice(1));
  assert_int_equal(pthread_create(&thread, NULL, device_of_thread, &device), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_int_equal(device, 0);
  OK(cudaSetDevice(0));
}

static void kernels_run_on_the_device_of_the_thread(void** state) {
  NEEDS_TWO_DEVICES();
  (void)state;
  for (int device = 0; device < 2; ++device) {
    uint32_t* data = NULL;
    struct cudaPointerAttributes known;
    OK(cudaSetDevice(device));
    OK(cudaMalloc((void**)&data, 400));
    OK(launch_fill(data, 5, 100, NULL));
    OK(launch_add(data, 100, NULL));
    assert_int_equal(read_u32(data + 99), 105);
    OK(cudaPointerGetAttributes(&known, data));
    assert_int_equal(known.device, device);
    OK(cudaFree(data));
  }
}

static void versions_are_those_of_the_libraries(void** state) {
  NOT_ON_NVIDIAS_DRIVER();
  (void)state;
  int runtime = 0, driver = 0;
  OK(cudaRuntimeGetVersion(&runtime));
  OK(cudaDriverGetVersion(&driver));
  assert_int_equal(runtime / 1000, KM_CUDART_MAJOR);
  assert_true(driver >= runtime);
  EXPECT(cudaErrorInvalidValue, cudaRuntimeGetVersion(NULL));
  EXPECT(cudaErrorInvalidValue, cudaGetLastError());
}

static void attributes_are_the_drivers(void** state) {
  NEEDS_TWO_DEVICES();
  (void)state;
  int warp = 0, threads = 0, major = 0;
  OK(cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, 0));
  OK(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerBlock, 1));
  OK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  assert_int_equal(warp, 32);
  assert_int_equal(threads, 1024);
  assert_int_equal(major, 8);
  EXPECT(cudaErrorInvalidDevice, cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, 7));
  EXPECT(cudaErrorInvalidDevice, cudaGetLastError());
}

#if KM_CUDART_MAJOR == 13
static void properties_agree_with_attributes(void** state) {
  (void)state;
  struct cudaDeviceProp found, wished;
  int value = 0, best = -1;
  memset(&found, 0xFF, sizeof found);
  OK(cudaGetDeviceProperties(&found, 1));
  assert_true(strlen(found.name) > 0 && strlen(found.name) < sizeof found.name);
  assert_int_equal(found.warpSize, 32);
  assert_int_equal(found.major, 8);
  assert_int_equal(found.minor, 9);
  assert_int_equal(found.maxThreadsDim[2], 64);
  assert_true(found.totalGlobalMem > 0);
  OK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 1));
  assert_int_equal(found.multiProcessorCount, value);
  OK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 1));
  assert_int_equal(found.sharedMemPerBlockOptin, value);
  OK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxGridDimY, 1));
  assert_int_equal(found.maxGridSize[1], value);
  OK(cudaDeviceGetAttribute(&value, cudaDevAttrHostNumaId, 1));
  assert_int_equal(found.hostNumaId, value);
  EXPECT(cudaErrorInvalidDevice, cudaGetDeviceProperties(&found, 2));
  EXPECT(cudaErrorInvalidDevice, cudaGetLastError());
  memset(&wished, 0, sizeof wished);
  OK(cudaChooseDevice(&best, &wished));
  assert_int_equal(best, 0);
}
#endif

static void limits_and_configurations_are_kept(void** state) {
  (void)state;
  size_t heap = 0;
  enum cudaFuncCache cache = cudaFuncCachePreferNone;
  int least = 1, greatest = 1;
  OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, (size_t)32 << 20));
  OK(cudaDeviceGetLimit(&heap, cudaLimitMallocHeapSize));
  assert_true(heap >= (size_t)32 << 20);
  OK(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
  OK(cudaDeviceGetCacheConfig(&cache));
  OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  assert_true(greatest <= least);
  EXPECT(cudaErrorInvalidValue, cudaDeviceSetLimit((enum cudaLimit)99, 1));
  EXPECT(cudaErrorInvalidValue, cudaGetLastError());
}

static void a_reset_ends_everything_of_the_device(void** state) {
  (void)state;
  uint32_t* data = NULL;
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  OK(cudaMalloc((void**)&data, 64));
  OK(cudaDeviceReset());
  EXPECT(cudaErrorInvalidResourceHandle, cudaStreamSynchronize(stream));
  EXPECT(cudaErrorInvalidResourceHandle, cudaGetLastError());
  OK(cudaMalloc((void**)&data, 64));
  OK(launch_fill(data, 1, 16, NULL));
  assert_int_equal(read_u32(data + 15), 16);
  OK(cudaFree(data));
}

static void flags_are_the_contexts(void** state) {
  NEEDS_TWO_DEVICES();
  (void)state;
  unsigned flags = 0;
  OK(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
  OK(cudaGetDeviceFlags(&flags));
  assert_int_equal(flags & cudaDeviceScheduleMask, cudaDeviceScheduleBlockingSync);
  EXPECT(cudaErrorInvalidValue, cudaSetDeviceFlags(0x10000));
  EXPECT(cudaErrorInvalidValue, cudaGetLastError());
  OK(cudaSetDeviceFlags(cudaDeviceScheduleAuto));
  OK(cudaInitDevice(1, 0, 0));
  EXPECT(cudaErrorInvalidDevice, cudaInitDevice(9, 0, 0));
  EXPECT(cudaErrorInvalidDevice, cudaGetLastError());
}

static void devices_reach_each_others_memory(void** state) {
  NEEDS_TWO_DEVICES();
  (void)state;
  uint32_t *here = NULL, *there = NULL;
  int can = 0, pci = -1;
  char bus[32] = "";
  OK(cudaDeviceCanAccessPeer(&can, 0, 1));
  assert_int_equal(can, 1);
  OK(cudaDeviceEnablePeerAccess(1, 0));
  EXPECT(cudaErrorPeerAccessAlreadyEnabled, cudaDeviceEnablePeerAccess(1, 0));
  EXPECT(cudaErrorPeerAccessAlreadyEnabled, cudaGetLastError());
  EXPECT(cudaErrorInvalidDevice, cudaDeviceEnablePeerAccess(0, 0));
  EXPECT(cudaErrorInvalidDevice, cudaDeviceEnablePeerAccess(2, 0));
  EXPECT(cudaErrorInvalidDevice, cudaGetLastError());
  OK(cudaMalloc((void**)&here, 256));
  OK(cudaSetDevice(1));
  OK(cudaMalloc((void**)&there, 256));
  OK(launch_fill(there, 40, 64, NULL));
  OK(cudaMemcpyPeer(here, 0, there, 1, 256));
  assert_int_equal(read_u32(here + 2), 42);
  OK(cudaMemset(there, 0, 256));
  OK(cudaMemcpyPeerAsync(there, 1, here, 0, 256, NULL));
  assert_int_equal(read_u32(there + 3), 43);
  OK(cudaFree(there));
  OK(cudaSetDevice(0));
  OK(cudaFree(here));
  OK(cudaDeviceDisablePeerAccess(1));
  OK(cudaDeviceGetPCIBusId(bus, sizeof bus, 1));
  OK(cudaDeviceGetByPCIBusId(&pci, bus));
  assert_int_equal(pci, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(devices_are_counted_and_chosen),
      TEST(threads_begin_with_the_first_device),
      TEST(kernels_run_on_the_device_of_the_thread),
      TEST(versions_are_those_of_the_libraries),
      TEST(attributes_are_the_drivers),
#if KM_CUDART_MAJOR == 13
      TEST(properties_agree_with_attributes),
#endif
      TEST(limits_and_configurations_are_kept),
      TEST(a_reset_ends_everything_of_the_device),
      TEST(flags_are_the_contexts),
      TEST(devices_reach_each_others_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
