/* Variables of the device: global, constant and managed ones. */
#include "support.h"

#include <pthread.h>

static uint32_t run_scaled(void) {
  uint32_t *out = NULL, value = 0;
  OK(cudaMalloc((void**)&out, 4));
  OK(cudaLaunchKernel((const void*)scaled, dims(1, 1, 1), dims(1, 1, 1), (void*[]){&out}, 0, NULL));
  value = read_u32(out);
  OK(cudaFree(out));
  return value;
}

static void variables_are_written_and_read(void** state) {
  (void)state;
  uint32_t value = 10, twelve = 12;
  size_t size = 0;
  void* address = NULL;
  OK(cudaMemcpyToSymbol(counter, &value, 4, 0, cudaMemcpyHostToDevice));
  OK(cudaMemcpyToSymbolAsync(factor, &twelve, 4, 0, cudaMemcpyHostToDevice, NULL));
  assert_int_equal(run_scaled(), 120);
  OK(cudaMemcpyFromSymbol(&value, counter, 4, 0, cudaMemcpyDeviceToHost));
  assert_int_equal(value, 11);
  OK(cudaGetSymbolSize(&size, counter));
  assert_int_equal(size, 4);
  OK(cudaGetSymbolAddress(&address, counter));
  assert_int_equal(read_u32(address), 11);
  OK(cudaMemcpyFromSymbolAsync(&value, factor, 2, 2, cudaMemcpyDefault, NULL));
  OK(cudaDeviceSynchronize());
  assert_int_equal(value, 0);
}

static void mistakes_are_refused(void** state) {
  (void)state;
  uint32_t value = 0;
  void* address = NULL;
  EXPECT(cudaErrorInvalidSymbol, cudaMemcpyToSymbol(&value, &value, 4, 0, cudaMemcpyHostToDevice));
  EXPECT(cudaErrorInvalidSymbol, cudaGetSymbolAddress(&address, NULL));
  EXPECT(cudaErrorInvalidValue, cudaMemcpyToSymbol(counter, &value, 5, 0, cudaMemcpyHostToDevice));
  EXPECT(cudaErrorInvalidValue,
         cudaMemcpyToSymbol(counter, &value, 1, (size_t)-1, cudaMemcpyHostToDevice));
  EXPECT(cudaErrorInvalidMemcpyDirection,
         cudaMemcpyToSymbol(counter, &value, 4, 0, cudaMemcpyDeviceToHost));
  EXPECT(cudaErrorInvalidMemcpyDirection, cudaGetLastError());
}

static void managed_variables_are_shared(void** state) {
  (void)state;
  void* address = NULL;
  assert_int_equal(__cudaInitModule(kernels_handle), 1);
  assert_non_null(total);
  volatile uint32_t* const value = total;
  const uint32_t before = *value;
  run_scaled();
  assert_int_equal(*value, before + 1);
  *value = 100;
  run_scaled();
  assert_int_equal(*value, 101);
  /* Programs name it by what its place holds. */
  OK(cudaGetSymbolAddress(&address, total));
  assert_ptr_equal(address, total);
  struct cudaPointerAttributes known;
  OK(cudaPointerGetAttributes(&known, total));
  assert_int_equal(known.type, cudaMemoryTypeManaged);
  assert_ptr_equal(known.devicePointer, total);
  assert_ptr_equal(known.hostPointer, total);
  OK(cudaGetSymbolAddress(&address, counter));
  OK(cudaPointerGetAttributes(&known, address));
  assert_int_equal(known.type, cudaMemoryTypeDevice);
  assert_int_equal(known.device, 0);
  EXPECT(cudaErrorInvalidValue, cudaFree(address));
  EXPECT(cudaErrorInvalidValue, cudaFree(total));
  EXPECT(cudaErrorInvalidValue, cudaGetLastError());
  assert_int_equal(__cudaInitModule((void**)&address), 0);
  EXPECT(cudaErrorInvalidResourceHandle, cudaGetLastError());
}

static void each_device_has_its_own(void** state) {
  (void)state;
  uint32_t value = 50, other = 0;
  OK(cudaSetDevice(1));
  OK(cudaMemcpyFromSymbol(&other, counter, 4, 0, cudaMemcpyDeviceToHost));
  assert_int_equal(other, 7);
  OK(cudaMemcpyToSymbol(counter, &value, 4, 0, cudaMemcpyHostToDevice));
  OK(cudaSetDevice(0));
  OK(cudaMemcpyFromSymbol(&other, counter, 4, 0, cudaMemcpyDeviceToHost));
  assert_true(other != 50);
}

static void a_reset_brings_first_values_back(void** state) {
  (void)state;
  uint32_t value = 99;
  OK(cudaMemcpyToSymbol(counter, &value, 4, 0, cudaMemcpyHostToDevice));
  OK(cudaDeviceReset());
  OK(cudaMemcpyFromSymbol(&value, counter, 4, 0, cudaMemcpyDeviceToHost));
  assert_int_equal(value, 7);
  assert_int_equal(run_scaled(), 21);
}

static void* use_symbol(void* unused) {
  (void)unused;
  for (int i = 0; i < 200; ++i) {
    uint32_t value = 0;
    if (cudaMemcpyFromSymbol(&value, factor, 4, 0, cudaMemcpyDeviceToHost) != cudaSuccess)
      return NULL;
  }
  return (void*)1;
}

static void threads_share_symbols(void** state) {
  (void)state;
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, use_symbol, NULL);
  for (int i = 0; i < 4; ++i) {
    void* done = NULL;
    pthread_join(threads[i], &done);
    assert_non_null(done);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(variables_are_written_and_read),   TEST(mistakes_are_refused),
      TEST(managed_variables_are_shared),     TEST(each_device_has_its_own),
      TEST(a_reset_brings_first_values_back), TEST(threads_share_symbols),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
