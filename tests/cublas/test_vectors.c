/* Level 1 and 2 against sums by the test. */
#include "support.h"

#include <math.h>
#include <string.h>

enum { N = 11, M = 6, LD = 14, SPACE = 64 };

static int place(int i, int count, int increment) {
  return increment > 0 ? i * increment : (i - count + 1) * increment;
}

static void* copy_of(char type, const void* data, long count) {
  void* const copy = managed((size_t)count * size_of(type));
  memcpy(copy, data, (size_t)count * size_of(type));
  return copy;
}

#define LEVEL1(L, T)                                                                              \
  static void level1_##L(int incx, int incy) {                                                    \
    const char type = *#L;                                                                        \
    T* const x = fill(type, SPACE);                                                               \
    T* const y = fill(type, SPACE);                                                               \
    T* const after = copy_of(type, y, SPACE);                                                     \
    T factor;                                                                                     \
    put(type, &factor, 0, 2.5);                                                                   \
    OK(cublas##L##axpy_v2(handle, N, &factor, x, incx, after, incy));                             \
    wait_for_device();                                                                            \
    for (int i = 0; i < N; ++i) {                                                                 \
      const int to = place(i, N, incy);                                                           \
      NEAR(type, 2.5 * get(type, x, place(i, N, incx)) + get(type, y, to), get(type, after, to)); \
    }                                                                                             \
    OK(cublas##L##copy_v2(handle, N, x, incx, after, incy));                                      \
    OK(cublas##L##swap_v2(handle, N, y, incy, after, incx > 0 ? incy : incy));                    \
    OK(cublas##L##scal_v2(handle, N, &factor, y, incy > 0 ? incy : -incy));                       \
    wait_for_device();                                                                            \
    for (int i = 0; i < N; ++i) {                                                                 \
      NEAR(type, 2.5 * get(type, x, place(i, N, incx)), get(type, y, place(i, N, incy)));         \
    }                                                                                             \
  }                                                                                               \
  static void level2_##L(int op, int incx, int incy) {                                            \
    const char type = *#L;                                                                        \
    const int rows = op == OP_N ? M : N, columns = op == OP_N ? N : M;                            \
    T* const a = fill(type, LD * LD);                                                             \
    T* const x = fill(type, SPACE);                                                               \
    T* const y = fill(type, SPACE);                                                               \
    T* const after = copy_of(type, y, SPACE);                                                     \
    T scalars[2];                                                                                 \
    put(type, scalars, 0, 2);                                                                     \
    put(type, scalars, 1, -3);                                                                    \
    OK(cublas##L##gemv_v2(handle, op, M, N, scalars, a, LD, x, incx, scalars + 1, after, incy));  \
    wait_for_device();                                                                            \
    for (int i = 0; i < rows; ++i) {                                                              \
      number sum = 0;                                                                             \
      for (int k = 0; k < columns; ++k) {                                                         \
        sum += element(type, a, LD, op, i, k) * get(type, x, place(k, columns, incx));            \
      }                                                                                           \
      const int to = place(i, rows, incy);                                                        \
      NEAR(type, 2 * sum - 3 * get(type, y, to), get(type, after, to));                           \
    }                                                                                             \
    /* x = op(A)^-1 op(A) x for a triangle, and one packed. */                                    \
    for (int i = 0; i < N; ++i) put(type, a, i*(LD + 1), 4 + i);                                  \
    T* const solved = copy_of(type, x, SPACE);                                                    \
    T* const packed = managed(SPACE * 2 * sizeof(T));                                             \
    for (int uplo = LOWER; uplo <= UPPER; ++uplo) {                                               \
      OK(cublas##L##trmv_v2(handle, uplo, op, NON_UNIT, N, a, LD, solved, incx));                 \
      wait_for_device();                                                                          \
      for (int i = 0; i < N; ++i) {                                                               \
        number sum = 0;                                                                           \
        for (int k = 0; k < N; ++k) {                                                             \
          const int row = op == OP_N ? i : k, column = op == OP_N ? k : i;                        \
          if (uplo == LOWER ? row < column : row > column) continue;                              \
          sum += element(type, a, LD, op, i, k) * get(type, x, place(k, N, incx));                \
        }                                                                                         \
        NEAR(type, sum, get(type, solved, place(i, N, incx)));                                    \
      }                                                                                           \
      T* const again = copy_of(type, x, SPACE);                                                   \
      OK(cublas##L##trttp(handle, uplo, N, a, LD, packed));                                       \
      OK(cublas##L##tpmv_v2(handle, uplo, op, NON_UNIT, N, packed, again, incx));                 \
      wait_for_device();                                                                          \
      for (int i = 0; i < N; ++i) {                                                               \
        const int at = place(i, N, incx);                                                         \
        NEAR(type, get(type, solved, at), get(type, again, at));                                  \
      }                                                                                           \
      OK(cublas##L##trsv_v2(handle, uplo, op, NON_UNIT, N, a, LD, solved, incx));                 \
      wait_for_device();                                                                          \
      for (int i = 0; i < N; ++i) {                                                               \
        const int at = place(i, N, incx);                                                         \
        NEAR(type, get(type, x, at), get(type, solved, at));                                      \
      }                                                                                           \
    }                                                                                             \
  }                                                                                               \
  static void symmetric_##L(void) {                                                               \
    const char type = *#L;                                                                        \
    T* const a = fill(type, LD * LD);                                                             \
    T* const x = fill(type, SPACE);                                                               \
    T* const y = fill(type, SPACE);                                                               \
    T* const before = copy_of(type, y, SPACE);                                                    \
    T scalars[2];                                                                                 \
    put(type, scalars, 0, 2);                                                                     \
    put(type, scalars, 1, -3);                                                                    \
    OK(cublas##L##symv_v2(handle, UPPER, N, scalars, a, LD, x, 2, scalars + 1, y, 3));            \
    wait_for_device();                                                                            \
    for (int i = 0; i < N; ++i) {                                                                 \
      number sum = 0;                                                                             \
      for (int k = 0; k < N; ++k) {                                                               \
        sum += get(type, a, i < k ? i + k * LD : k + i * LD) * get(type, x, 2 * k);               \
      }                                                                                           \
      NEAR(type, 2 * sum - 3 * get(type, before, 3 * i), get(type, y, 3 * i));                    \
    }                                                                                             \
    T* const updated = copy_of(type, a, LD * LD);                                                 \
    OK(cublas##L##syr_v2(handle, LOWER, N, scalars, x, 2, updated, LD));                          \
    OK(cublas##L##syr2_v2(handle, LOWER, N, scalars + 1, x, 1, y, 2, updated, LD));               \
    wait_for_device();                                                                            \
    for (int i = 0; i < N; ++i) {                                                                 \
      for (int k = 0; k < N; ++k) {                                                               \
        const number old = get(type, a, i + k * LD);                                              \
        const number one = get(type, x, 2 * i) * get(type, x, 2 * k);                             \
        const number two =                                                                        \
            get(type, x, i) * get(type, y, 2 * k) + get(type, y, 2 * i) * get(type, x, k);        \
        NEAR(type, i >= k ? old + 2 * one - 3 * two : old, get(type, updated, i + k * LD));       \
      }                                                                                           \
    }                                                                                             \
  }
FOR_TYPES(LEVEL1)

static void vectors_with_all_increments(void** state) {
  (void)state;
#define RUN(L, T) level1_##L(1, 1), level1_##L(2, 3), level1_##L(-2, 3), level1_##L(3, -2);
  FOR_TYPES(RUN)
#undef RUN
}

static void matrices_times_vectors(void** state) {
  (void)state;
  for (int op = OP_N; op <= OP_C; ++op) {
#define RUN(L, T) level2_##L(op, 1, 1), level2_##L(op, 2, -3), level2_##L(op, -1, 2);
    FOR_TYPES(RUN)
#undef RUN
    tear_down(NULL);
    set_up(NULL);
  }
}

static void symmetric_matrices_of_all_types(void** state) {
  (void)state;
  symmetric_S(), symmetric_D(), symmetric_C(), symmetric_Z();
}

/* In either pointer mode. */
static void reductions_give_their_result_where_it_is_asked_for(void** state) {
  (void)state;
  double* const x = fill('D', SPACE);
  double* const y = fill('D', SPACE);
  double dot = 0, squares = 0, sum = 0;
  int largest = 0, least = 0;
  for (int i = 0; i < N; ++i) {
    dot += x[2 * i] * y[i];
    squares += x[2 * i] * x[2 * i];
    sum += fabs(x[2 * i]);
    if (fabs(x[2 * i]) > fabs(x[2 * largest])) largest = i;
    if (fabs(x[2 * i]) < fabs(x[2 * least])) least = i;
  }
  for (int mode = 0; mode < 2; ++mode) {
    double on_host[3] = {0};
    int indices_on_host[2] = {0};
    double* const results = mode ? managed(24) : on_host;
    int* const indices = mode ? managed(8) : indices_on_host;
    OK(cublasSetPointerMode_v2(handle, mode));
    OK(cublasDdot_v2(handle, N, x, 2, y, 1, results));
    OK(cublasDnrm2_v2(handle, N, x, 2, results + 1));
    OK(cublasDasum_v2(handle, N, x, 2, results + 2));
    OK(cublasIdamax_v2(handle, N, x, 2, indices));
    OK(cublasIdamin_v2(handle, N, x, 2, indices + 1));
    if (mode) wait_for_device();
    NEAR('D', dot, results[0]);
    NEAR('D', sqrt(squares), results[1]);
    NEAR('D', sum, results[2]);
    assert_int_equal(indices[0], largest + 1);
    assert_int_equal(indices[1], least + 1);
    OK(cublasDdot_v2(handle, 0, x, 1, y, 1, results));
    OK(cublasIdamax_v2(handle, 0, x, 1, indices));
    if (mode) wait_for_device();
    assert_true(results[0] == 0 && indices[0] == 0);
  }
  OK(cublasSetPointerMode_v2(handle, 0));
  int64_t wide = 0;
  OK(cublasIdamax_v2_64(handle, N, x, 2, &wide));
  assert_int_equal(wide, largest + 1);
  c64* const u = fill('Z', N);
  c64* const v = fill('Z', N);
  number conjugated = 0, plain = 0;
  for (int i = 0; i < N; ++i) {
    conjugated += conj(get('Z', u, i)) * get('Z', v, i);
    plain += get('Z', u, i) * get('Z', v, i);
  }
  c64 given;
  OK(cublasZdotc_v2(handle, N, u, 1, v, 1, &given));
  NEAR('Z', conjugated, get('Z', &given, 0));
  OK(cublasZdotu_v2(handle, N, u, 1, v, 1, &given));
  NEAR('Z', plain, get('Z', &given, 0));
}

static void rotations(void** state) {
  (void)state;
  double a = 3, b = 4, c = 0, s = 0;
  OK(cublasDrotg_v2(handle, &a, &b, &c, &s));
  NEAR('D', 5, a), NEAR('D', 0.6, c), NEAR('D', 0.8, s);
  double* const device = managed(32);
  device[0] = 3, device[1] = 4;
  OK(cublasSetPointerMode_v2(handle, 1));
  OK(cublasDrotg_v2(handle, device, device + 1, device + 2, device + 3));
  wait_for_device();
  assert_true(device[0] == a && device[1] == b && device[2] == c && device[3] == s);
  OK(cublasSetPointerMode_v2(handle, 0));
  c64* const x = fill('Z', N);
  c64* const y = fill('Z', N);
  c64* const old_x = copy_of('Z', x, N);
  c64* const old_y = copy_of('Z', y, N);
  const c64 sine = {0.48, 0.64};
  const double cosine = 0.6;
  OK(cublasZrot_v2(handle, N, x, 1, y, 1, &cosine, &sine));
  wait_for_device();
  const number turn = get('Z', &sine, 0);
  for (int i = 0; i < N; ++i) {
    NEAR('Z', cosine * get('Z', old_x, i) + turn * get('Z', old_y, i), get('Z', x, i));
    NEAR('Z', cosine * get('Z', old_y, i) - conj(turn) * get('Z', old_x, i), get('Z', y, i));
  }
  float d1 = 2, d2 = 3, x1 = 1, y1 = 0.5F, parameters[5] = {0};
  OK(cublasSrotmg_v2(handle, &d1, &d2, &x1, &y1, parameters));
  float* const u = managed(8);
  float* const v = u + 1;
  u[0] = 1, u[1] = 0.5F;
  OK(cublasSrotm_v2(handle, 1, u, 1, v, 1, parameters));
  wait_for_device();
  NEAR('S', x1, u[0]), NEAR('S', 0, v[0]);
}

static void vectors_of_halves(void** state) {
  (void)state;
  uint16_t* const x = managed(2 * N);
  uint16_t* const y = managed(2 * N);
  uint16_t* const result = managed(4);
  for (int i = 0; i < N; ++i) {
    x[i] = half_of((float)(i - 4));
    y[i] = half_of(2);
  }
  const float factor = 3;
  OK(cublasAxpyEx(handle, N, &factor, R_32F, x, R_16F, 1, y, R_16F, 1, R_32F));
  wait_for_device();
  for (int i = 0; i < N; ++i) assert_true(half_to_float(y[i]) == (float)(3 * (i - 4) + 2));
  int sum = 0;
  for (int i = 0; i < N; ++i) sum += (i - 4) * (3 * (i - 4) + 2);
  OK(cublasDotEx(handle, N, x, R_16F, 1, y, R_16F, 1, result, R_16F, R_32F));
  assert_int_equal(*result, half_of((float)sum));
  EXPECT(NOT_SUPPORTED, cublasNrm2Ex(handle, N, x, 99, 1, result, R_16F, R_32F));
}

static void wrong_arguments_are_refused(void** state) {
  (void)state;
  float* const x = fill('S', 16);
  const float one = 1;
  EXPECT(INVALID_VALUE, cublasSaxpy_v2(handle, 4, &one, x, 0, x + 8, 1));
  EXPECT(INVALID_VALUE, cublasSaxpy_v2(handle, 4, NULL, x, 1, x + 8, 1));
  EXPECT(INVALID_VALUE, cublasSaxpy_v2(handle, 400000, &one, x, 1, x + 8, 1));
  EXPECT(INVALID_VALUE, cublasSdot_v2(handle, 4, x, 1, x, 1, NULL));
  EXPECT(INVALID_VALUE, cublasStrsv_v2(handle, 3, 0, 0, 2, x, 2, x + 8, 1));
  OK(cublasSaxpy_v2(handle, 0, NULL, NULL, 1, NULL, 1));
  OK(cublasSaxpy_v2(handle, -1, NULL, NULL, 1, NULL, 1));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(vectors_with_all_increments),
      TEST(matrices_times_vectors),
      TEST(symmetric_matrices_of_all_types),
      TEST(reductions_give_their_result_where_it_is_asked_for),
      TEST(rotations),
      TEST(vectors_of_halves),
      TEST(wrong_arguments_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
