/* Eigenvalues and singular values of cuSOLVER, against products in long double. */
#include "solver_test.h"

SOLVER(syevd, syevd, heevd, void*, int, int, int, void*, int, void*, void*, int, int*)
SOLVER(syevj, syevj, heevj, void*, int, int, int, void*, int, void*, void*, int, int*, void*)
SOLVER(syevj_batched, syevjBatched, heevjBatched, void*, int, int, int, void*, int, void*, void*,
       int, int*, void*, int)
SOLVER(sygvd, sygvd, hegvd, void*, int, int, int, int, void*, int, void*, int, void*, void*, int,
       int*)
SOLVER(sygvj, sygvj, hegvj, void*, int, int, int, int, void*, int, void*, int, void*, void*, int,
       int*, void*)
SOLVER(gesvd, gesvd, gesvd, void*, signed char, signed char, int, int, void*, int, void*, void*,
       int, void*, int, void*, int, void*, int*)
SOLVER(gesvdj, gesvdj, gesvdj, void*, int, int, int, int, void*, int, void*, void*, int, void*, int,
       void*, int, int*, void*)
SOLVER(gesvdj_batched, gesvdjBatched, gesvdjBatched, void*, int, int, int, void*, int, void*, void*,
       int, void*, int, void*, int, int*, void*, int)
SOLVER(gesvda, gesvdaStridedBatched, gesvdaStridedBatched, void*, int, int, int, int, const void*,
       int, long long, void*, long long, void*, int, long long, void*, int, long long, void*, int,
       int*, double*, int)

int cusolverDnDsyevdx(void*, int, int, int, int, double*, int, double, double, int, int, int*,
                      double*, double*, int, int*);
int cusolverDnSsygvdx(void*, int, int, int, int, int, float*, int, float*, int, float, float, int,
                      int, int*, float*, float*, int, int*);
int cusolverDnXsyevdx(void*, void*, int, int, int, int64_t, int, void*, int64_t, void*, void*,
                      int64_t, int64_t, int64_t*, int, void*, int, void*, size_t, void*, size_t,
                      int*);
int cusolverDnXsyevBatched(void*, void*, int, int, int64_t, int, void*, int64_t, int, void*, int,
                           void*, size_t, void*, size_t, int*, int64_t);
int cusolverDnXgeev(void*, void*, int, int, int64_t, int, void*, int64_t, int, void*, int, void*,
                    int64_t, int, void*, int64_t, int, void*, size_t, void*, size_t, int*);
int cusolverDnXgesvdp(void*, void*, int, int, int64_t, int64_t, int, void*, int64_t, int, void*,
                      int, void*, int64_t, int, void*, int64_t, int, void*, size_t, void*, size_t,
                      int*, double*);
int cusolverDnXgesvdr(void*, void*, signed char, signed char, int64_t, int64_t, int64_t, int64_t,
                      int64_t, int, void*, int64_t, int, void*, int, void*, int64_t, int, void*,
                      int64_t, int, void*, size_t, void*, size_t, int*);
int cusolverDnXpolar(void*, void*, int, int64_t, int64_t, int, void*, int64_t, int, void*, int64_t,
                     int, void*, size_t, void*, size_t, double*, double*, double*, int*);
int cusolverDnXstedc(void*, void*, int, int64_t, int, void*, void*, int, void*, int64_t, int, void*,
                     size_t, void*, size_t, int*);
int cusolverDnCreateSyevjInfo(void**);
int cusolverDnDestroySyevjInfo(void*);
int cusolverDnXsyevjGetResidual(void*, void*, double*);
int cusolverDnXsyevjGetSweeps(void*, void*, int*);
int cusolverDnXsyevjSetTolerance(void*, double);
int cusolverDnXsyevjSetMaxSweeps(void*, int);
int cusolverDnCreateGesvdjInfo(void**);
int cusolverDnXgesvdjGetResidual(void*, void*, double*);

enum { ALL = 1001, INDEXED, VALUES };

