/* QR factorizations and reductions of cuSOLVER with their orthogonal matrices, against products in
 * long double. */
#include "solver_test.h"

SOLVER(geqrf, geqrf, geqrf, void*, int, int, void*, int, void*, void*, int, int*)
SOLVER(orgqr, orgqr, ungqr, void*, int, int, int, void*, int, const void*, void*, int, int*)
SOLVER(ormqr, ormqr, unmqr, void*, int, int, int, int, int, const void*, int, const void*, void*,
       int, void*, int, int*)
SOLVER(gebrd, gebrd, gebrd, void*, int, int, void*, int, void*, void*, void*, void*, void*, int,
       int*)
SOLVER(orgbr, orgbr, ungbr, void*, int, int, int, int, void*, int, const void*, void*, int, int*)
SOLVER(sytrd, sytrd, hetrd, void*, int, int, void*, int, void*, void*, void*, void*, int, int*)
SOLVER(orgtr, orgtr, ungtr, void*, int, int, void*, int, const void*, void*, int, int*)
SOLVER(ormtr, ormtr, unmtr, void*, int, int, int, int, int, void*, int, void*, void*, int, void*,
       int, int*)

int cusolverDnXgeqrf(void*, void*, int64_t, int64_t, int, void*, int64_t, int, void*, int, void*,
                     size_t, void*, size_t, int*);
int cusolverDnXlarft(void*, void*, int, int, int64_t, int64_t, int, const void*, int64_t, int,
                     const void*, int, void*, int64_t, int, void*, size_t, void*, size_t);

static void* handle;
static int* info;
static void* work;

static void check_info(void) {
  finish();
  assert_int_equal(*info, 0);
}

static void* copy_of(const void* data, size_t bytes) {
  void* copy = managed(bytes);
  memcpy(copy, data, bytes);
  return copy;
}

static void check_orthogonal(const char* what, int type, dense q) {
  check_near(what, type, multiply(q, OP_C, q, OP_N), identity(q.n), q.m, 1);
}

static void qr_is_a_product(void** state) {
  (void)state;
  for (int i = 0; i < case_count(48); ++i) {
    const int type = i % TYPES, n = random_below(24), m = n + random_below(12),
              lda = m + 1 + random_below(3);
    const size_t bytes = sizes[type] * (size_t)lda * (size_t)(n + 1);
    void *a = random_matrix(type, m, n + 1, lda), *tau = managed(sizes[type] * (size_t)(n + 1));
    const dense full = load(type, a, m, n, lda);
    cudaStream_t stream = i % 2 ? begin_capture(handle) : NULL;
    if (i % 3 == 0) {
      const int code = data_types[type];
      assert_int_equal(cusolverDnXgeqrf(handle, NULL, m, n, code, a, lda, code, tau, code, NULL, 0,
                                        NULL, 0, info),
                       OK);
    } else {
      assert_int_equal(geqrf[type](handle, m, n, a, lda, tau, work, WORK, info), OK);
    }
    if (i % 2) run_capture(handle, stream);
    check_info();
    check_padding(type, a, m, n, lda);
    const dense r = triangle(load(type, a, n, n, lda), UPPER, 0);
    void* q = copy_of(a, bytes);
    assert_int_equal(orgqr[type](handle, m, n, n, q, lda, tau, work, WORK, info), OK);
    check_info();
    const dense columns = load(type, q, m, n, lda);
    check_orthogonal("Q", type, columns);
    check_near("Q R", type, multiply(columns, OP_N, r, OP_N), full, m, norm(full));
    /* ormqr by Q^H gives R again; by Q from the right a product with Q. */
    void* c = random_matrix(type, m, n, lda);
    for (int j = 0; j < n; ++j) {
      for (int k = 0; k < m; ++k) set(type, c, (size_t)(k + j * lda), *at(full, k, j));
    }
    const int conjugates = is_complex(type) ? OP_C : OP_T;
    assert_int_equal(
        ormqr[type](handle, LEFT, conjugates, m, n, n, a, lda, tau, c, lda, work, WORK, info), OK);
    check_info();
    const dense again = load(type, c, m, n, lda);
    dense expected = zeros(m, n);
    for (int j = 0; j < n; ++j) {
      for (int k = 0; k <= j; ++k) *at(expected, k, j) = *at(r, k, j);
    }
    check_near("Q^H A", type, again, expected, m, norm(full));
    const int rows = 1 + random_below(5);
    void* d = random_matrix(type, rows, m, rows);
    const dense given = load(type, d, rows, m, rows);
    assert_int_equal(
        ormqr[type](handle, RIGHT, OP_N, rows, m, n, a, lda, tau, d, rows, work, WORK, info), OK);
    check_info();
    const dense right = load(type, d, rows, n, rows);
    check_near("C Q", type, right, multiply(given, OP_N, columns, OP_N), m, norm(given));
    /* I - V T V^H is Q. */
    if (n == 0) continue;
    void* t = random_matrix(type, n, n, n);
    const int code = data_types[type];
    assert_int_equal(cusolverDnXlarft(handle, NULL, 0, 0, m, n, code, a, lda, code, tau, code, t, n,
                                      code, NULL, 0, NULL, 0),
                     OK);
    finish();
    const dense v = triangle(load(type, a, m, n, lda), LOWER, 1),
                tt = triangle(load(type, t, n, n, n), UPPER, 0);
    dense block = multiply(multiply(v, OP_N, tt, OP_N), OP_N, v, OP_C);
    for (int k = 0; k < m * m; ++k) block.v[k] = -block.v[k];
    for (int k = 0; k < m; ++k) *at(block, k, k) += 1;
    dense first = zeros(m, n);
    memcpy(first.v, block.v, sizeof(number) * (size_t)(m * n));
    check_near("I - V T V^H", type, first, columns, m, 1);
  }
}

