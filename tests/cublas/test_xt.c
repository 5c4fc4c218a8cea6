/* cublasXt on two devices, with tiles smaller than the matrices: each routine against the one of
 * cuBLAS, whose results other tests check, and operands in memory of the host. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

typedef struct cublasXtContext* cublasXtHandle_t;
int cublasXtCreate(cublasXtHandle_t*);
int cublasXtDestroy(cublasXtHandle_t);
int cublasXtDeviceSelect(cublasXtHandle_t, int, int*);
int cublasXtSetBlockDim(cublasXtHandle_t, int);
int cublasXtGetBlockDim(cublasXtHandle_t, int*);
int cublasXtGetNumBoards(int, int*, int*);
int cublasXtMaxBoards(int*);
int cublasXtSetPinningMemMode(cublasXtHandle_t, int);
int cublasXtGetPinningMemMode(cublasXtHandle_t, int*);
int cublasXtSetCpuRatio(cublasXtHandle_t, int, int, float);
#define DECLARE(L, T)                                                                             \
  int cublasXt##L##gemm(cublasXtHandle_t, int, int, size_t, size_t, size_t, const T*, const T*,   \
                        size_t, const T*, size_t, const T*, T*, size_t);                          \
  int cublasXt##L##syrk(cublasXtHandle_t, int, int, size_t, size_t, const T*, const T*, size_t,   \
                        const T*, T*, size_t);                                                    \
  int cublasXt##L##syr2k(cublasXtHandle_t, int, int, size_t, size_t, const T*, const T*, size_t,  \
                         const T*, size_t, const T*, T*, size_t);                                 \
  int cublasXt##L##syrkx(cublasXtHandle_t, int, int, size_t, size_t, const T*, const T*, size_t,  \
                         const T*, size_t, const T*, T*, size_t);                                 \
  int cublasXt##L##symm(cublasXtHandle_t, int, int, size_t, size_t, const T*, const T*, size_t,   \
                        const T*, size_t, const T*, T*, size_t);                                  \
  int cublasXt##L##spmm(cublasXtHandle_t, int, int, size_t, size_t, const T*, const T*, const T*, \
                        size_t, const T*, T*, size_t);                                            \
  int cublasXt##L##trsm(cublasXtHandle_t, int, int, int, int, size_t, size_t, const T*, const T*, \
                        size_t, T*, size_t);                                                      \
  int cublasXt##L##trmm(cublasXtHandle_t, int, int, int, int, size_t, size_t, const T*, const T*, \
                        size_t, const T*, size_t, T*, size_t);
FOR_TYPES(DECLARE)
#define DECLARE_HERMITIAN(L, T, R)                                                                 \
  int cublasXt##L##herk(cublasXtHandle_t, int, int, size_t, size_t, const R*, const T*, size_t,    \
                        const R*, T*, size_t);                                                     \
  int cublasXt##L##her2k(cublasXtHandle_t, int, int, size_t, size_t, const T*, const T*, size_t,   \
                         const T*, size_t, const R*, T*, size_t);                                  \
  int cublasXt##L##herkx(cublasXtHandle_t, int, int, size_t, size_t, const T*, const T*, size_t,   \
                         const T*, size_t, const R*, T*, size_t);                                  \
  int cublasXt##L##hemm(cublasXtHandle_t, int, int, size_t, size_t, const T*, const T*, size_t,    \
                        const T*, size_t, const T*, T*, size_t);                                   \
  int cublas##L##herk_v2(cublasHandle_t, int, int, int, int, const R*, const T*, int, const R*,    \
                         T*, int);                                                                 \
  int cublas##L##her2k_v2(cublasHandle_t, int, int, int, int, const T*, const T*, int, const T*,   \
                          int, const R*, T*, int);                                                 \
  int cublas##L##herkx(cublasHandle_t, int, int, int, int, const T*, const T*, int, const T*, int, \
                       const R*, T*, int);                                                         \
  int cublas##L##hemm_v2(cublasHandle_t, int, int, int, int, const T*, const T*, int, const T*,    \
                         int, const T*, T*, int);
DECLARE_HERMITIAN(C, c32, float)
DECLARE_HERMITIAN(Z, c64, double)

enum { M = 23, N = 19, K = 21, LD = 29, SIZE = LD * LD };

static cublasXtHandle_t xt;

static int set_up_xt(void** state) {
  int devices[] = {0, 1};
  return set_up(state) | cublasXtCreate(&xt) | cublasXtDeviceSelect(xt, 2, devices) |
         cublasXtSetBlockDim(xt, 8);
}
static int tear_down_xt(void** state) { return tear_down(state) | cublasXtDestroy(xt); }
#define XT_TEST(function) cmocka_unit_test_setup_teardown(function, set_up_xt, tear_down_xt)

/* A copy in memory of the host that nobody has registered. */
static void* host_copy(char type, const void* data) {
  void* const copy = malloc(SIZE * size_of(type));
  assert_non_null(copy);
  return memcpy(copy, data, SIZE * size_of(type));
}

