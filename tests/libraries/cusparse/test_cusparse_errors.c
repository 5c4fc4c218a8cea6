/* Wrong calls of cuSPARSE: dead and garbage handles, sizes that do not fit, arrays that are too
 * short, and indices in device memory that leave their matrix. */
#include "sparse.h"

int cusparseSpMV(void*, int, const void*, const void*, const void*, const void*, void*, int, int,
                 void*);
int cusparseSpMV_bufferSize(void*, int, const void*, const void*, const void*, const void*, void*,
                            int, int, size_t*);
int cusparseGetVersion(void*, int*);
int cusparseGetProperty(int, int*);
const char* cusparseGetErrorName(int);
const char* cusparseGetErrorString(int);
int cusparseCreateConstDnVec(const void**, int64_t, const void*, int);
int cusparseDnVecGetValues(void*, void**);
int cusparseSpMatGetFormat(const void*, int*);
int cusparseSpMMOp_createPlan(void*, void**, int, int, const void*, const void*, void*, int, int,
                              const void*, size_t, const void*, size_t, const void*, size_t,
                              size_t*);
int cusparseXcoo2csr(void*, const int*, int, int, int*, int);
int cusparseLoggerSetCallback(void (*)(int, const char*, const char*));
int cusparseLoggerSetLevel(int);
int cusparseSetMatType(void*, int);
int cusparseCreateMatDescr(void**);
int cusparseDestroyMatDescr(void*);

static void* handle;
static float one = 1;

/* A matrix of two rows, and vectors. */
typedef struct {
  int* offsets;
  int* indices;
  float *values, *x, *y;
  void *matrix, *x_vector, *y_vector;
} small;
static small new_small(void) {
  small s = {managed(64), managed(64), managed(64), managed(64), managed(64), NULL, NULL, NULL};
  memcpy(s.offsets, (int[]){0, 1, 3}, 12), memcpy(s.indices, (int[]){1, 0, 1}, 12);
  memcpy(s.values, (float[]){2, 3, 4}, 12), memcpy(s.x, (float[]){1, 10}, 8);
  assert_int_equal(cusparseCreateCsr(&s.matrix, 2, 2, 3, s.offsets, s.indices, s.values, INDEX_32,
                                     INDEX_32, 0, R_32F),
                   SUCCESS);
  assert_int_equal(cusparseCreateDnVec(&s.x_vector, 2, s.x, R_32F), SUCCESS);
  assert_int_equal(cusparseCreateDnVec(&s.y_vector, 2, s.y, R_32F), SUCCESS);
  return s;
}
static void free_small(small* s) {
  cusparseDestroySpMat(s->matrix), cusparseDestroyDnVec(s->x_vector);
  cusparseDestroyDnVec(s->y_vector);
  cudaFree(s->offsets), cudaFree(s->indices), cudaFree(s->values), cudaFree(s->x), cudaFree(s->y);
}
static int multiply(const small* s) {
  static const float zero = 0;
  return cusparseSpMV(handle, 0, &one, s->matrix, s->x_vector, &zero, s->y_vector, R_32F, 0, NULL);
}

static void versions_and_texts(void** state) {
  (void)state;
  int version = 0, part = 0;
  assert_int_equal(cusparseGetVersion(handle, &version), SUCCESS);
  assert_true(version >= 12000);
  assert_int_equal(cusparseGetProperty(0, &part), SUCCESS);
  assert_int_equal(part, version / 1000);
  assert_int_equal(cusparseGetProperty(3, &part), INVALID_VALUE);
  assert_string_equal(cusparseGetErrorName(INVALID_VALUE), "CUSPARSE_STATUS_INVALID_VALUE");
  assert_string_equal(cusparseGetErrorString(INVALID_VALUE), "invalid value");
  assert_string_equal(cusparseGetErrorName(99), "unrecognized error code");
}