static void bidiagonal_form(void** state) {
  (void)state;
  for (int i = 0; i < case_count(32); ++i) {
    const int type = i % TYPES, n = 1 + random_below(16), m = n + random_below(8),
              lda = m + random_below(3);
    const size_t bytes = sizes[type] * (size_t)lda * (size_t)n;
    void* a = random_matrix(type, m, n, lda);
    void *d = managed(16 * 20), *e = managed(16 * 20), *tauq = managed(16 * 20),
         *taup = managed(16 * 20);
    const dense full = load(type, a, m, n, lda);
    assert_int_equal(gebrd[type](handle, m, n, a, lda, d, e, tauq, taup, work, WORK, info), OK);
    check_info();
    check_padding(type, a, m, n, lda);
    dense b = zeros(n, n);
    for (int k = 0; k < n; ++k) {
      *at(b, k, k) = get(real_type(type), d, (size_t)k);
      if (k + 1 < n) *at(b, k, k + 1) = get(real_type(type), e, (size_t)k);
    }
    void *q = copy_of(a, bytes), *p = copy_of(a, bytes);
    assert_int_equal(orgbr[type](handle, LEFT, m, n, n, q, lda, tauq, work, WORK, info), OK);
    assert_int_equal(orgbr[type](handle, RIGHT, n, n, m, p, lda, taup, work, WORK, info), OK);
    check_info();
    const dense left = load(type, q, m, n, lda), right = load(type, p, n, n, lda);
    check_orthogonal("bidiagonal Q", type, left);
    check_orthogonal("bidiagonal P", type, right);
    check_near("Q B P^H", type, multiply(multiply(left, OP_N, b, OP_N), OP_N, right, OP_N), full, m,
               norm(full));
  }
}

static void tridiagonal_form(void** state) {
  (void)state;
  for (int i = 0; i < case_count(32); ++i) {
    const int type = i % TYPES, n = 1 + random_below(20), lda = n + random_below(3),
              uplo = random_below(2);
    void *a = random_matrix(type, n, n, lda), *d = managed(16 * 20), *e = managed(16 * 20),
         *tau = managed(16 * 20);
    const dense full = reflect(load(type, a, n, n, lda), uplo, 1);
    assert_int_equal(sytrd[type](handle, uplo, n, a, lda, d, e, tau, work, WORK, info), OK);
    check_info();
    dense t = zeros(n, n);
    for (int k = 0; k < n; ++k) {
      *at(t, k, k) = get(real_type(type), d, (size_t)k);
      if (k + 1 < n) *at(t, k, k + 1) = *at(t, k + 1, k) = get(real_type(type), e, (size_t)k);
    }
    /* ormtr of the identity gives Q, as orgtr does. */
    void* c = random_matrix(type, n, n, n);
    for (int k = 0; k < n * n; ++k) set(type, c, (size_t)k, k % (n + 1) == 0);
    assert_int_equal(
        ormtr[type](handle, LEFT, uplo, OP_N, n, n, a, lda, tau, c, n, work, WORK, info), OK);
    assert_int_equal(orgtr[type](handle, uplo, n, a, lda, tau, work, WORK, info), OK);
    check_info();
    const dense q = load(type, a, n, n, lda);
    check_orthogonal("tridiagonal Q", type, q);
    check_near("ormtr", type, load(type, c, n, n, n), q, n, 1);
    check_near("Q T Q^H", type, multiply(multiply(q, OP_N, t, OP_N), OP_N, q, OP_C), full, n,
               norm(full));
  }
}

static void wrong_arguments_are_refused(void** state) {
  (void)state;
  float* a = managed(4 * 100);
  assert_int_equal(orgqr[F32](handle, 4, 5, 1, a, 5, a, work, WORK, info), INVALID_VALUE);
  assert_int_equal(orgqr[F32](handle, 5, 4, 5, a, 5, a, work, WORK, info), INVALID_VALUE);
  assert_int_equal(ormqr[F32](handle, 2, OP_N, 5, 5, 2, a, 5, a, a, 5, work, WORK, info),
                   INVALID_VALUE);
  assert_int_equal(ormqr[C32](handle, LEFT, OP_T, 3, 3, 2, a, 5, a, a, 5, work, WORK, info),
                   INVALID_VALUE);
  assert_int_equal(ormqr[F32](handle, LEFT, OP_N, 5, 5, 6, a, 5, a, a, 5, work, WORK, info),
                   INVALID_VALUE);
  assert_int_equal(geqrf[F32](handle, 5, 5, a, 5, NULL, work, WORK, info), INVALID_VALUE);
  assert_int_equal(geqrf[F32](handle, 5, 5, a, 5, a, work, WORK - 1, info), INVALID_VALUE);
}

static int set_up(void** state) {
  (void)state;
  handle = new_handle();
  info = managed(sizeof(int));
  work = managed(WORK * 16);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(qr_is_a_product),
      cmocka_unit_test(bidiagonal_form),
      cmocka_unit_test(tridiagonal_form),
      cmocka_unit_test(wrong_arguments_are_refused),
  };
  return cmocka_run_group_tests(tests, set_up, NULL);
}
