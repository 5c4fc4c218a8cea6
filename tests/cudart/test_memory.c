/* Memory of all kinds. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

static void memory_is_given_and_taken(void** state) {
  (void)state;
  void* memory = (void*)1;
  size_t before = 0, after = 0, total = 0;
  OK(cudaMalloc(&memory, 0));
  assert_null(memory);
  OK(cudaFree(NULL));
  for (int rounds = 0; after >= before; ++rounds) { /* other programs free memory, too */
    assert_true(rounds < 50);
    OK(cudaMemGetInfo(&before, &total));
    OK(cudaMalloc(&memory, (size_t)64 << 20));
    OK(cudaMemGetInfo(&after, &total));
    assert_true(before <= total);
    OK(cudaFree(memory));
  }
  EXPECT(cudaErrorInvalidValue, cudaFree(memory));
  EXPECT(cudaErrorInvalidValue, cudaFree((void*)0x1234));
  EXPECT(cudaErrorInvalidValue, cudaMalloc(NULL, 4));
  EXPECT(cudaErrorInvalidValue, cudaGetLastError());
}

static void rows_are_padded(void** state) {
  (void)state;
  void* rows = NULL;
  size_t pitch = 0;
  struct cudaPitchedPtr box;
  const struct cudaExtent extent = {100, 5, 3};
  OK(cudaMallocPitch(&rows, &pitch, 100, 7));
  assert_true(pitch >= 100 && pitch % 64 == 0);
  OK(cudaMemset2D(rows, pitch, 1, 100, 7));
  OK(cudaFree(rows));
  OK(cudaMalloc3D(&box, extent));
  assert_int_equal(box.xsize, 100);
  assert_int_equal(box.ysize, 5);
  assert_true(box.pitch >= 100);
  OK(cudaMemset3D(box, 7, extent));
  OK(cudaFree(box.ptr));
}

static void host_memory_is_mapped(void** state) {
  (void)state;
  uint32_t *host = NULL, *mapped = NULL;
  unsigned flags = 0;
  OK(cudaHostAlloc((void**)&host, 256, cudaHostAllocMapped | cudaHostAllocPortable));
  OK(cudaHostGetFlags(&flags, host));
  assert_int_equal(flags & cudaHostAllocPortable, cudaHostAllocPortable);
  OK(cudaHostGetDevicePointer((void**)&mapped, host, 0));
  OK(launch_fill(mapped, 3, 64, NULL));
  OK(cudaDeviceSynchronize());
  assert_int_equal(host[63], 66);
  OK(cudaFreeHost(host));
  OK(cudaMallocHost((void**)&host, 256));
  OK(cudaFreeHost(host));
  OK(cudaFreeHost(NULL));
}

static void memory_of_the_program_is_registered(void** state) {
  (void)state;
  uint32_t* host = aligned_alloc(4096, 4096);
  uint32_t* mapped = NULL;
  struct cudaPointerAttributes known;
  OK(cudaPointerGetAttributes(&known, host));
  assert_int_equal(known.type, cudaMemoryTypeUnregistered);
  OK(cudaHostRegister(host, 4096, cudaHostRegisterMapped));
  EXPECT(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(host, 4096, 0));
  OK(cudaPointerGetAttributes(&known, host));
  assert_int_equal(known.type, cudaMemoryTypeHost);
  OK(cudaHostGetDevicePointer((void**)&mapped, host, 0));
  OK(launch_fill(mapped, 8, 32, NULL));
  OK(cudaDeviceSynchronize());
  assert_int_equal(host[31], 39);
  OK(cudaHostUnregister(host));
  EXPECT(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(host));
  EXPECT(cudaErrorHostMemoryNotRegistered, cudaGetLastError());
  free(host);
}

static void managed_memory_is_shared(void** state) {
  (void)state;
  uint32_t* data = NULL;
  struct cudaPointerAttributes known;
  OK(cudaMallocManaged((void**)&data, 256, cudaMemAttachGlobal));
  data[0] = 5;
  OK(launch_add(data, 64, NULL));
  OK(cudaDeviceSynchronize());
  assert_int_equal(data[0], 6);
  OK(cudaPointerGetAttributes(&known, data));
  assert_int_equal(known.type, cudaMemoryTypeManaged);
  assert_ptr_equal(known.devicePointer, data);
  assert_ptr_equal(known.hostPointer, data);
  OK(cudaFree(data));
  EXPECT(cudaErrorInvalidValue, cudaMallocManaged((void**)&data, 0, cudaMemAttachGlobal));
  EXPECT(cudaErrorInvalidValue, cudaGetLastError());
}

static void pointers_tell_what_they_are(void** state) {
  (void)state;
  char* device = NULL;
  struct {
    struct cudaPointerAttributes known;
    char after[8];
  } guarded;
  OK(cudaMalloc((void**)&device, 100));
  memset(&guarded, 0x5A, sizeof guarded);
  OK(cudaPointerGetAttributes(&guarded.known, device + 10));
  assert_int_equal(guarded.known.type, cudaMemoryTypeDevice);
  assert_int_equal(guarded.known.device, 0);
  assert_ptr_equal(guarded.known.devicePointer, device + 10);
  assert_int_equal(guarded.after[0], 0x5A);
#if KM_CUDART_MAJOR == 12 /* whose structure ends here */
  assert_int_equal(*(char*)guarded.known.reserved, 0x5A);
#endif
  OK(cudaFree(device));
}

static void streams_own_memory(void** state) {
  (void)state;
  uint32_t* data = NULL;
  cudaStream_t stream;
  cudaMemPool_t pool, current;
  unsigned long long threshold = 1 << 20, kept = 0;
  OK(cudaStreamCreate(&stream));
  OK(cudaMallocAsync((void**)&data, 4096, stream));
  OK(launch_fill(data, 2, 1024, stream));
  uint32_t last = 0;
  OK(cudaMemcpyAsync(&last, data + 1023, 4, cudaMemcpyDeviceToHost, stream));
  OK(cudaFreeAsync(data, stream));
  OK(cudaStreamSynchronize(stream));
  assert_int_equal(last, 1025);
  OK(cudaDeviceGetDefaultMemPool(&pool, 0));
  OK(cudaDeviceGetMemPool(&current, 0));
  assert_ptr_equal(pool, current);
  OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept));
  assert_int_equal(kept, threshold);
  OK(cudaMemPoolTrimTo(pool, 0));
  OK(cudaStreamDestroy(stream));
}

static void pools_are_made(void** state) {
  (void)state;
  struct cudaMemPoolProps properties;
  cudaMemPool_t pool;
  void* memory = NULL;
  memset(&properties, 0, sizeof properties);
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  OK(cudaMemPoolCreate(&pool, &properties));
  OK(cudaMallocFromPoolAsync(&memory, 1000, pool, NULL));
  OK(cudaMemsetAsync(memory, 1, 1000, NULL));
  OK(cudaFreeAsync(memory, NULL));
  OK(cudaDeviceSynchronize());
  OK(cudaMemPoolDestroy(pool));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(memory_is_given_and_taken), TEST(rows_are_padded),
      TEST(host_memory_is_mapped),     TEST(memory_of_the_program_is_registered),
      TEST(managed_memory_is_shared),  TEST(pointers_tell_what_they_are),
      TEST(streams_own_memory),        TEST(pools_are_made),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