static void handles_are_checked(void** state) {
  (void)state;
  void* dead = NULL;
  int version = 0, format = 0;
  assert_int_equal(cusparseCreate(&dead), SUCCESS);
  assert_int_equal(cusparseDestroy(dead), SUCCESS);
  assert_int_equal(cusparseDestroy(dead), NOT_INITIALIZED);
  assert_int_equal(cusparseGetVersion(dead, &version), NOT_INITIALIZED);
  assert_int_equal(cusparseGetVersion(NULL, &version), NOT_INITIALIZED);
  assert_int_equal(cusparseGetVersion((void*)0x1234, &version), NOT_INITIALIZED);
  assert_int_equal(cusparseGetVersion(handle, NULL), INVALID_VALUE);
  assert_int_equal(cusparseGetVersion(handle, (void*)8), INVALID_VALUE);
  assert_int_equal(cusparseSpMatGetFormat(handle, &format), INVALID_VALUE);
  assert_int_equal(cusparseSpMatGetFormat((void*)8, &format), INVALID_VALUE);
  small s = new_small();
  assert_int_equal(cusparseSpMatGetFormat(s.x_vector, &format), INVALID_VALUE);
  assert_int_equal(cusparseSpMatGetFormat(s.matrix, &format), SUCCESS);
  assert_int_equal(format, CSR);
  free_small(&s);
  assert_int_equal(cusparseSpMatGetFormat(s.matrix, &format), INVALID_VALUE);
}

static void descriptors_are_checked(void** state) {
  (void)state;
  void *made = NULL, *settings = NULL;
  assert_int_equal(cusparseCreateDnVec(&made, -1, NULL, R_32F), INVALID_VALUE);
  assert_int_equal(cusparseCreateDnVec(&made, 1, NULL, 99), INVALID_VALUE);
  assert_int_equal(cusparseCreateDnVec(NULL, 1, NULL, R_32F), INVALID_VALUE);
  assert_int_equal(cusparseCreateDnMat(&made, 4, 2, 3, NULL, R_32F, BY_COLUMN), INVALID_VALUE);
  assert_int_equal(cusparseCreateDnMat(&made, 4, 2, 4, NULL, R_32F, 3), INVALID_VALUE);
  assert_int_equal(
      cusparseCreateCsr(&made, 2, 2, -1, NULL, NULL, NULL, INDEX_32, INDEX_32, 0, R_32F),
      INVALID_VALUE);
  assert_int_equal(cusparseCreateCsr(&made, 2, 2, 0, NULL, NULL, NULL, 9, INDEX_32, 0, R_32F),
                   INVALID_VALUE);
  assert_int_equal(cusparseCreateCsr(&made, 2, 2, 0, NULL, NULL, NULL, 1, INDEX_32, 0, R_32F),
                   NOT_SUPPORTED);
  assert_int_equal(
      cusparseCreateCsr(&made, 2, 2, 0, NULL, NULL, NULL, INDEX_32, INDEX_32, 2, R_32F),
      INVALID_VALUE);
  assert_int_equal(cusparseCreateBlockedEll(&made, 5, 4, 2, 2, NULL, NULL, INDEX_32, 0, R_32F),
                   INVALID_VALUE);
  assert_int_equal(cusparseCreateMatDescr(&settings), SUCCESS);
  assert_int_equal(cusparseSetMatType(settings, 4), INVALID_VALUE);
  assert_int_equal(cusparseDestroyMatDescr(settings), SUCCESS);
  assert_int_equal(cusparseDestroyMatDescr(settings), INVALID_VALUE);
}

