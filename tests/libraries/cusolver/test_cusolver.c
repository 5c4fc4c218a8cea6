/* Factorizations of cuSOLVER and solutions with them, against products in long double. */
#include "solver_test.h"

SOLVER(potrf, potrf, potrf, void*, int, int, void*, int, void*, int, int*)
SOLVER(potri, potri, potri, void*, int, int, void*, int, void*, int, int*)
SOLVER(lauum, lauum, lauum, void*, int, int, void*, int, void*, int, int*)
SOLVER(potrs, potrs, potrs, void*, int, int, int, const void*, int, void*, int, int*)
SOLVER(potrf_batched, potrfBatched, potrfBatched, void*, int, int, void**, int, int*, int)
SOLVER(potrs_batched, potrsBatched, potrsBatched, void*, int, int, int, void**, int, void**, int,
       int*, int)
SOLVER(potrf_size, potrf_bufferSize, potrf_bufferSize, void*, int, int, void*, int, int*)
SOLVER(getrf, getrf, getrf, void*, int, int, void*, int, void*, int*, int*)
SOLVER(getrs, getrs, getrs, void*, int, int, int, const void*, int, const int*, void*, int, int*)
SOLVER(laswp, laswp, laswp, void*, int, void*, int, int, int, const int*, int)
SOLVER(sytrf, sytrf, sytrf, void*, int, int, void*, int, int*, void*, int, int*)
SOLVER(sytri, sytri, sytri, void*, int, int, void*, int, const int*, void*, int, int*)

int cusolverDnXtrtri(void*, int, int, int64_t, int, void*, int64_t, void*, size_t, void*, size_t,
                     int*);
int cusolverDnXsytrs(void*, int, int64_t, int64_t, int, const void*, int64_t, const int64_t*, int,
                     void*, int64_t, void*, size_t, void*, size_t, int*);
int cusolverDnXhetrf(void*, void*, int, int64_t, int, void*, int64_t, int64_t*, int, void*, size_t,
                     void*, size_t, int*);
int cusolverDnXhetrs(void*, void*, int, int64_t, int64_t, int, const void*, int64_t, const int64_t*,
                     int, void*, int64_t, void*, size_t, void*, size_t, int*);
int cusolverDnXsytrf(void*, void*, int, int64_t, int, void*, int64_t, int64_t*, int, void*, size_t,
                     void*, size_t, int*);

static void* handle;
static int* info;

static void check_info(int expected) {
  finish();
  assert_int_equal(*info, expected);
}

static void cholesky(int type, int uplo, int n, int nrhs, int lda, int ldb, int is_captured) {
  void *a = random_matrix(type, n, n, lda), *b = random_matrix(type, n, nrhs, ldb);
  void* work = managed(WORK * 16);
  make_positive(type, a, n, lda);
  const dense full = load(type, a, n, n, lda), right = load(type, b, n, nrhs, ldb);
  cudaStream_t stream = is_captured ? begin_capture(handle) : NULL;
  assert_int_equal(potrf[type](handle, uplo, n, a, lda, work, WORK, info), OK);
  assert_int_equal(potrs[type](handle, uplo, n, nrhs, a, lda, b, ldb, info), OK);
  if (is_captured) run_capture(handle, stream);
  check_info(0);
  const dense factor = load(type, a, n, n, lda), l = triangle(factor, uplo, 0);
  const dense back = uplo == LOWER ? multiply(l, OP_N, l, OP_C) : multiply(l, OP_C, l, OP_N);
  check_near("L L^H", type, back, full, n, norm(full));
  /* The other triangle is not touched. */
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) {
      if (uplo == LOWER ? i < j : i > j) assert_true(*at(factor, i, j) == *at(full, i, j));
    }
  }
  const dense x = load(type, b, n, nrhs, ldb);
  check_near("A X", type, multiply(full, OP_N, x, OP_N), right, n, norm(full) * norm(x));
  check_padding(type, a, n, n, lda);
  check_padding(type, b, n, nrhs, ldb);
  /* lauum gives L^H L or U U^H, potri the inverse. */
  void* second = managed(sizes[type] * (size_t)lda * (size_t)n);
  memcpy(second, a, sizes[type] * (size_t)lda * (size_t)n);
  assert_int_equal(lauum[type](handle, uplo, n, second, lda, work, WORK, info), OK);
  check_info(0);
  const dense product = reflect(load(type, second, n, n, lda), uplo, 1);
  const dense expected = uplo == LOWER ? multiply(l, OP_C, l, OP_N) : multiply(l, OP_N, l, OP_C);
  check_near("L^H L", type, product, expected, n, norm(full));
  assert_int_equal(potri[type](handle, uplo, n, a, lda, work, WORK, info), OK);
  check_info(0);
  const dense inverse = reflect(load(type, a, n, n, lda), uplo, 1);
  check_near("A A^-1", type, multiply(full, OP_N, inverse, OP_N), identity(n), n, 1);
}