static void* handle;
static int* info;
static void* work;

static void check_info(int expected) {
  finish();
  assert_int_equal(*info, expected);
}
static dense diagonal(int type, const void* values, int m, int n) {
  dense d = zeros(m, n);
  for (int k = 0; k < (m < n ? m : n); ++k) *at(d, k, k) = get(real_type(type), values, (size_t)k);
  return d;
}
static void check_ascending(int type, const void* w, int n) {
  for (int k = 1; k < n; ++k) {
    assert_true(creall(get(real_type(type), w, (size_t)k)) >=
                creall(get(real_type(type), w, (size_t)(k - 1))));
  }
}
static void eigenvalues(void** state) {
  (void)state;
  void* jacobi = NULL;
  assert_int_equal(cusolverDnCreateSyevjInfo(&jacobi), OK);
  assert_int_equal(cusolverDnXsyevjSetTolerance(jacobi, 1e-7), OK);
  assert_int_equal(cusolverDnXsyevjSetMaxSweeps(jacobi, 50), OK);
  assert_int_equal(cusolverDnXsyevjSetMaxSweeps(jacobi, -1), INVALID_VALUE);
  for (int i = 0; i < case_count(48); ++i) {
    const int type = i % TYPES, n = random_below(30), lda = n + 1 + random_below(3),
              uplo = random_below(2);
    const int jobz = random_below(3) != 0, is_jacobi = random_below(2);
    void *a = random_matrix(type, n, n, lda), *w = managed(8 * 32);
    const dense full = reflect(load(type, a, n, n, lda), uplo, 1);
    cudaStream_t stream = i % 2 ? begin_capture(handle) : NULL;
    if (is_jacobi) {
      assert_int_equal(syevj[type](handle, jobz, uplo, n, a, lda, w, work, WORK, info, jacobi), OK);
    } else {
      assert_int_equal(syevd[type](handle, jobz, uplo, n, a, lda, w, work, WORK, info), OK);
    }
    if (i % 2) run_capture(handle, stream);
    check_info(0);
    check_padding(type, a, n, n, lda);
    check_ascending(type, w, n);
    const dense d = diagonal(type, w, n, n);
    long double trace = 0, sum = 0;
    for (int k = 0; k < n; ++k) {
      trace += creall(*at(full, k, k));
      sum += creall(*at(d, k, k));
    }
    check_small("trace", type, fabsl(trace - sum), n, norm(full));
    check_small("norm", type, fabsl(norm(full) - norm(d)), n, norm(full));
    if (!jobz) continue;
    const dense v = load(type, a, n, n, lda);
    check_near("V^H V", type, multiply(v, OP_C, v, OP_N), identity(n), n, 1);
    const dense left = multiply(full, OP_N, v, OP_N), right = multiply(v, OP_N, d, OP_N);
    check_near("A V", type, left, right, n, norm(full));
    if (!is_jacobi) continue;
    double residual = -1;
    int sweeps = -1;
    assert_int_equal(cusolverDnXsyevjGetResidual(handle, jacobi, &residual), OK);
    assert_int_equal(cusolverDnXsyevjGetSweeps(handle, jacobi, &sweeps), OK);
    assert_int_equal(sweeps, 0);
    check_small("residual", type, fabsl(residual - distance(left, right)), n, norm(full));
  }
  assert_int_equal(cusolverDnDestroySyevjInfo(jacobi), OK);
  assert_int_equal(cusolverDnDestroySyevjInfo(jacobi), NOT_INITIALIZED);
}

