/* Copies and fills. */
#include "support.h"

#include <string.h>

cudaError_t cudaMemcpy_ptds(void* target, const void* source, size_t size,
                            enum cudaMemcpyKind kind);
cudaError_t cudaMemset_ptds(void* target, int value, size_t size);
cudaError_t cudaMemcpyAsync_ptsz(void* target, const void* source, size_t size,
                                 enum cudaMemcpyKind kind, cudaStream_t stream);

static void every_direction_copies(void** state) {
  (void)state;
  char host[64], back[64], other[64];
  char *a = NULL, *b = NULL;
  for (int i = 0; i < 64; ++i) host[i] = (char)i;
  OK(cudaMalloc((void**)&a, 64));
  OK(cudaMalloc((void**)&b, 64));
  OK(cudaMemcpy(a, host, 64, cudaMemcpyHostToDevice));
  OK(cudaMemcpy(b, a, 64, cudaMemcpyDeviceToDevice));
  OK(cudaMemcpy(back, b, 64, cudaMemcpyDeviceToHost));
  assert_memory_equal(back, host, 64);
  OK(cudaMemcpy(other, host, 64, cudaMemcpyHostToHost));
  assert_memory_equal(other, host, 64);
  memset(back, 0, 64);
  OK(cudaMemset(a, 0, 64));
  OK(cudaMemcpy(a, host, 64, cudaMemcpyDefault));
  OK(cudaMemcpy(back, a, 64, cudaMemcpyDefault));
  assert_memory_equal(back, host, 64);
  OK(cudaMemcpy(NULL, NULL, 0, cudaMemcpyHostToDevice));
  EXPECT(cudaErrorInvalidMemcpyDirection, cudaMemcpy(a, host, 4, (enum cudaMemcpyKind)7));
  EXPECT(cudaErrorInvalidValue, cudaMemcpy(a, host, 65, cudaMemcpyHostToDevice));
  EXPECT(cudaErrorInvalidValue, cudaGetLastError());
  OK(cudaFree(a));
  OK(cudaFree(b));
}

static void rows_are_copied(void** state) {
  (void)state;
  char host[5][10], back[5][8];
  char* device = NULL;
  size_t pitch = 0;
  for (int i = 0; i < 50; ++i) host[i / 10][i % 10] = (char)i;
  OK(cudaMallocPitch((void**)&device, &pitch, 8, 5));
  OK(cudaMemcpy2D(device, pitch, host, 10, 8, 5, cudaMemcpyHostToDevice));
  OK(cudaMemcpy2DAsync(back, 8, device, pitch, 8, 5, cudaMemcpyDeviceToHost, NULL));
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < 40; ++i) assert_int_equal(back[i / 8][i % 8], host[i / 8][i % 8]);
  EXPECT(cudaErrorInvalidPitchValue,
         cudaMemcpy2D(device, pitch, host, 4, 8, 5, cudaMemcpyHostToDevice));
  EXPECT(cudaErrorInvalidPitchValue, cudaGetLastError());
  OK(cudaMemset2D(device, pitch, 9, 3, 2));
  OK(cudaMemcpy2D(back, 8, device, pitch, 8, 5, cudaMemcpyDeviceToHost));
  assert_int_equal(back[1][2], 9);
  assert_int_equal(back[1][3], 13);
  assert_int_equal(back[2][0], 20);
  OK(cudaFree(device));
}

/* No second row is there, so none of these pitches is used: programs pass 0 or the size of an
 * element. */