static void cholesky_solves(void** state) {
  (void)state;
  for (int i = 0; i < case_count(60); ++i) {
    const int n = random_below(40), nrhs = random_below(5);
    cholesky(i % TYPES, random_below(2), n, nrhs, n + 1 + random_below(4), n + 1 + random_below(4),
             i / TYPES % 3 == 0);
  }
}

static void not_positive_definite_is_said(void** state) {
  (void)state;
  for (int type = 0; type < TYPES; ++type) {
    const int n = 12;
    void *a = random_matrix(type, n, n, n), *work = managed(WORK * 16);
    make_positive(type, a, n, n);
    set(type, a, 7 * 13, -3);
    assert_int_equal(potrf[type](handle, UPPER, n, a, n, work, WORK, info), OK);
    check_info(8);
  }
}

static void batches_of_cholesky(void** state) {
  (void)state;
  for (int i = 0; i < case_count(24); ++i) {
    const int type = i % TYPES, n = random_below(12), lda = n + 1 + random_below(3),
              count = random_below(9);
    const int uplo = random_below(2);
    void **a = managed(sizeof(void*) * 9), **b = managed(sizeof(void*) * 9);
    int* infos = managed(sizeof(int) * 9);
    dense full[9], right[9];
    for (int k = 0; k < count; ++k) {
      a[k] = random_matrix(type, n, n, lda);
      b[k] = random_matrix(type, n, 2, lda);
      make_positive(type, a[k], n, lda);
      full[k] = load(type, a[k], n, n, lda);
      right[k] = load(type, b[k], n, 2, lda);
    }
    cudaStream_t stream = i % 2 ? begin_capture(handle) : NULL;
    assert_int_equal(potrf_batched[type](handle, uplo, n, a, lda, infos, count), OK);
    assert_int_equal(potrs_batched[type](handle, uplo, n, 2, a, lda, b, lda, info, count), OK);
    if (i % 2) run_capture(handle, stream);
    check_info(0);
    for (int k = 0; k < count; ++k) {
      assert_int_equal(infos[k], 0);
      const dense l = triangle(load(type, a[k], n, n, lda), uplo, 0),
                  x = load(type, b[k], n, 2, lda);
      const dense back = uplo == LOWER ? multiply(l, OP_N, l, OP_C) : multiply(l, OP_C, l, OP_N);
      check_near("batched L L^H", type, back, full[k], n, norm(full[k]));
      check_near("batched A X", type, multiply(full[k], OP_N, x, OP_N), right[k], n,
                 norm(full[k]) * norm(x));
      check_padding(type, a[k], n, n, lda);
    }
  }
}

static dense exchange_rows(dense a, const int* pivots, int count) {
  for (int k = 0; k < count; ++k) {
    for (int j = 0; j < a.n; ++j) {
      const number kept = *at(a, k, j);
      *at(a, k, j) = *at(a, pivots[k] - 1, j);
      *at(a, pivots[k] - 1, j) = kept;
    }
  }
  return a;
}