static void parts_of_the_spectrum(void** state) {
  (void)state;
  for (int i = 0; i < case_count(32); ++i) {
    const int type = i % TYPES, n = 1 + random_below(20), uplo = random_below(2),
              code = data_types[type];
    void *a = random_matrix(type, n, n, n), *w = managed(8 * 32), *all = managed(8 * 32);
    const dense full = reflect(load(type, a, n, n, n), uplo, 1);
    void* second = managed(sizes[type] * (size_t)(n * n));
    memcpy(second, a, sizes[type] * (size_t)(n * n));
    assert_int_equal(syevd[type](handle, 0, uplo, n, second, n, all, work, WORK, info), OK);
    finish();
    const int range = ALL + random_below(3), real_code = data_types[real_type(type)];
    const int il = 1 + random_below(n), iu = il + random_below(n - il + 1);
    double low = -1, high = 1;
    float low32 = -1, high32 = 1;
    void* vl = real_type(type) == F64 ? (void*)&low : (void*)&low32;
    void* vu = real_type(type) == F64 ? (void*)&high : (void*)&high32;
    int64_t count = -1;
    assert_int_equal(cusolverDnXsyevdx(handle, NULL, 1, range, uplo, n, code, a, n, vl, vu, il, iu,
                                       &count, real_code, w, code, NULL, 0, NULL, 0, info),
                     OK);
    check_info(0);
    int first = 0, expected = n;
    if (range == INDEXED) first = il - 1, expected = iu - il + 1;
    if (range == VALUES) {
      expected = 0;
      for (int k = 0; k < n; ++k) {
        const long double value = creall(get(real_type(type), all, (size_t)k));
        if (value <= low) ++first;
        if (value > low && value <= high) ++expected;
      }
    }
    assert_int_equal(count, expected);
    dense d = zeros(expected, expected);
    for (int k = 0; k < expected; ++k) {
      *at(d, k, k) = get(real_type(type), w, (size_t)k);
      check_small("value", type,
                  cabsl(*at(d, k, k) - get(real_type(type), all, (size_t)(first + k))), n,
                  norm(full));
    }
    const dense v = load(type, a, n, expected, n);
    check_near("A V of a part", type, multiply(full, OP_N, v, OP_N), multiply(v, OP_N, d, OP_N), n,
               norm(full));
  }
  double* a = random_matrix(F64, 4, 4, 4);
  int count = 0;
  assert_int_equal(
      cusolverDnDsyevdx(handle, 1, INDEXED, 0, 4, a, 4, 0, 0, 0, 2, &count, a, work, WORK, info),
      INVALID_VALUE);
  assert_int_equal(
      cusolverDnDsyevdx(handle, 1, INDEXED, 0, 4, a, 4, 0, 0, 3, 2, &count, a, work, WORK, info),
      INVALID_VALUE);
  assert_int_equal(
      cusolverDnDsyevdx(handle, 1, VALUES, 0, 4, a, 4, 1, 1, 0, 0, &count, a, work, WORK, info),
      INVALID_VALUE);
  double* w = managed(64);
  assert_int_equal(
      cusolverDnDsyevdx(handle, 1, INDEXED, 0, 4, a, 4, 0, 0, 2, 3, &count, w, work, WORK, info),
      OK);
  check_info(0);
  assert_int_equal(count, 2);
  cudaStream_t stream = begin_capture(handle); /* a number for the host cannot be captured */
  assert_int_equal(
      cusolverDnDsyevdx(handle, 1, VALUES, 0, 4, a, 4, 0, 1, 0, 0, &count, w, work, WORK, info),
      NOT_SUPPORTED);
  assert_int_equal(
      cusolverDnDsyevdx(handle, 0, ALL, 0, 4, a, 4, 0, 1, 0, 0, &count, w, work, WORK, info), OK);
  run_capture(handle, stream);
}

