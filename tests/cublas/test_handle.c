/* Handles and their settings; vectors and matrices to the device and back. */
#include "support.h"

#include <dlfcn.h>
#include <string.h>

int cublasSetEmulationSpecialValuesSupport(cublasHandle_t, int);
int cublasGetEmulationSpecialValuesSupport(cublasHandle_t, int*);
int cublasSetFixedPointEmulationMantissaControl(cublasHandle_t, int);
int cublasGetFixedPointEmulationMantissaControl(cublasHandle_t, int*);
int cublasSetFixedPointEmulationMaxMantissaBitCount(cublasHandle_t, int);
int cublasGetFixedPointEmulationMaxMantissaBitCount(cublasHandle_t, int*);
int cublasSetFixedPointEmulationMantissaBitOffset(cublasHandle_t, int);
int cublasGetFixedPointEmulationMantissaBitOffset(cublasHandle_t, int*);
int cublasSetFixedPointEmulationMantissaBitCountPointer(cublasHandle_t, int*);
int cublasGetFixedPointEmulationMantissaBitCountPointer(cublasHandle_t, int**);

/* Programs look for libcublasLt's functions through libcublas, which brings it. */
static void the_library_brings_cublas_lt(void** state) {
  (void)state;
  assert_non_null(dlsym(RTLD_DEFAULT, "cublasLtCreate"));
}

static void settings_are_kept(void** state) {
  (void)state;
  int value = -1;
  OK(cublasGetPointerMode_v2(handle, &value));
  assert_int_equal(value, 0);
  OK(cublasSetPointerMode_v2(handle, 1));
  OK(cublasGetPointerMode_v2(handle, &value));
  assert_int_equal(value, 1);
  EXPECT(INVALID_VALUE, cublasSetPointerMode_v2(handle, 2));
  EXPECT(INVALID_VALUE, cublasGetPointerMode_v2(handle, NULL));
  OK(cublasSetMathMode(handle, 3));
  OK(cublasGetMathMode(handle, &value));
  assert_int_equal(value, 3);
  OK(cublasSetAtomicsMode(handle, 1));
  OK(cublasSetWorkspace_v2(handle, NULL, 0));
  EXPECT(INVALID_VALUE, cublasSetWorkspace_v2(handle, (void*)3, 64));
  cudaStream_t stream, given;
  OK(cudaStreamCreate(&stream));
  OK(cublasSetStream_v2(handle, stream));
  OK(cublasGetStream_v2(handle, &given));
  assert_ptr_equal(stream, given);
  OK(cublasSetStream_v2(handle, NULL));
  OK(cudaStreamDestroy(stream));
}

/* Nothing is emulated: -1 is what stands where the number of bits is asked for. */
static void settings_of_emulation_are_kept(void** state) {
  (void)state;
  static const struct {
    int (*set)(cublasHandle_t, int);
    int (*get)(cublasHandle_t, int*);
    int first, valid, wrong;
  } settings[] = {
      {cublasSetEmulationSpecialValuesSupport, cublasGetEmulationSpecialValuesSupport, 0xffff, 2,
       0x10000},
      {cublasSetFixedPointEmulationMantissaControl, cublasGetFixedPointEmulationMantissaControl, 0,
       1, 2},
      {cublasSetFixedPointEmulationMaxMantissaBitCount,
       cublasGetFixedPointEmulationMaxMantissaBitCount, 0, 40, -1},
  };
  int value = -7;
  for (size_t i = 0; i < sizeof settings / sizeof settings[0]; ++i) {
    OK(settings[i].get(handle, &value));
    assert_int_equal(value, settings[i].first);
    OK(settings[i].set(handle, settings[i].valid));
    EXPECT(INVALID_VALUE, settings[i].set(handle, settings[i].wrong));
    EXPECT(INVALID_VALUE, settings[i].get(handle, NULL));
    OK(settings[i].get(handle, &value));
    assert_int_equal(value, settings[i].valid);
  }
  OK(cublasSetFixedPointEmulationMantissaBitOffset(handle, -3));
  OK(cublasGetFixedPointEmulationMantissaBitOffset(handle, &value));
  assert_int_equal(value, -3);
  int* const bits = managed(sizeof *bits);
  int* given = bits;
  *bits = 5;
  OK(cublasGetFixedPointEmulationMantissaBitCountPointer(handle, &given));
  assert_null(given);
  OK(cublasSetFixedPointEmulationMantissaBitCountPointer(handle, bits));
  wait_for_device();
  assert_int_equal(*bits, -1);
  OK(cublasGetFixedPointEmulationMantissaBitCountPointer(handle, &given));
  assert_ptr_equal(given, bits);
  OK(cublasSetFixedPointEmulationMantissaBitCountPointer(handle, NULL));
}