static void lu(int type, int m, int n, int lda, int has_pivots, int is_captured) {
  void *a = random_matrix(type, m, n, lda), *work = managed(WORK * 16);
  const int count = m < n ? m : n;
  if (!has_pivots) { /* dominant diagonals need none */
    for (int i = 0; i < count; ++i) set(type, a, (size_t)i * (size_t)(lda + 1), m + n + 1);
  }
  dense full = load(type, a, m, n, lda);
  int* pivots = has_pivots ? managed(sizeof(int) * (size_t)(count + 1)) : NULL;
  cudaStream_t stream = is_captured ? begin_capture(handle) : NULL;
  assert_int_equal(getrf[type](handle, m, n, a, lda, work, pivots, info), OK);
  if (is_captured) run_capture(handle, stream);
  check_info(0);
  const dense factors = load(type, a, m, n, lda);
  const dense back = multiply(triangle(factors, LOWER, 1), OP_N, triangle(factors, UPPER, 0), OP_N);
  const dense original = load(type, a, 0, 0, 1);
  free(original.v);
  dense expected = zeros(m, n);
  memcpy(expected.v, full.v, sizeof(number) * (size_t)m * (size_t)n);
  if (has_pivots) expected = exchange_rows(expected, pivots, count);
  check_near("L U", type, back, expected, m + n, norm(full) * (m + 1));
  check_padding(type, a, m, n, lda);
  if (m != n) return;
  for (int op = OP_N; op <= OP_C; ++op) {
    const int nrhs = random_below(4), ldb = n + 1 + random_below(3);
    void* b = random_matrix(type, n, nrhs, ldb);
    const dense right = load(type, b, n, nrhs, ldb);
    stream = is_captured ? begin_capture(handle) : NULL;
    assert_int_equal(getrs[type](handle, op, n, nrhs, a, lda, pivots, b, ldb, info), OK);
    if (is_captured) run_capture(handle, stream);
    check_info(0);
    const dense x = load(type, b, n, nrhs, ldb);
    check_near("op(A) X", type, multiply(full, op, x, OP_N), right, n,
               norm(full) * norm(x) * (n + 1));
    check_padding(type, b, n, nrhs, ldb);
  }
}

static void lu_solves(void** state) {
  (void)state;
  for (int i = 0; i < case_count(60); ++i) {
    const int m = random_below(70), n = random_below(2) ? m : random_below(70);
    lu(i % TYPES, m, n, m + 1 + random_below(3), random_below(2), i / TYPES % 3 == 0);
  }
}

static void singular_matrices_are_said(void** state) {
  (void)state;
  for (int type = 0; type < TYPES; ++type) {
    for (int has_pivots = 0; has_pivots < 2; ++has_pivots) {
      const int n = 9;
      void *a = random_matrix(type, n, n, n), *work = managed(WORK * 16);
      int* pivots = managed(sizeof(int) * 9);
      for (int i = 0; i < n; ++i) {
        set(type, a, (size_t)i * 10, 20);
        set(type, a, (size_t)(4 * n + i), 0);
      }
      assert_int_equal(getrf[type](handle, n, n, a, n, work, has_pivots ? pivots : NULL, info), OK);
      check_info(5);
    }
  }
}

static void rows_are_exchanged(void** state) {
  (void)state;
  for (int i = 0; i < case_count(40); ++i) {
    const int type = i % TYPES, m = 1 + random_below(30), n = random_below(10),
              lda = m + random_below(3);
    const int k1 = 1 + random_below(m), k2 = k1 + random_below(m - k1 + 1);
    const int incx = random_below(2) ? 1 + random_below(2) : -1 - random_below(2);
    const int step = abs(incx), count = k2 - k1 + 1;
    void* a = random_matrix(type, m, n, lda);
    int* pivots = managed(sizeof(int) * (size_t)(k1 + count * step + 1));
    for (int k = 0; k < count; ++k) pivots[k1 - 1 + k * step] = 1 + random_below(m);
    dense expected = load(type, a, m, n, lda);
    for (int each = 0; each < count; ++each) {
      const int k = incx > 0 ? each : count - 1 - each;
      const int row = k1 - 1 + k, other = pivots[k1 - 1 + k * step] - 1;
      for (int j = 0; j < n; ++j) {
        const number kept = *at(expected, row, j);
        *at(expected, row, j) = *at(expected, other, j);
        *at(expected, other, j) = kept;
      }
    }
    assert_int_equal(laswp[type](handle, n, a, lda, k1, k2, pivots, incx), OK);
    finish();
    assert_true(distance(load(type, a, m, n, lda), expected) == 0);
    check_padding(type, a, m, n, lda);
  }
}