static void pencils(void** state) {
  (void)state;
  void* jacobi = NULL;
  assert_int_equal(cusolverDnCreateSyevjInfo(&jacobi), OK);
  for (int i = 0; i < case_count(36); ++i) {
    const int type = i % TYPES, n = random_below(16), lda = n + 1, uplo = random_below(2),
              kind = 1 + random_below(3);
    void *a = random_matrix(type, n, n, lda), *b = random_matrix(type, n, n, lda),
         *w = managed(8 * 32);
    make_positive(type, b, n, lda);
    const dense full = reflect(load(type, a, n, n, lda), uplo, 1),
                metric = load(type, b, n, n, lda);
    if (random_below(2)) {
      assert_int_equal(sygvd[type](handle, kind, 1, uplo, n, a, lda, b, lda, w, work, WORK, info),
                       OK);
    } else {
      assert_int_equal(
          sygvj[type](handle, kind, 1, uplo, n, a, lda, b, lda, w, work, WORK, info, jacobi), OK);
    }
    check_info(0);
    const dense v = load(type, a, n, n, lda), d = diagonal(type, w, n, n);
    const dense av = multiply(full, OP_N, v, OP_N), bv = multiply(metric, OP_N, v, OP_N);
    const dense vd = multiply(v, OP_N, d, OP_N);
    const long double scale = norm(full) * norm(metric) * (norm(v) + 1);
    if (kind == 1) check_near("A V = B V D", type, av, multiply(bv, OP_N, d, OP_N), n, scale);
    if (kind == 2) check_near("A B V = V D", type, multiply(full, OP_N, bv, OP_N), vd, n, scale);
    if (kind == 3) check_near("B A V = V D", type, multiply(metric, OP_N, av, OP_N), vd, n, scale);
  }
  float* a = random_matrix(F32, 3, 3, 3);
  float *b = random_matrix(F32, 3, 3, 3), *w = managed(16);
  make_positive(F32, b, 3, 3);
  int count = 0;
  assert_int_equal(cusolverDnSsygvdx(handle, 4, 1, ALL, 0, 3, a, 3, b, 3, 0, 0, 0, 0, &count, w,
                                     work, WORK, info),
                   INVALID_VALUE);
  assert_int_equal(cusolverDnSsygvdx(handle, 1, 1, INDEXED, 0, 3, a, 3, b, 3, 0, 0, 2, 2, &count, w,
                                     work, WORK, info),
                   OK);
  check_info(0);
  assert_int_equal(count, 1);
  set(F32, b, 4, -1); /* not positive definite: n + 2 */
  assert_int_equal(sygvd[F32](handle, 1, 1, 0, 3, a, 3, b, 3, w, work, WORK, info), OK);
  finish();
  assert_true(*info > 3);
}

static void batches_of_eigenvalues(void** state) {
  (void)state;
  void* jacobi = NULL;
  assert_int_equal(cusolverDnCreateSyevjInfo(&jacobi), OK);
  for (int i = 0; i < case_count(16); ++i) {
    const int type = i % TYPES, n = 1 + random_below(10), lda = n + random_below(2),
              count = random_below(7);
    void *a = random_matrix(type, n, n * 7, lda), *w = managed(8 * 80);
    int* infos = managed(sizeof(int) * 7);
    const size_t bytes = sizes[type] * (size_t)(lda * n);
    dense full[7];
    for (int k = 0; k < count; ++k)
      full[k] = reflect(load(type, (char*)a + bytes * (size_t)k, n, n, lda), LOWER, 1);
    if (i & 4) {
      const int code = data_types[type];
      assert_int_equal(cusolverDnXsyevBatched(handle, NULL, 1, LOWER, n, code, a, lda,
                                              data_types[real_type(type)], w, code, NULL, 0, NULL,
                                              0, infos, count),
                       OK);
    } else {
      assert_int_equal(
          syevj_batched[type](handle, 1, LOWER, n, a, lda, w, work, WORK, infos, jacobi, count),
          OK);
    }
    finish();
    for (int k = 0; k < count; ++k) {
      assert_int_equal(infos[k], 0);
      const dense v = load(type, (char*)a + bytes * (size_t)k, n, n, lda);
      const dense d = diagonal(type, (char*)w + sizes[real_type(type)] * (size_t)(k * n), n, n);
      check_near("A V of a batch", type, multiply(full[k], OP_N, v, OP_N),
                 multiply(v, OP_N, d, OP_N), n, norm(full[k]));
    }
  }
  double residual = 0;
  assert_int_equal(cusolverDnXsyevjGetResidual(handle, jacobi, &residual), NOT_SUPPORTED);
}

