/* Code that the program loads itself, and entry points of the driver. */
#include "support.h"

static void libraries_are_loaded(void** state) {
  (void)state;
  cudaLibrary_t library;
  cudaKernel_t kernel, all[6];
  unsigned count = 0;
  size_t size = 0;
  uint32_t *data = NULL, base = 3, n = 64;
  void* global = NULL;
  OK(cudaLibraryLoadData(&library, kernels_ptx, NULL, NULL, 0, NULL, NULL, 0));
  OK(cudaLibraryGetKernelCount(&count, library));
  assert_int_equal(count, 6);
  OK(cudaLibraryEnumerateKernels(all, 6, library));
  OK(cudaLibraryGetKernel(&kernel, library, "fill_index"));
  OK(cudaLibraryGetGlobal(&global, &size, library, "counter"));
  assert_int_equal(size, 4);
  assert_int_equal(read_u32(global), 7);
  OK(cudaLibraryGetManaged(&global, &size, library, "total"));
  assert_int_equal(*(uint32_t*)global, 5);
  EXPECT(cudaErrorSymbolNotFound, cudaLibraryGetManaged(&global, &size, library, "counter"));
  EXPECT(cudaErrorSymbolNotFound, cudaLibraryGetKernel(&kernel, library, "nothing"));
  OK(cudaMalloc((void**)&data, 256));
  OK(cudaLaunchKernel((const void*)kernel, dims(1, 1, 1), dims(64, 1, 1),
                      (void*[]){&data, &base, &n}, 0, NULL));
  assert_int_equal(read_u32(data + 63), 66);
  OK(cudaLibraryUnload(library));
  EXPECT(cudaErrorInvalidDeviceFunction,
         cudaLaunchKernel((const void*)kernel, dims(1, 1, 1), dims(64, 1, 1),
                          (void*[]){&data, &base, &n}, 0, NULL));
  EXPECT(cudaErrorInvalidDeviceFunction, cudaGetLastError());
  OK(cudaFree(data));
}

static void kernels_of_the_program_have_handles(void** state) {
  (void)state;
  cudaKernel_t kernel = NULL;
  cudaFunction_t function = NULL;
  uint32_t *data = NULL, base = 1, n = 64;
  OK(cudaMalloc((void**)&data, 256));
  OK(cudaGetKernel(&kernel, (const void*)fill_index));
  OK(cudaGetFuncBySymbol(&function, (const void*)fill_index));
  assert_non_null(function);
  OK(cudaLaunchKernel((const void*)kernel, dims(1, 1, 1), dims(64, 1, 1),
                      (void*[]){&data, &base, &n}, 0, NULL));
  assert_int_equal(read_u32(data + 1), 2);
  OK(cudaKernelSetAttributeForDevice(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 50,
                                     0));
  EXPECT(cudaErrorInvalidDeviceFunction, cudaGetKernel(&kernel, &kernel));
  EXPECT(cudaErrorInvalidDeviceFunction, cudaGetLastError());
  OK(cudaFree(data));
}

static void functions_of_the_driver_are_found(void** state) {
  NEEDS_TWO_DEVICES();
  (void)state;
  int (*get_count)(int*) = NULL;
  void* found = NULL;
  int count = 0;
  enum cudaDriverEntryPointQueryResult status;
  OK(cudaGetDriverEntryPointByVersion("cuDeviceGetCount", (void**)&get_count, 12000,
                                      cudaEnableDefault, &status));
  assert_int_equal(status, cudaDriverEntryPointSuccess);
  assert_int_equal(get_count(&count), 0);
  assert_int_equal(count, 2);
  OK(cudaGetDriverEntryPointByVersion("cuNothing", &found, 12000, cudaEnableDefault, &status));
  assert_int_equal(status, cudaDriverEntryPointSymbolNotFound);
  assert_null(found);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(libraries_are_loaded),
      TEST(kernels_of_the_program_have_handles),
      TEST(functions_of_the_driver_are_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