static void symmetric_solves(void** state) {
  (void)state;
  for (int i = 0; i < case_count(60); ++i) {
    const int type = i % TYPES, n = random_below(30), nrhs = random_below(4),
              uplo = random_below(2);
    const int lda = n + 1 + random_below(3), is_hermitian = random_below(2),
              has_pivots = random_below(3) != 0;
    void *a = random_matrix(type, n, n, lda), *b = random_matrix(type, n, nrhs, lda);
    if (!has_pivots || is_hermitian) {
      for (int k = 0; k < n; ++k) {
        set(type, a, (size_t)k * (size_t)(lda + 1),
            has_pivots ? creall(get(type, a, (size_t)k * (size_t)(lda + 1))) : 4 * n + 1);
      }
    }
    const dense full = reflect(load(type, a, n, n, lda), uplo, is_hermitian);
    const dense right = load(type, b, n, nrhs, lda);
    int64_t* pivots = has_pivots ? managed(sizeof(int64_t) * (size_t)(n + 1)) : NULL;
    const int code = data_types[type];
    cudaStream_t stream = i % 2 ? begin_capture(handle) : NULL;
    if (is_hermitian) {
      assert_int_equal(cusolverDnXhetrf(handle, NULL, uplo, n, code, a, lda, pivots, code, NULL, 0,
                                        NULL, 0, info),
                       OK);
      assert_int_equal(cusolverDnXhetrs(handle, NULL, uplo, n, nrhs, code, a, lda, pivots, code, b,
                                        lda, NULL, 0, NULL, 0, info),
                       OK);
    } else {
      assert_int_equal(cusolverDnXsytrf(handle, NULL, uplo, n, code, a, lda, pivots, code, NULL, 0,
                                        NULL, 0, info),
                       OK);
      assert_int_equal(cusolverDnXsytrs(handle, uplo, n, nrhs, code, a, lda, pivots, code, b, lda,
                                        NULL, 0, NULL, 0, info),
                       OK);
    }
    if (i % 2) run_capture(handle, stream);
    check_info(0);
    const dense x = load(type, b, n, nrhs, lda);
    check_near("symmetric A X", type, multiply(full, OP_N, x, OP_N), right, n,
               norm(full) * norm(x) * (n + 1));
    check_padding(type, a, n, n, lda);
  }
}

static void symmetric_inverses(void** state) {
  (void)state;
  for (int i = 0; i < case_count(24); ++i) {
    const int type = i % TYPES, n = 1 + random_below(20), uplo = random_below(2),
              lda = n + random_below(3);
    void *a = random_matrix(type, n, n, lda), *work = managed(WORK * 16);
    for (int k = 0; k < n; ++k) set(type, a, (size_t)k * (size_t)(lda + 1), k % 2 ? 3 * n : -3 * n);
    const dense full = reflect(load(type, a, n, n, lda), uplo, 0);
    int* pivots = managed(sizeof(int) * (size_t)n);
    assert_int_equal(sytrf[type](handle, uplo, n, a, lda, pivots, work, WORK, info), OK);
    assert_int_equal(sytri[type](handle, uplo, n, a, lda, pivots, work, WORK, info), OK);
    check_info(0);
    const dense inverse = reflect(load(type, a, n, n, lda), uplo, 0);
    check_near("symmetric A A^-1", type, multiply(full, OP_N, inverse, OP_N), identity(n), n, n);
  }
}