static void check_svd(int type, dense full, dense u, const void* s, dense v) {
  const int columns = u.n, rows = v.n;
  check_near("U^H U", type, multiply(u, OP_C, u, OP_N), identity(u.n), full.m, 1);
  check_near("V^H V", type, multiply(v, OP_C, v, OP_N), identity(v.n), full.m, 1);
  const dense d = diagonal(type, s, columns, rows);
  check_near("U S V^H", type, multiply(multiply(u, OP_N, d, OP_N), OP_N, v, OP_C), full, full.m,
             norm(full));
}
static dense adjoint(dense a) { return multiply(a, OP_C, identity(a.m), OP_N); }

static void singular_values(void** state) {
  (void)state;
  static const char kinds[] = "ASNO";
  for (int i = 0; i < case_count(48); ++i) {
    const int type = i % TYPES, n = 1 + random_below(16), m = n + random_below(10),
              lda = m + random_below(3);
    const char jobu = kinds[random_below(4)], jobvt = kinds[random_below(jobu == 'O' ? 3 : 4)];
    const int ldu = m + random_below(2), ldvt = n + random_below(2);
    void *a = random_matrix(type, m, n, lda), *s = managed(8 * 32);
    void *u = random_matrix(type, m, m, ldu), *vt = random_matrix(type, n, n, ldvt);
    const dense full = load(type, a, m, n, lda);
    cudaStream_t stream = i % 2 ? begin_capture(handle) : NULL;
    assert_int_equal(
        gesvd[type](handle, jobu, jobvt, m, n, a, lda, s, u, ldu, vt, ldvt, work, WORK, NULL, info),
        OK);
    if (i % 2) run_capture(handle, stream);
    check_info(0);
    check_padding(type, a, m, n, lda);
    check_padding(type, u, m, m, ldu);
    check_padding(type, vt, n, n, ldvt);
    check_small("norm of S", type, fabsl(norm(diagonal(type, s, n, n)) - norm(full)), m,
                norm(full));
    if (jobu == 'N' || jobvt == 'N') continue;
    const dense left =
        jobu == 'O' ? load(type, a, m, n, lda) : load(type, u, m, jobu == 'A' ? m : n, ldu);
    const dense right = jobvt == 'O' ? load(type, a, n, n, lda) : load(type, vt, n, n, ldvt);
    check_svd(type, full, left, s, adjoint(right));
  }
  assert_int_equal(
      gesvd[F32](handle, 'A', 'A', 3, 4, work, 3, work, work, 3, work, 4, work, WORK, NULL, info),
      INVALID_VALUE);
  assert_int_equal(
      gesvd[F32](handle, 'X', 'A', 4, 3, work, 4, work, work, 4, work, 4, work, WORK, NULL, info),
      INVALID_VALUE);
  assert_int_equal(
      gesvd[F32](handle, 'O', 'O', 4, 3, work, 4, work, work, 4, work, 4, work, WORK, NULL, info),
      INVALID_VALUE);
}