static void calls_are_checked(void** state) {
  (void)state;
  small s = new_small();
  const void* constant = NULL;
  void *values = NULL, *longer = NULL;
  size_t size = 0;
  assert_int_equal(multiply(&s), SUCCESS);
  assert_int_equal(cudaDeviceSynchronize(), 0);
  assert_true(s.y[0] == 20 && s.y[1] == 43);
  assert_int_equal(
      cusparseSpMV(handle, 3, &one, s.matrix, s.x_vector, &one, s.y_vector, R_32F, 0, NULL),
      INVALID_VALUE);
  assert_int_equal(
      cusparseSpMV(handle, 0, &one, s.matrix, s.x_vector, &one, s.y_vector, R_64F, 0, NULL),
      NOT_SUPPORTED);
  assert_int_equal(
      cusparseSpMV(handle, 0, NULL, s.matrix, s.x_vector, &one, s.y_vector, R_32F, 0, NULL),
      INVALID_VALUE);
  assert_int_equal(
      cusparseSpMV(handle, 0, (void*)8, s.matrix, s.x_vector, &one, s.y_vector, R_32F, 0, NULL),
      INVALID_VALUE);
  assert_int_equal(
      cusparseSpMV(handle, 0, &one, s.matrix, s.x_vector, &one, s.y_vector, R_32F, 77, NULL),
      INVALID_VALUE);
  assert_int_equal(cusparseSpMV_bufferSize(handle, 0, &one, s.matrix, s.x_vector, &one, s.y_vector,
                                           R_32F, 0, NULL),
                   INVALID_VALUE);
  assert_int_equal(cusparseSpMV_bufferSize(handle, 0, &one, s.matrix, s.x_vector, &one, s.y_vector,
                                           R_32F, 0, &size),
                   SUCCESS);
  /* Nothing is written through a constant descriptor. */
  assert_int_equal(cusparseCreateConstDnVec(&constant, 2, s.y, R_32F), SUCCESS);
  assert_int_equal(
      cusparseSpMV(handle, 0, &one, s.matrix, s.x_vector, &one, (void*)constant, R_32F, 0, NULL),
      INVALID_VALUE);
  assert_int_equal(cusparseDnVecGetValues((void*)constant, &values), INVALID_VALUE);
  cusparseDestroyDnVec(constant);
  /* Vectors of another size, and longer than their memory. */
  assert_int_equal(cusparseCreateDnVec(&longer, 3, s.x, R_32F), SUCCESS);
  assert_int_equal(
      cusparseSpMV(handle, 0, &one, s.matrix, longer, &one, s.y_vector, R_32F, 0, NULL),
      INVALID_VALUE);
  cusparseDestroyDnVec(longer);
  float outside[2] = {0, 0};
  assert_int_equal(cusparseCreateDnVec(&longer, 2, outside, R_32F), SUCCESS);
  assert_int_equal(
      cusparseSpMV(handle, 0, &one, s.matrix, longer, &one, s.y_vector, R_32F, 0, NULL),
      INVALID_VALUE);
  cusparseDestroyDnVec(longer);
  assert_int_equal(cusparseSpMMOp_createPlan(handle, NULL, 0, 0, NULL, NULL, NULL, 0, 0, NULL, 0,
                                             NULL, 0, NULL, 0, NULL),
                   NOT_SUPPORTED);
  free_small(&s);
}

static int logged;
static void note(int level, const char* function, const char* message) {
  assert_true(level == 5 && strcmp(message, "CUSPARSE_STATUS_SUCCESS") == 0);
  logged += strcmp(function, "cusparseGetVersion") == 0;
}
static void calls_are_logged(void** state) {
  (void)state;
  int version = 0;
  assert_int_equal(cusparseLoggerSetCallback(note), SUCCESS);
  assert_int_equal(cusparseGetVersion(handle, &version), SUCCESS);
  assert_int_equal(cusparseLoggerSetCallback(NULL), SUCCESS);
  assert_int_equal(cusparseGetVersion(handle, &version), SUCCESS);
  assert_int_equal(logged, 1);
  assert_int_equal(cusparseLoggerSetLevel(6), INVALID_VALUE);
}

/* Work that finds a bad index ends the context with an error, and nothing else is touched. */
static void check_fault(small* s) {
  assert_int_equal(multiply(s), SUCCESS);
  assert_int_equal(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  assert_int_equal(multiply(s), EXECUTION_FAILED);
  assert_int_equal(cudaDeviceReset(), 0);
}
static void bad_indices_are_faults(void** state) {
  (void)state;
  static const int bad[] = {2, -1, INT32_MAX, INT32_MIN};
  for (int i = 0; i < 8; ++i) {
    small s = new_small();
    (i < 4 ? s.indices : s.offsets)[1] = bad[i % 4] + (i == 4 ? 5 : 0);
    check_fault(&s);
    cusparseDestroySpMat(s.matrix), cusparseDestroyDnVec(s.x_vector);
    cusparseDestroyDnVec(s.y_vector);
  }
  int *const rows = managed(64), *const offsets = managed(64);
  rows[0] = 0, rows[1] = 9;
  assert_int_equal(cusparseXcoo2csr(handle, rows, 2, 3, offsets, 0), SUCCESS);
  assert_int_equal(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  assert_int_equal(cudaDeviceReset(), 0);
}

static int start(void** state) {
  (void)state;
  return cusparseCreate(&handle);
}
static int stop(void** state) {
  (void)state;
  return cusparseDestroy(handle);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(versions_and_texts),      cmocka_unit_test(handles_are_checked),
      cmocka_unit_test(descriptors_are_checked), cmocka_unit_test(calls_are_checked),
      cmocka_unit_test(calls_are_logged),        cmocka_unit_test(bad_indices_are_faults),
  };
  return cmocka_run_group_tests(tests, start, stop);
}