/* All of two matrices, so that what must stay is seen, too. */
static void expect_same(char type, const void* expected, void* given) {
  wait_for_device();
  for (int i = 0; i < SIZE; ++i) NEAR(type, get(type, expected, i), get(type, given, i));
  free(given);
}

static number scalar_of(char type, double real, double imaginary) {
  return type == 'C' || type == 'Z' ? real + imaginary * I : real;
}

/* Makes A, B, and twice the same C: of the device for cuBLAS, of the host for cublasXt. */
#define OPERANDS(L, T)                                      \
  const char type = *#L;                                    \
  T* const a = fill(type, SIZE);                            \
  T* const b = fill(type, SIZE);                            \
  T* const c = fill(type, SIZE);                            \
  for (int i = 0; i < LD; ++i) put(type, a, i*(LD + 1), 4); \
  T* const host_a = host_copy(type, a);                     \
  T* const host_c = host_copy(type, c);                     \
  T scalars[2];                                             \
  put(type, scalars, 0, scalar_of(type, 2, 0.5));           \
  put(type, scalars, 1, scalar_of(type, -1, 0.25))

#define DEFINE(L, T)                                                                               \
  static void products_##L(int op_a, int op_b) {                                                   \
    OPERANDS(L, T);                                                                                \
    OK(cublas##L##gemm_v2(handle, op_a, op_b, M, N, K, scalars, a, LD, b, LD, scalars + 1, c,      \
                          LD));                                                                    \
    OK(cublasXt##L##gemm(xt, op_a, op_b, M, N, K, scalars, host_a, LD, b, LD, scalars + 1, host_c, \
                         LD));                                                                     \
    expect_same(type, c, host_c);                                                                  \
    free(host_a);                                                                                  \
  }                                                                                                \
  static void updates_##L(int uplo, int op, int form) {                                            \
    OPERANDS(L, T);                                                                                \
    const T *x = scalars, *y = scalars + 1;                                                        \
    if (form == 0) {                                                                               \
      OK(cublas##L##syrk_v2(handle, uplo, op, N, K, x, a, LD, y, c, LD));                          \
      OK(cublasXt##L##syrk(xt, uplo, op, N, K, x, host_a, LD, y, host_c, LD));                     \
    } else if (form == 1) {                                                                        \
      OK(cublas##L##syr2k_v2(handle, uplo, op, N, K, x, a, LD, b, LD, y, c, LD));                  \
      OK(cublasXt##L##syr2k(xt, uplo, op, N, K, x, host_a, LD, b, LD, y, host_c, LD));             \
    } else {                                                                                       \
      OK(cublas##L##syrkx(handle, uplo, op, N, K, x, a, LD, b, LD, y, c, LD));                     \
      OK(cublasXt##L##syrkx(xt, uplo, op, N, K, x, host_a, LD, b, LD, y, host_c, LD));             \
    }                                                                                              \
    expect_same(type, c, host_c);                                                                  \
    free(host_a);                                                                                  \
  }                                                                                                \
  static void symmetric_##L(int side, int uplo) {                                                  \
    OPERANDS(L, T);                                                                                \
    const int order = side == LEFT ? M : N;                                                        \
    T* const packed = malloc(SIZE * sizeof(T));                                                    \
    T* const from_packed = host_copy(type, c);                                                     \
    int next = 0;                                                                                  \
    for (int j = 0; j < order; ++j) {                                                              \
      for (int i = uplo == LOWER ? j : 0; i < (uplo == LOWER ? order : j + 1); ++i) {              \
        packed[next++] = a[i + j * LD];                                                            \
      }                                                                                            \
    }                                                                                              \
    OK(cublas##L##symm_v2(handle, side, uplo, M, N, scalars, a, LD, b, LD, scalars + 1, c, LD));   \
    OK(cublasXt##L##symm(xt, side, uplo, M, N, scalars, host_a, LD, b, LD, scalars + 1, host_c,    \
                         LD));                                                                     \
    OK(cublasXt##L##spmm(xt, side, uplo, M, N, scalars, packed, b, LD, scalars + 1, from_packed,   \
                         LD));                                                                     \
    expect_same(type, c, host_c);                                                                  \
    expect_same(type, c, from_packed);                                                             \
    free(packed), free(host_a);                                                                    \
  }                                                                                                \
  static void triangular_##L(int side, int uplo, int op, int diag) {                               \
    OPERANDS(L, T);                                                                                \
    if (diag == UNIT) put(type, scalars, 0, 1);                                                    \
    T* const in_place = host_copy(type, b);                                                        \
    T* const solution = host_copy(type, b);                                                        \
    T* const b_before = host_copy(type, b);                                                        \
    OK(cublas##L##trmm_v2(handle, side, uplo, op, diag, M, N, scalars, a, LD, b, LD, c, LD));      \
    OK(cublasXt##L##trmm(xt, side, uplo, op, diag, M, N, scalars, host_a, LD, b, LD, host_c, LD)); \
    expect_same(type, c, host_c);                                                                  \
    OK(cublasXt##L##trmm(xt, side, uplo, op, diag, M, N, scalars, host_a, LD, in_place, LD,        \
                         in_place, LD));                                                           \
    for (int j = 0; j < LD; ++j) {                                                                 \
      for (int i = 0; i < LD; ++i) {                                                               \
        const long at = i + j * LD;                                                                \
        NEAR(type, get(type, i < M && j < N ? c : b_before, at), get(type, in_place, at));         \
      }                                                                                            \
    }                                                                                              \
    if (diag != UNIT) {                                                                            \
      OK(cublas##L##trsm_v2(handle, side, uplo, op, diag, M, N, scalars, a, LD, b, LD));           \
      OK(cublasXt##L##trsm(xt, side, uplo, op, diag, M, N, scalars, host_a, LD, solution, LD));    \
      wait_for_device();                                                                           \
      for (int i = 0; i < SIZE; ++i) {                                                             \
        const number expected = get(type, b, i), given = get(type, solution, i);                   \
        assert_true(cabs(expected - given) <= 1e-3 * (1 + cabs(expected)));                        \
      }                                                                                            \
    }                                                                                              \
    free(solution), free(in_place), free(b_before), free(host_a);                                  \
  }
FOR_TYPES(DEFINE)

#define DEFINE_HERMITIAN(L, T, R)                                                                  \
  static void hermitian_##L(int uplo, int op, int side) {                                          \
    OPERANDS(L, T);                                                                                \
    const R alpha = 2, beta = -1;                                                                  \
    T* const c2 = fill(type, SIZE);                                                                \
    T* const c3 = fill(type, SIZE);                                                                \
    T *const host_c2 = host_copy(type, c2), *const host_c3 = host_copy(type, c3);                  \
    OK(cublas##L##herk_v2(handle, uplo, op, N, K, &alpha, a, LD, &beta, c, LD));                   \
    OK(cublasXt##L##herk(xt, uplo, op, N, K, &alpha, host_a, LD, &beta, host_c, LD));              \
    expect_same(type, c, host_c);                                                                  \
    OK(cublas##L##her2k_v2(handle, uplo, op, N, K, scalars, a, LD, b, LD, &beta, c2, LD));         \
    OK(cublasXt##L##her2k(xt, uplo, op, N, K, scalars, host_a, LD, b, LD, &beta, host_c2, LD));    \
    expect_same(type, c2, host_c2);                                                                \
    OK(cublas##L##hemm_v2(handle, side, uplo, M, N, scalars, a, LD, b, LD, scalars, c3, LD));      \
    OK(cublasXt##L##hemm(xt, side, uplo, M, N, scalars, host_a, LD, b, LD, scalars, host_c3, LD)); \
    expect_same(type, c3, host_c3);                                                                \
    T* const host_c4 = host_copy(type, c);                                                         \
    OK(cublas##L##herkx(handle, uplo, op, N, K, scalars, a, LD, b, LD, &beta, c, LD));             \
    OK(cublasXt##L##herkx(xt, uplo, op, N, K, scalars, host_a, LD, b, LD, &beta, host_c4, LD));    \
    expect_same(type, c, host_c4);                                                                 \
    free(host_a);                                                                                  \
  }
DEFINE_HERMITIAN(C, c32, float)
DEFINE_HERMITIAN(Z, c64, double)

static void products_of_tiles(void** state) {
  (void)state;
  for (int op = OP_N; op <= OP_C; ++op) {
#define RUN(L, T) products_##L(op, OP_C - op);
    FOR_TYPES(RUN)
#undef RUN
  }
}

static void updates_of_triangles(void** state) {
  (void)state;
  for (int form = 0; form < 3; ++form) {
#define RUN(L, T)                 \
  updates_##L(LOWER, OP_N, form); \
  updates_##L(UPPER, OP_T, form);
    FOR_TYPES(RUN)
#undef RUN
  }
}

static void products_with_symmetric_matrices(void** state) {
  (void)state;
#define RUN(L, T)             \
  symmetric_##L(LEFT, LOWER); \
  symmetric_##L(RIGHT, UPPER);
  FOR_TYPES(RUN)
#undef RUN
}

static void products_and_solutions_with_triangles(void** state) {
  (void)state;
  for (int side = LEFT; side <= RIGHT; ++side) {
    for (int op = OP_N; op <= OP_T; ++op) {
#define RUN(L, T)                            \
  triangular_##L(side, LOWER, op, NON_UNIT); \
  triangular_##L(side, UPPER, op, UNIT);     \
  triangular_##L(side, UPPER, op, NON_UNIT);
      FOR_TYPES(RUN)
#undef RUN
    }
  }
}

static void hermitian_matrices(void** state) {
  (void)state;
  hermitian_C(LOWER, OP_N, LEFT);
  hermitian_C(UPPER, OP_C, RIGHT);
  hermitian_Z(UPPER, OP_N, RIGHT);
  hermitian_Z(LOWER, OP_C, LEFT);
}

static void settings_and_mistakes(void** state) {
  (void)state;
  int value = 0, devices[] = {0, 1, 0, 9};
  float numbers[4] = {1, 2, 3, 4}, one = 1;
  cublasXtHandle_t none = NULL;
  OK(cublasXtMaxBoards(&value));
  assert_int_equal(value, 2);
  OK(cublasXtGetNumBoards(3, devices, &value));
  assert_int_equal(value, 2);
  EXPECT(INVALID_VALUE, cublasXtGetNumBoards(4, devices, &value));
  OK(cublasXtGetBlockDim(xt, &value));
  assert_int_equal(value, 8);
  EXPECT(INVALID_VALUE, cublasXtSetBlockDim(xt, 0));
  OK(cublasXtSetPinningMemMode(xt, 1));
  OK(cublasXtGetPinningMemMode(xt, &value));
  assert_int_equal(value, 1);
  EXPECT(INVALID_VALUE, cublasXtSetPinningMemMode(xt, 2));
  EXPECT(INVALID_VALUE, cublasXtSetCpuRatio(xt, 12, 0, 0.5F));
  EXPECT(INVALID_VALUE, cublasXtDeviceSelect(xt, 1, devices + 3));
  OK(cublasXtCreate(&none));
  EXPECT(NOT_INITIALIZED,
         cublasXtSgemm(none, OP_N, OP_N, 2, 2, 2, &one, numbers, 2, numbers, 2, &one, numbers, 2));
  OK(cublasXtDestroy(none));
  EXPECT(NOT_INITIALIZED, cublasXtDestroy(none));
  EXPECT(INVALID_VALUE,
         cublasXtSgemm(xt, OP_N, OP_N, 2, 2, 2, &one, numbers, 1, numbers, 2, &one, numbers, 2));
  EXPECT(INVALID_VALUE,
         cublasXtSgemm(xt, 7, OP_N, 2, 2, 2, &one, numbers, 2, numbers, 2, &one, numbers, 2));
  EXPECT(INVALID_VALUE,
         cublasXtSgemm(xt, OP_N, OP_N, 2, 2, 2, NULL, numbers, 2, numbers, 2, &one, numbers, 2));
  OK(cublasXtSgemm(xt, OP_N, OP_N, 0, 2, 2, &one, NULL, 1, numbers, 2, &one, NULL, 1));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      XT_TEST(products_of_tiles),
      XT_TEST(updates_of_triangles),
      XT_TEST(products_with_symmetric_matrices),
      XT_TEST(products_and_solutions_with_triangles),
      XT_TEST(hermitian_matrices),
      XT_TEST(settings_and_mistakes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