static void singular_values_with_v(void** state) {
  (void)state;
  void* jacobi = NULL;
  assert_int_equal(cusolverDnCreateGesvdjInfo(&jacobi), OK);
  for (int i = 0; i < case_count(40); ++i) {
    const int type = i % TYPES, n = 1 + random_below(16), m = 1 + random_below(16),
              is_economy = random_below(2);
    const int least = m < n ? m : n, columns_u = is_economy ? least : m,
              columns_v = is_economy ? least : n;
    void *a = random_matrix(type, m, n, m), *s = managed(8 * 32);
    void *u = random_matrix(type, m, m, m), *v = random_matrix(type, n, n, n);
    const dense full = load(type, a, m, n, m);
    const int code = data_types[type], real_code = data_types[real_type(type)];
    double error = -1, residual = -1;
    if (i & 4) {
      assert_int_equal(
          cusolverDnXgesvdp(handle, NULL, 1, is_economy, m, n, code, a, m, real_code, s, code, u, m,
                            code, v, n, code, NULL, 0, NULL, 0, info, &error),
          OK);
      assert_true(error == 0);
    } else {
      assert_int_equal(
          gesvdj[type](handle, 1, is_economy, m, n, a, m, s, u, m, v, n, work, WORK, info, jacobi),
          OK);
      assert_int_equal(cusolverDnXgesvdjGetResidual(handle, jacobi, &residual), OK);
      check_small("residual", type, residual, m + n, norm(full));
    }
    check_info(0);
    check_svd(type, full, load(type, u, m, columns_u, m), s, load(type, v, n, columns_v, n));
  }
}

static void batches_of_singular_values(void** state) {
  (void)state;
  void* jacobi = NULL;
  assert_int_equal(cusolverDnCreateGesvdjInfo(&jacobi), OK);
  for (int i = 0; i < case_count(24); ++i) {
    const int type = i % TYPES, n = 1 + random_below(8), m = n + random_below(6),
              count = random_below(5);
    const int rank = i & 4 ? 1 + random_below(n) : n;
    void *a = random_matrix(type, m, n * 5, m), *s = managed(8 * 80);
    void *u = random_matrix(type, m, m * 5, m), *v = random_matrix(type, n, n * 5, n);
    int* infos = managed(sizeof(int) * 5);
    double residuals[5] = {-1, -1, -1, -1, -1};
    dense full[5];
    for (int k = 0; k < count; ++k)
      full[k] = load(type, (char*)a + sizes[type] * (size_t)(m * n * k), m, n, m);
    if (i & 4) {
      assert_int_equal(gesvda[type](handle, 1, rank, m, n, a, m, m * n, s, rank, u, m, m * m, v, n,
                                    n * n, work, WORK, infos, residuals, count),
                       OK);
    } else {
      assert_int_equal(gesvdj_batched[type](handle, 1, m, n, a, m, s, u, m, v, n, work, WORK, infos,
                                            jacobi, count),
                       OK);
    }
    finish();
    for (int k = 0; k < count; ++k) {
      assert_int_equal(infos[k], 0);
      const dense left =
          load(type, (char*)u + sizes[type] * (size_t)(m * m * k), m, i & 4 ? rank : m, m);
      const dense right = load(type, (char*)v + sizes[type] * (size_t)(n * n * k), n, rank, n);
      const void* values = (char*)s + sizes[real_type(type)] * (size_t)(rank * k);
      if (rank == n) {
        check_svd(type, full[k], left, values, right);
        continue;
      }
      check_near("A V = U S", type, multiply(full[k], OP_N, right, OP_N),
                 multiply(left, OP_N, diagonal(type, values, rank, rank), OP_N), m, norm(full[k]));
      const dense low = multiply(multiply(left, OP_N, diagonal(type, values, rank, rank), OP_N),
                                 OP_N, right, OP_C);
      check_small("rest", type, fabsl(residuals[k] - distance(low, full[k])), m, norm(full[k]));
    }
  }
}

static void greatest_singular_values(void** state) {
  (void)state;
  for (int type = 0; type < TYPES; ++type) {
    const int m = 14, n = 9, k = 4, code = data_types[type],
              real_code = data_types[real_type(type)];
    void *a = random_matrix(type, m, n, m), *s = managed(8 * 32), *all = managed(8 * 32);
    void *u = random_matrix(type, m, k, m), *v = random_matrix(type, n, k, n);
    const dense full = load(type, a, m, n, m);
    assert_int_equal(cusolverDnXgesvdr(handle, NULL, 'S', 'S', m, n, k, 2, 3, code, a, m, real_code,
                                       s, code, u, m, code, v, n, code, NULL, 0, NULL, 0, info),
                     OK);
    check_info(0);
    const dense left = load(type, u, m, k, m), right = load(type, v, n, k, n),
                d = diagonal(type, s, k, k);
    check_near("A V = U S", type, multiply(full, OP_N, right, OP_N), multiply(left, OP_N, d, OP_N),
               m, norm(full));
    assert_int_equal(
        gesvd[type](handle, 'N', 'N', m, n, a, m, all, NULL, 1, NULL, 1, work, WORK, NULL, info),
        OK);
    check_info(0);
    for (int j = 0; j < k; ++j) {
      check_small("greatest", type, cabsl(get(real_type(type), all, (size_t)j) - *at(d, j, j)), m,
                  norm(full));
    }
  }
}

