/* Initialisation, devices, errors' texts, symbols by name. */
#include "support.h"

#include <string.h>

static void everything_needs_initialisation(void** state) {
  int count = 77;
  (void)state;
  EXPECT(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGetCount(&count));
  assert_int_equal(count, 77);
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuInit(1));
  OK(cuInit(0));
  OK(cuInit(0));
  OK(cuDeviceGetCount(&count));
  if (!on_nvidias_driver()) assert_int_equal(count, 2); /* KM_CPU_DEVICES */
}

static void devices_have_properties(void** state) {
  NEEDS_TWO_DEVICES();
  CUdevice device = -1, again = -1;
  char name[64], bus[16];
  int major = 0, minor = 0, value = 0;
  size_t bytes = 0;
  CUuuid first, second;
  (void)state;
  OK(cuDeviceGet(&device, 1));
  EXPECT(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&device, 2));
  EXPECT(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&device, -1));
  OK(cuDeviceGetName(name, sizeof name, device));
  assert_true(strlen(name) > 0);
  OK(cuDeviceTotalMem(&bytes, device));
  assert_true(bytes > (64 << 20));
  OK(cuDeviceComputeCapability(&major, &minor, device));
  assert_int_equal(major * 10 + minor, 89);
  OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
  assert_int_equal(value, 8);
  OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device));
  assert_int_equal(value, 32);
  EXPECT(CUDA_ERROR_INVALID_VALUE,
         cuDeviceGetAttribute(&value, (CUdevice_attribute)100000, device));
  for (int i = 1; i < CU_DEVICE_ATTRIBUTE_MAX; ++i) {
    OK(cuDeviceGetAttribute(&value, (CUdevice_attribute)i, device));
  }
  OK(cuDeviceGetPCIBusId(bus, sizeof bus, device));
  OK(cuDeviceGetByPCIBusId(&again, bus));
  assert_int_equal(again, device);
  OK(cuDeviceGetUuid(&first, 0));
  OK(cuDeviceGetUuid(&second, 1));
  assert_true(memcmp(&first, &second, sizeof first) != 0);
  OK(cuDeviceCanAccessPeer(&value, 0, 1));
  assert_int_equal(value, 1);
}

static void results_have_names_and_texts(void** state) {
  const char* text = NULL;
  (void)state;
  OK(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
  assert_string_equal(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
  OK(cuGetErrorString(CUDA_ERROR_INVALID_VALUE, &text));
  assert_string_equal(text, "invalid argument");
  OK(cuGetErrorString(CUDA_ERROR_MAP_FAILED, &text));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuGetErrorName((CUresult)12345, &text));
  assert_null(text);
}

static void symbols_are_found_by_version(void** state) {
  void *old = NULL, *new = NULL, *per_thread = NULL;
  CUdriverProcAddressQueryResult status;
  (void)state;
  OK(cuGetProcAddress("cuMemAlloc", &new, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
  assert_ptr_equal(new, (void*)cuMemAlloc); /* cuMemAlloc_v2 */
  OK(cuGetProcAddress("cuMemAlloc", &old, 3000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
  assert_true(old != NULL && old != new);
  OK(cuGetProcAddress("cuStreamSynchronize", &old, 13000, CU_GET_PROC_ADDRESS_LEGACY_STREAM,
                      &status));
  OK(cuGetProcAddress("cuStreamSynchronize", &per_thread, 13000,
                      CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &status));
  assert_true(old != NULL && per_thread != NULL && old != per_thread);
  OK(cuGetProcAddress("cuMemAllocAsync", &new, 11000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
  assert_null(new);
  assert_int_equal(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  OK(cuGetProcAddress("cuNoSuchThing", &new, 13000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
  assert_null(new);
  assert_int_equal(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuGetProcAddress("cuInit", &new, 13000, 99, &status));
}

static void what_is_missing_says_so(void** state) {
  const void* table = &table;
  const CUuuid none = {{1}};
  (void)state;
  EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuTexObjectDestroy(1)); /* none is current */
  EXPECT(CUDA_ERROR_NOT_FOUND, cuGetExportTable(&table, &none));
  assert_null(table);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(everything_needs_initialisation),
      cmocka_unit_test(devices_have_properties),
      cmocka_unit_test(results_have_names_and_texts),
      cmocka_unit_test(symbols_are_found_by_version),
      cmocka_unit_test(what_is_missing_says_so),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
