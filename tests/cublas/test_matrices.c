/* Level 3 beside products, and the extensions: what each routine promises, computed by the test. */
#include "support.h"

#include <math.h>
#include <string.h>

enum { M = 6, N = 5, K = 4, LD = 9, SIZE = LD * LD, BATCH = 2 };

static void* copy_of(char type, const void* data, long count) {
  void* const copy = managed((size_t)count * size_of(type));
  memcpy(copy, data, (size_t)count * size_of(type));
  return copy;
}

static int is_inside(int uplo, int row, int column) {
  return uplo == LOWER ? row >= column : row <= column;
}

/* The element of op(A) for a triangle A, with a unit diagonal if asked for. */
static number triangle(char type, const void* a, int uplo, int op, int diag, int row, int column) {
  const int r = op == OP_N ? row : column, c = op == OP_N ? column : row;
  if (diag == UNIT && r == c) return 1;
  return is_inside(uplo, r, c) ? element(type, a, LD, op, row, column) : 0;
}

#define DEFINE(L, T)                                                                               \
  static void level3_##L(int uplo, int op) {                                                       \
    const char type = *#L;                                                                         \
    T* const a = fill(type, SIZE);                                                                 \
    T* const b = fill(type, SIZE);                                                                 \
    T* const before = fill(type, SIZE);                                                            \
    T scalars[2];                                                                                  \
    put(type, scalars, 0, 2);                                                                      \
    put(type, scalars, 1, -1);                                                                     \
    T* c = copy_of(type, before, SIZE);                                                            \
    OK(cublas##L##symm_v2(handle, RIGHT, uplo, M, N, scalars, a, LD, b, LD, scalars + 1, c, LD));  \
    wait_for_device();                                                                             \
    for (int i = 0; i < M; ++i) {                                                                  \
      for (int j = 0; j < N; ++j) {                                                                \
        number sum = 0;                                                                            \
        for (int k = 0; k < N; ++k) {                                                              \
          const int in = is_inside(uplo, k, j);                                                    \
          sum += get(type, b, i + k * LD) * get(type, a, in ? k + j * LD : j + k * LD);            \
        }                                                                                          \
        NEAR(type, 2 * sum - get(type, before, i + j * LD), get(type, c, i + j * LD));             \
      }                                                                                            \
    }                                                                                              \
    const int turned = op == OP_N ? OP_T : OP_N;                                                   \
    T* const k1 = copy_of(type, before, SIZE);                                                     \
    T* const k2 = copy_of(type, before, SIZE);                                                     \
    T* const kx = copy_of(type, before, SIZE);                                                     \
    OK(cublas##L##syrk_v2(handle, uplo, op, N, K, scalars, a, LD, scalars + 1, k1, LD));           \
    OK(cublas##L##syr2k_v2(handle, uplo, op, N, K, scalars, a, LD, b, LD, scalars + 1, k2, LD));   \
    OK(cublas##L##syrkx(handle, uplo, op, N, K, scalars, a, LD, b, LD, scalars + 1, kx, LD));      \
    wait_for_device();                                                                             \
    for (int i = 0; i < N; ++i) {                                                                  \
      for (int j = 0; j < N; ++j) {                                                                \
        number aa = 0, ab = 0, ba = 0;                                                             \
        for (int k = 0; k < K; ++k) {                                                              \
          const number ai = element(type, a, LD, op, i, k),                                        \
                       aj = element(type, a, LD, turned, k, j);                                    \
          const number bi = element(type, b, LD, op, i, k),                                        \
                       bj = element(type, b, LD, turned, k, j);                                    \
          aa += ai * aj, ab += ai * bj, ba += bi * aj;                                             \
        }                                                                                          \
        const number old = get(type, before, i + j * LD);                                          \
        const int in = is_inside(uplo, i, j);                                                      \
        NEAR(type, in ? 2 * aa - old : old, get(type, k1, i + j * LD));                            \
        NEAR(type, in ? 2 * (ab + ba) - old : old, get(type, k2, i + j * LD));                     \
        NEAR(type, in ? 2 * ab - old : old, get(type, kx, i + j * LD));                            \
      }                                                                                            \
    }                                                                                              \
  }                                                                                                \
  static void triangular_##L(int side, int uplo, int op, int diag) {                               \
    const char type = *#L;                                                                         \
    T* const a = fill(type, SIZE);                                                                 \
    for (int i = 0; i < LD; ++i) put(type, a, i*(LD + 1), 5 + i);                                  \
    T* const b = fill(type, SIZE);                                                                 \
    T* const c = copy_of(type, b, SIZE);                                                           \
    T factor;                                                                                      \
    put(type, &factor, 0, 2);                                                                      \
    OK(cublas##L##trmm_v2(handle, side, uplo, op, diag, M, N, &factor, a, LD, b, LD, c, LD));      \
    wait_for_device();                                                                             \
    const int order = side == LEFT ? M : N;                                                        \
    for (int i = 0; i < M; ++i) {                                                                  \
      for (int j = 0; j < N; ++j) {                                                                \
        number sum = 0;                                                                            \
        for (int k = 0; k < order; ++k) {                                                          \
          sum += side == LEFT                                                                      \
                     ? triangle(type, a, uplo, op, diag, i, k) * get(type, b, k + j * LD)          \
                     : get(type, b, i + k * LD) * triangle(type, a, uplo, op, diag, k, j);         \
        }                                                                                          \
        NEAR(type, 2 * sum, get(type, c, i + j * LD));                                             \
      }                                                                                            \
    }                                                                                              \
    T* const d = copy_of(type, c, SIZE);                                                           \
    const T** const as = managed(sizeof *as);                                                      \
    T** const ds = managed(sizeof *ds);                                                            \
    *as = a, *ds = d;                                                                              \
    put(type, &factor, 0, 0.5);                                                                    \
    OK(cublas##L##trsm_v2(handle, side, uplo, op, diag, M, N, &factor, a, LD, c, LD));             \
    OK(cublas##L##trsmBatched(handle, side, uplo, op, diag, M, N, &factor, as, LD, ds, LD, 1));    \
    wait_for_device();                                                                             \
    for (int i = 0; i < M; ++i) {                                                                  \
      for (int j = 0; j < N; ++j) {                                                                \
        NEAR(type, get(type, b, i + j * LD), get(type, c, i + j * LD));                            \
        NEAR(type, get(type, b, i + j * LD), get(type, d, i + j * LD));                            \
      }                                                                                            \
    }                                                                                              \
  }                                                                                                \
  static void extensions_##L(int op_a, int op_b) {                                                 \
    const char type = *#L;                                                                         \
    T* const a = fill(type, SIZE);                                                                 \
    T* const b = fill(type, SIZE);                                                                 \
    T* const c = fill(type, SIZE);                                                                 \
    T scalars[2];                                                                                  \
    put(type, scalars, 0, 2);                                                                      \
    put(type, scalars, 1, -3);                                                                     \
    OK(cublas##L##geam(handle, op_a, op_b, M, N, scalars, a, LD, scalars + 1, b, LD, c, LD));      \
    wait_for_device();                                                                             \
    for (int i = 0; i < M; ++i) {                                                                  \
      for (int j = 0; j < N; ++j) {                                                                \
        NEAR(type, 2 * element(type, a, LD, op_a, i, j) - 3 * element(type, b, LD, op_b, i, j),    \
             get(type, c, i + j * LD));                                                            \
      }                                                                                            \
    }                                                                                              \
    OK(cublas##L##dgmm(handle, LEFT, M, N, a, LD, b, 2, c, LD));                                   \
    wait_for_device();                                                                             \
    for (int i = 0; i < M; ++i) {                                                                  \
      for (int j = 0; j < N; ++j) {                                                                \
        NEAR(type, get(type, b, 2 * i) * get(type, a, i + j * LD), get(type, c, i + j * LD));      \
      }                                                                                            \
    }                                                                                              \
    OK(cublas##L##dgmm(handle, RIGHT, M, N, a, LD, b, -1, c, LD));                                 \
    wait_for_device();                                                                             \
    for (int i = 0; i < M; ++i) {                                                                  \
      for (int j = 0; j < N; ++j) {                                                                \
        NEAR(type, get(type, b, N - 1 - j) * get(type, a, i + j * LD), get(type, c, i + j * LD));  \
      }                                                                                            \
    }                                                                                              \
  }                                                                                                \
  static void systems_##L(void) {                                                                  \
    const char type = *#L;                                                                         \
    T** const a = managed(BATCH * sizeof(T*));                                                     \
    T** const factors = managed(BATCH * sizeof(T*));                                               \
    T** const inverse = managed(BATCH * sizeof(T*));                                               \
    T** const right = managed(BATCH * sizeof(T*));                                                 \
    T** const direct = managed(BATCH * sizeof(T*));                                                \
    T* rights[BATCH];                                                                              \
    int* const pivots = managed(4 * N * BATCH);                                                    \
    int* const info = managed(4 * BATCH);                                                          \
    for (int i = 0; i < BATCH; ++i) {                                                              \
      a[i] = fill(type, SIZE);                                                                     \
      factors[i] = copy_of(type, a[i], SIZE);                                                      \
      inverse[i] = fill(type, SIZE);                                                               \
      direct[i] = fill(type, SIZE);                                                                \
      right[i] = fill(type, SIZE);                                                                 \
      rights[i] = copy_of(type, right[i], SIZE);                                                   \
    }                                                                                              \
    OK(cublas##L##getrfBatched(handle, N, factors, LD, pivots, info, BATCH));                      \
    wait_for_device();                                                                             \
    assert_int_equal(info[0], 0);                                                                  \
    OK(cublas##L##getriBatched(handle, N, (const T* const*)factors, LD, pivots, inverse, LD, info, \
                               BATCH));                                                            \
    OK(cublas##L##matinvBatched(handle, N, (const T* const*)a, LD, direct, LD, info, BATCH));      \
    wait_for_device();                                                                             \
    for (int which = 0; which < BATCH; ++which) {                                                  \
      for (int i = 0; i < N; ++i) {                                                                \
        for (int j = 0; j < N; ++j) {                                                              \
          number sum = 0, other = 0;                                                               \
          for (int k = 0; k < N; ++k) {                                                            \
            sum += get(type, a[which], i + k * LD) * get(type, inverse[which], k + j * LD);        \
            other += get(type, a[which], i + k * LD) * get(type, direct[which], k + j * LD);       \
          }                                                                                        \
          if (cabs(sum - (i == j)) > 2e-3 || cabs(other - (i == j)) > 2e-3) fail();                \
        }                                                                                          \
      }                                                                                            \
    }                                                                                              \
    for (int op = OP_N; op <= OP_C; ++op) {                                                        \
      int host_info = 9;                                                                           \
      for (int i = 0; i < BATCH; ++i) memcpy(right[i], rights[i], SIZE * sizeof(T));               \
      OK(cublas##L##getrsBatched(handle, op, N, 3, (const T* const*)factors, LD, pivots, right,    \
                                 LD, &host_info, BATCH));                                          \
      wait_for_device();                                                                           \
      assert_int_equal(host_info, 0);                                                              \
      for (int i = 0; i < N; ++i) {                                                                \
        for (int j = 0; j < 3; ++j) {                                                              \
          number sum = 0;                                                                          \
          for (int k = 0; k < N; ++k) {                                                            \
            sum += element(type, a[1], LD, op, i, k) * get(type, right[1], k + j * LD);            \
          }                                                                                        \
          if (cabs(sum - get(type, rights[1], i + j * LD)) > 2e-3) fail();                         \
        }                                                                                          \
      }                                                                                            \
    }                                                                                              \
    memset(factors[1], 0, SIZE * sizeof(T));                                                       \
    OK(cublas##L##getrfBatched(handle, N, factors, LD, pivots, info, BATCH));                      \
    wait_for_device();                                                                             \
    assert_int_equal(info[1], 1);                                                                  \
    /* Products with the inverse of a singular matrix must show that it is none.     */            \
    memset(a[1], 0, SIZE * sizeof(T));                                                             \
    memset(inverse[1], 0, SIZE * sizeof(T));                                                       \
    memset(direct[1], 0, SIZE * sizeof(T));                                                        \
    OK(cublas##L##getriBatched(handle, N, (const T* const*)factors, LD, pivots, inverse, LD, info, \
                               BATCH));                                                            \
    wait_for_device();                                                                             \
    assert_int_equal(info[1], 1);                                                                  \
    OK(cublas##L##matinvBatched(handle, N, (const T* const*)a, LD, direct, LD, info, BATCH));      \
    wait_for_device();                                                                             \
    assert_int_equal(info[1], 1);                                                                  \
    for (int j = 0; j < N; ++j) {                                                                  \
      assert_false(isfinite(cabs(get(type, inverse[1], j + j * LD))));                             \
      assert_false(isfinite(cabs(get(type, direct[1], j + j * LD))));                              \
    }                                                                                              \
  }                                                                                                \
  static void least_squares_##L(void) {                                                            \
    const char type = *#L;                                                                         \
    T** const a = managed(sizeof(T*));                                                             \
    T** const b = managed(sizeof(T*));                                                             \
    T** const tau = managed(sizeof(T*));                                                           \
    *a = fill(type, SIZE), *b = fill(type, SIZE), *tau = fill(type, N);                            \
    T* const matrix = copy_of(type, *a, SIZE);                                                     \
    T* const right = copy_of(type, *b, SIZE);                                                      \
    T* const factors = copy_of(type, *a, SIZE);                                                    \
    int info = 7;                                                                                  \
    int* const device_info = managed(4);                                                           \
    OK(cublas##L##gelsBatched(handle, OP_N, M, K, 2, a, LD, b, LD, &info, device_info, 1));        \
    wait_for_device();                                                                             \
    assert_int_equal(info, 0);                                                                     \
    assert_int_equal(*device_info, 0);                                                             \
    /* The rest is orthogonal to the columns. */                                                   \
    for (int j = 0; j < 2; ++j) {                                                                  \
      number rest[M];                                                                              \
      for (int i = 0; i < M; ++i) {                                                                \
        rest[i] = get(type, right, i + j * LD);                                                    \
        for (int k = 0; k < K; ++k) {                                                              \
          rest[i] -= get(type, matrix, i + k * LD) * get(type, *b, k + j * LD);                    \
        }                                                                                          \
      }                                                                                            \
      for (int k = 0; k < K; ++k) {                                                                \
        number sum = 0;                                                                            \
        for (int i = 0; i < M; ++i) sum += conj(get(type, matrix, i + k * LD)) * rest[i];          \
        if (cabs(sum) > 1e-3) fail();                                                              \
      }                                                                                            \
    }                                                                                              \
    *a = factors;                                                                                  \
    OK(cublas##L##geqrfBatched(handle, M, K, a, LD, tau, &info, 1));                               \
    wait_for_device();                                                                             \
    /* R^H R = A^H A. */                                                                           \
    for (int i = 0; i < K; ++i) {                                                                  \
      for (int j = 0; j < K; ++j) {                                                                \
        number expected = 0, given = 0;                                                            \
        for (int k = 0; k < M; ++k) {                                                              \
          expected += conj(get(type, matrix, k + i * LD)) * get(type, matrix, k + j * LD);         \
          if (k > i || k > j) continue;                                                            \
          given += conj(get(type, factors, k + i * LD)) * get(type, factors, k + j * LD);          \
        }                                                                                          \
        if (cabs(expected - given) > 1e-4) fail();                                                 \
      }                                                                                            \
    }                                                                                              \
  }
FOR_TYPES(DEFINE)

static void symmetric_products_and_updates(void** state) {
  (void)state;
#define RUN(L, T) level3_##L(LOWER, OP_N), level3_##L(UPPER, OP_T);
  FOR_TYPES(RUN)
#undef RUN
}

static void triangular_products_and_their_solutions(void** state) {
  (void)state;
  for (int form = 0; form < 24; ++form) {
    const int side = form & 1, uplo = form >> 1 & 1, diag = form >> 2 & 1, op = form / 8;
#define RUN(L, T) triangular_##L(side, uplo, op, diag);
    FOR_TYPES(RUN)
#undef RUN
    tear_down(NULL);
    set_up(NULL);
  }
}

static void sums_and_scalings_of_matrices(void** state) {
  (void)state;
#define RUN(L, T) \
  extensions_##L(OP_N, OP_N), extensions_##L(OP_T, OP_C), extensions_##L(OP_C, OP_N);
  FOR_TYPES(RUN)
#undef RUN
}

static void batches_of_systems(void** state) {
  (void)state;
  systems_S(), systems_D(), systems_C(), systems_Z();
}

static void batches_of_least_squares(void** state) {
  (void)state;
  least_squares_S(), least_squares_D(), least_squares_C(), least_squares_Z();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(symmetric_products_and_updates), TEST(triangular_products_and_their_solutions),
      TEST(sums_and_scalings_of_matrices),  TEST(batches_of_systems),
      TEST(batches_of_least_squares),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