static void polar_decompositions(void** state) {
  (void)state;
  for (int i = 0; i < case_count(16); ++i) {
    const int type = i % TYPES, n = 1 + random_below(8), m = n + random_below(6),
              code = data_types[type];
    void *a = random_matrix(type, m, n, m), *h = random_matrix(type, n, n, n);
    double* norms = managed(24);
    const dense full = load(type, a, m, n, m);
    assert_int_equal(cusolverDnXpolar(handle, NULL, 2, m, n, code, a, m, code, h, n, code, NULL, 0,
                                      NULL, 0, norms, norms + 1, norms + 2, info),
                     OK);
    check_info(0);
    const dense u = load(type, a, m, n, m), p = load(type, h, n, n, n);
    check_near("polar U", type, multiply(u, OP_C, u, OP_N), identity(n), m, 1);
    check_near("U H", type, multiply(u, OP_N, p, OP_N), full, m, norm(full));
    check_near("H is Hermitian", type, adjoint(p), p, m, norm(full));
    check_small("norm of A", type, fabsl(norms[1] - norm(full)), m, norm(full));
    check_small("rest of A", type, norms[0], m, norm(full));
    assert_true(norms[2] > 0 && norms[2] <= 1);
  }
}

static void general_eigenvalues(void** state) {
  (void)state;
  for (int i = 0; i < case_count(24); ++i) {
    const int type = i % TYPES, n = 1 + random_below(16), code = data_types[type];
    const int has_complex = is_complex(type) || random_below(2),
              real_code = data_types[real_type(type)];
    const int w_type = real_type(type) == F64 ? C64 : C32;
    void *a = random_matrix(type, n, n, n), *w = managed(16 * 40);
    void *vl = random_matrix(type, n, n, n), *vr = random_matrix(type, n, n, n);
    const dense full = load(type, a, n, n, n);
    assert_int_equal(cusolverDnXgeev(handle, NULL, 1, 1, n, code, a, n,
                                     has_complex ? data_types[w_type] : real_code, w, code, vl, n,
                                     code, vr, n, code, NULL, 0, NULL, 0, info),
                     OK);
    check_info(0);
    dense d = zeros(n, n), right = load(type, vr, n, n, n), left = load(type, vl, n, n, n);
    for (int k = 0; k < n; ++k) {
      *at(d, k, k) = has_complex ? get(w_type, w, (size_t)k)
                                 : get(type, w, (size_t)k) + I * get(type, w, (size_t)(n + k));
    }
    for (int k = 0; k < n && !is_complex(type); ++k) { /* pairs of columns are packed */
      if (cimagl(*at(d, k, k)) <= 0) continue;
      for (int j = 0; j < n; ++j) {
        const number x = *at(right, j, k), y = *at(right, j, k + 1), p = *at(left, j, k),
                     q = *at(left, j, k + 1);
        *at(right, j, k) = x + I * y;
        *at(right, j, k + 1) = x - I * y;
        *at(left, j, k) = p + I * q;
        *at(left, j, k + 1) = p - I * q;
      }
    }
    check_near("A V = V D", type, multiply(full, OP_N, right, OP_N), multiply(right, OP_N, d, OP_N),
               n, norm(full));
    check_near("U^H A = D U^H", type, multiply(left, OP_C, full, OP_N),
               multiply(d, OP_N, left, OP_C), n, norm(full));
  }
}