static void triangles_are_inverted(void** state) {
  (void)state;
  for (int i = 0; i < case_count(24); ++i) {
    const int type = i % TYPES, n = random_below(20), uplo = random_below(2),
              is_unit = random_below(2);
    void* a = random_matrix(type, n, n, n + 1);
    for (int k = 0; k < n; ++k) set(type, a, (size_t)k * (size_t)(n + 2), n + 2);
    for (int k = 0; k < n * (n + 1) && is_unit; ++k)
      set(type, a, (size_t)k, get(type, a, (size_t)k) / (n + 1));
    const dense full = triangle(load(type, a, n, n, n + 1), uplo, is_unit);
    assert_int_equal(cusolverDnXtrtri(handle, uplo, is_unit, n, data_types[type], a, n + 1, NULL, 0,
                                      NULL, 0, info),
                     OK);
    check_info(0);
    const dense inverse = triangle(load(type, a, n, n, n + 1), uplo, is_unit);
    check_near("T T^-1", type, multiply(full, OP_N, inverse, OP_N), identity(n), n, n);
  }
}

static void wrong_arguments_are_refused(void** state) {
  (void)state;
  float* const a = managed(400);
  int size = 0;
  assert_int_equal(potrf[F32](handle, 2, 10, a, 10, a, WORK, info), INVALID_VALUE);
  assert_int_equal(potrf[F32](handle, LOWER, -1, a, 10, a, WORK, info), INVALID_VALUE);
  assert_int_equal(potrf[F32](handle, LOWER, 10, a, 9, a, WORK, info), INVALID_VALUE);
  assert_int_equal(potrf[F32](handle, LOWER, 10, a, 10, a, 0, info), INVALID_VALUE);
  assert_int_equal(potrf[F32](handle, LOWER, 10, NULL, 10, a, WORK, info), INVALID_VALUE);
  assert_int_equal(potrf[F32](handle, LOWER, 10, a, 10, a, WORK, NULL), INVALID_VALUE);
  assert_int_equal(potrf[F32](handle, LOWER, 10, a, 11, a, WORK, info),
                   INVALID_VALUE); /* too long */
  assert_int_equal(potrf[F32](NULL, LOWER, 10, a, 10, a, WORK, info), NOT_INITIALIZED);
  assert_int_equal(potrf[F32](a, LOWER, 10, a, 10, a, WORK, info), NOT_INITIALIZED);
  assert_int_equal(potrf_size[F32](handle, LOWER, -2, a, 10, &size), INVALID_VALUE);
  assert_int_equal(potrf_size[F32](handle, LOWER, 2, a, 10, NULL), INVALID_VALUE);
  assert_int_equal(potrf_size[F32](handle, LOWER, 2, a, 10, (int*)8), INVALID_VALUE);
  assert_int_equal(potrf_size[F32](handle, LOWER, 2, a, 10, &size), OK);
  assert_int_equal(size, WORK);
}

/* Wild exchanges end the work of a process of its own, because they end its context. */
static void wild_exchanges_write_nothing(void** state) {
  (void)state;
  const int n = 4;
  void *a = random_matrix(F64, n, n, n), *b = random_matrix(F64, n, 1, n);
  int* pivots = managed(sizeof(int) * 4);
  const dense before = load(F64, b, n, 1, n), whole = load(F64, a, n, n, n);
  for (int i = 0; i < n; ++i) pivots[i] = i == 2 ? 1000000 : i + 1;
  assert_int_equal(getrs[F64](handle, OP_N, n, 1, a, n, pivots, b, n, info), OK);
  assert_int_equal(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  assert_true(distance(load(F64, b, n, 1, n), before) == 0);
  assert_true(distance(load(F64, a, n, n, n), whole) == 0);
}

static int set_up(void** state) {
  (void)state;
  handle = new_handle();
  info = managed(sizeof(int));
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cholesky_solves),
      cmocka_unit_test(not_positive_definite_is_said),
      cmocka_unit_test(batches_of_cholesky),
      cmocka_unit_test(lu_solves),
      cmocka_unit_test(singular_matrices_are_said),
      cmocka_unit_test(rows_are_exchanged),
      cmocka_unit_test(symmetric_solves),
      cmocka_unit_test(symmetric_inverses),
      cmocka_unit_test(triangles_are_inverted),
      cmocka_unit_test(wrong_arguments_are_refused),
      cmocka_unit_test(wild_exchanges_write_nothing), /* last: it ends the context */
  };
  return cmocka_run_group_tests(tests, set_up, NULL);
}