static void the_pitch_of_one_row_may_be_less_than_its_width(void** state) {
  (void)state;
  const struct cudaChannelFormatDesc bytes = {8, 0, 0, 0, cudaChannelFormatKindUnsigned};
  const char host[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  char back[8] = {0};
  char* device = NULL;
  cudaArray_t array = NULL;
  OK(cudaMalloc((void**)&device, 8));
  OK(cudaMallocArray(&array, &bytes, 8, 2, 0));
  OK(cudaMemcpy2D(device, 1, host, 0, 8, 1, cudaMemcpyDefault));
  OK(cudaMemcpy2DAsync(back, 0, device, 4, 8, 1, cudaMemcpyDeviceToHost, NULL));
  OK(cudaDeviceSynchronize());
  assert_memory_equal(back, host, 8);
  OK(cudaMemcpy2DToArray(array, 0, 1, host, 1, 8, 1, cudaMemcpyHostToDevice));
  memset(back, 0, sizeof back);
  OK(cudaMemcpy2DFromArray(back, 1, array, 0, 1, 8, 1, cudaMemcpyDeviceToHost));
  assert_memory_equal(back, host, 8);
  OK(cudaMemset2D(device, 1, 9, 6, 1));
  OK(cudaMemcpy(back, device, 8, cudaMemcpyDeviceToHost));
  assert_memory_equal(back, "\11\11\11\11\11\11\7\10", 8);
  OK(cudaFreeArray(array));
  OK(cudaFree(device));
}

static void boxes_are_copied(void** state) {
  (void)state;
  char host[4][3][8], back[4][3][8];
  struct cudaPitchedPtr box;
  const struct cudaExtent extent = {8, 3, 4}, part = {2, 1, 2};
  struct cudaMemcpy3DParms copy;
  for (int i = 0; i < 96; ++i) ((char*)host)[i] = (char)i;
  OK(cudaMalloc3D(&box, extent));
  memset(&copy, 0, sizeof copy);
  copy.srcPtr.ptr = host;
  copy.srcPtr.pitch = copy.srcPtr.xsize = 8;
  copy.srcPtr.ysize = 3;
  copy.dstPtr = box;
  copy.extent = extent;
  copy.kind = cudaMemcpyHostToDevice;
  OK(cudaMemcpy3D(&copy));
  struct cudaMemcpy3DParms out = copy;
  out.srcPtr = box;
  out.dstPtr = copy.srcPtr;
  out.dstPtr.ptr = back;
  out.kind = cudaMemcpyDeviceToHost;
  OK(cudaMemcpy3DAsync(&out, NULL));
  OK(cudaDeviceSynchronize());
  assert_memory_equal(back, host, sizeof host);
  memset(back, 0, sizeof back);
  out.srcPos.x = 3;
  out.srcPos.y = 1;
  out.srcPos.z = 1;
  out.extent = part;
  OK(cudaMemcpy3D(&out));
  assert_int_equal(back[1][0][1], host[2][1][4]);
  assert_int_equal(back[0][0][2], 0);
  OK(cudaMemset3D(box, 1, part));
  OK(cudaMemcpy(back, box.ptr, 8, cudaMemcpyDeviceToHost));
  assert_int_equal(back[0][0][1], 1);
  assert_int_equal(back[0][0][2], 2);
  out.srcPtr.ptr = NULL;
  EXPECT(cudaErrorInvalidValue, cudaMemcpy3D(&out));
  EXPECT(cudaErrorInvalidValue, cudaMemcpy3D(NULL));
  EXPECT(cudaErrorInvalidValue, cudaGetLastError());
  OK(cudaFree(box.ptr));
}

/* The twins of programs with a default stream for each thread do not wait for the legacy one. */
static void threads_have_default_streams(void** state) {
  (void)state;
  uint32_t *flag = NULL, *out = NULL, *data = NULL, value = 0;
  OK(cudaHostAlloc((void**)&flag, 4, cudaHostAllocMapped));
  OK(cudaMalloc((void**)&out, 4));
  OK(cudaMalloc((void**)&data, 4));
  *flag = 0;
  cudaStream_t other;
  OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  void* arguments[] = {&flag, &out};
  OK(cudaLaunchKernel((const void*)slow, dims(1, 1, 1), dims(1, 1, 1), arguments, 0, other));
  OK(cudaMemset_ptds(data, 0x11, 4));
  OK(cudaMemcpy_ptds(&value, data, 4, cudaMemcpyDeviceToHost));
  assert_int_equal(value, 0x11111111);
  OK(cudaMemcpyAsync_ptsz(data, &value, 4, cudaMemcpyHostToDevice, NULL));
  OK(cudaStreamSynchronize(cudaStreamPerThread));
  *(volatile uint32_t*)flag = 1;
  OK(cudaStreamSynchronize(other));
  OK(cudaStreamDestroy(other));
  OK(cudaFree(out));
  OK(cudaFree(data));
  OK(cudaFreeHost(flag));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(every_direction_copies),
      TEST(rows_are_copied),
      TEST(the_pitch_of_one_row_may_be_less_than_its_width),
      TEST(boxes_are_copied),
      TEST(threads_have_default_streams),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