static void tridiagonal_eigenvalues(void** state) {
  (void)state;
  for (int i = 0; i < case_count(16); ++i) {
    const int type = i % TYPES, n = 1 + random_below(20), code = data_types[type],
              real = real_type(type);
    void *d = random_matrix(real, n, 1, n), *e = random_matrix(real, n, 1, n),
         *z = random_matrix(type, n, n, n);
    dense t = zeros(n, n);
    for (int k = 0; k < n; ++k) {
      *at(t, k, k) = get(real, d, (size_t)k);
      if (k + 1 < n) *at(t, k, k + 1) = *at(t, k + 1, k) = get(real, e, (size_t)k);
    }
    assert_int_equal(cusolverDnXstedc(handle, NULL, 11, n, data_types[real], d, e, code, z, n, code,
                                      NULL, 0, NULL, 0, info),
                     OK);
    check_info(0);
    const dense v = load(type, z, n, n, n);
    check_near("T V", type, multiply(t, OP_N, v, OP_N),
               multiply(v, OP_N, diagonal(type, d, n, n), OP_N), n, norm(t));
  }
}

/* Numbers that are not finite end the iterations, and say so. */
static void nothing_hangs(void** state) {
  (void)state;
  const long double wild[] = {NAN, INFINITY, -INFINITY};
  for (int type = 0; type < TYPES; ++type) {
    for (int k = 0; k < 3; ++k) {
      const int n = 12, code = data_types[type];
      void *a = random_matrix(type, n, n, n), *s = managed(8 * 32),
           *u = random_matrix(type, n, n, n), *v = random_matrix(type, n, n, n);
      const size_t place = 2 * 12 + 5;
      set(type, a, place, wild[k]);
      assert_int_equal(
          gesvd[type](handle, 'A', 'A', n, n, a, n, s, u, n, v, n, work, WORK, NULL, info), OK);
      check_info(n);
      assert_true(isnan((double)creall(get(real_type(type), s, 0))) &&
                  isnan((double)creall(get(type, u, 3))));
      set(type, a, place, wild[k]);
      assert_int_equal(syevd[type](handle, 1, LOWER, n, a, n, s, work, WORK, info), OK);
      check_info(n);
      assert_true(isnan((double)creall(get(real_type(type), s, 11))) &&
                  isnan((double)creall(get(type, a, 0))));
      void* b = random_matrix(type, n, n, n);
      set(type, b, place, wild[k]);
      const int w_code = data_types[type];
      assert_int_equal(cusolverDnXgeev(handle, NULL, 0, 1, n, code, b, n, w_code, work, code, NULL,
                                       1, code, v, n, code, NULL, 0, NULL, 0, info),
                       OK);
      check_info(n);
      /* The other triangle is not looked at. */
      void* c = random_matrix(type, n, n, n);
      set(type, c, 1 + 2 * 12, wild[k]);
      assert_int_equal(syevd[type](handle, 1, LOWER, n, c, n, s, work, WORK, info), OK);
      check_info(0);
    }
  }
}

static int set_up(void** state) {
  (void)state;
  handle = new_handle();
  info = managed(sizeof(int));
  work = managed(64 * 16);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(eigenvalues),
      cmocka_unit_test(parts_of_the_spectrum),
      cmocka_unit_test(pencils),
      cmocka_unit_test(batches_of_eigenvalues),
      cmocka_unit_test(singular_values),
      cmocka_unit_test(singular_values_with_v),
      cmocka_unit_test(batches_of_singular_values),
      cmocka_unit_test(greatest_singular_values),
      cmocka_unit_test(polar_decompositions),
      cmocka_unit_test(general_eigenvalues),
      cmocka_unit_test(tridiagonal_eigenvalues),
      cmocka_unit_test(nothing_hangs),
  };
  return cmocka_run_group_tests(tests, set_up, NULL);
}