static void the_version_is_the_library_s(void** state) {
  (void)state;
  int version = 0, major = 0, minor = -1;
  OK(cublasGetVersion_v2(handle, &version));
  assert_int_equal(version / 10000, KM_CUBLAS_MAJOR);
  OK(cublasGetProperty(0, &major));
  OK(cublasGetProperty(1, &minor));
  assert_int_equal(major, KM_CUBLAS_MAJOR);
  assert_int_equal(minor, version / 100 % 100);
  EXPECT(INVALID_VALUE, cublasGetProperty(9, &major));
  assert_string_equal(cublasGetStatusName(NOT_SUPPORTED), "CUBLAS_STATUS_NOT_SUPPORTED");
}

static void values_that_are_no_handles_are_refused(void** state) {
  (void)state;
  int value;
  cublasHandle_t second;
  OK(cublasCreate_v2(&second));
  OK(cublasDestroy_v2(second));
  EXPECT(NOT_INITIALIZED, cublasDestroy_v2(second));
  EXPECT(NOT_INITIALIZED, cublasGetPointerMode_v2(second, &value));
  EXPECT(NOT_INITIALIZED, cublasGetPointerMode_v2(NULL, &value));
  EXPECT(NOT_INITIALIZED, cublasSetStream_v2((cublasHandle_t)(uintptr_t)-1, NULL));
  EXPECT(INVALID_VALUE, cublasCreate_v2(NULL));
}

static void vectors_and_matrices_are_copied_with_their_distances(void** state) {
  (void)state;
  double host[24], back[24];
  for (int i = 0; i < 24; ++i) host[i] = i;
  double* const device = managed(sizeof host);
  memset(device, 0, sizeof host);
  OK(cublasSetVector(6, 8, host, 2, device, 3));
  for (int i = 0; i < 6; ++i) assert_true(device[3 * i] == 2 * i && device[3 * i + 1] == 0);
  memset(back, 0, sizeof back);
  OK(cublasGetVector(6, 8, device, 3, back, 1));
  for (int i = 0; i < 6; ++i) assert_true(back[i] == 2 * i);
  OK(cublasSetMatrix(3, 4, 8, host, 5, device, 4));
  OK(cublasGetMatrixAsync(3, 4, 8, device, 4, back, 3, NULL));
  wait_for_device();
  for (int j = 0; j < 4; ++j) {
    for (int i = 0; i < 3; ++i) assert_true(back[i + 3 * j] == i + 5 * j);
  }
  EXPECT(INVALID_VALUE, cublasSetVector(6, 8, host, 0, device, 1));
  EXPECT(INVALID_VALUE, cublasSetMatrix(3, 4, 8, host, 2, device, 4));
  EXPECT(11, cublasSetVector(6, 8, host, 1, (void*)4096, 1)); /* no device memory */
}

static int lines_logged;
static void count_line(const char* line) { lines_logged += strstr(line, "SUCCESS") != NULL; }

static void calls_are_logged_to_a_callback(void** state) {
  (void)state;
  int value;
  OK(cublasSetLoggerCallback(count_line));
  OK(cublasLoggerConfigure(1, 0, 0, NULL));
  lines_logged = 0;
  OK(cublasGetMathMode(handle, &value));
  assert_int_equal(lines_logged, 1);
  OK(cublasLoggerConfigure(0, 0, 0, NULL));
  OK(cublasSetLoggerCallback(NULL));
}

/* Names that are exported, but in no header: each of our stubs says that it is one. */
int cublasSbdmm(void);
int cublasGetBackdoor(void);
static void functions_that_are_not_there_say_so(void** state) {
  (void)state;
  assert_int_equal(cublasSbdmm(), NOT_SUPPORTED);
  assert_int_equal(cublasGetBackdoor(), NOT_SUPPORTED);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(the_library_brings_cublas_lt),
      TEST(settings_are_kept),
      TEST(settings_of_emulation_are_kept),
      TEST(the_version_is_the_library_s),
      TEST(values_that_are_no_handles_are_refused),
      TEST(vectors_and_matrices_are_copied_with_their_distances),
      TEST(calls_are_logged_to_a_callback),
      TEST(functions_that_are_not_there_say_so),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
